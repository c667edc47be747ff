// Whether the rounds of all ranks of a board (rounds.hpp) together do what they are for.
//
// Problem: a round is carried out as it stands; it is no plan, which the verifier of plans could prove.
// Method:  each rank gets an input and an output with a byte for each rank, so where a round's buffers lie says which blocks they are. What
//          one shows and another takes becomes a message between the two, what is combined a chain of reductions: plans,
//          which plan/verify.hpp proves.
// Proves:  for this number of ranks and root: each takes every operand once, in the order of the ranks, from where it is shown to where it
//          belongs, and of those only for whom it waits; nobody waits for who shows nothing; both know of as many bytes. Not
//          how a course (course.hpp) divides a vector among the ranks, and not the lines of a board (wire/board_lines.hpp), of which
//          a model is checked.
// Threads: any.
// Cost:    a verifier's, of ranks x ranks messages: prove_rounds() takes 64 ranks some 10 ms.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "coll/rounds.hpp"
#include "plan/plan.hpp"

namespace heddle::coll {

// A plan has no room for the operands of more.
inline constexpr std::uint32_t kMostProvedRanks = plan::kMaxScratch;

// What all ranks do, and the memory to which the buffers refer.
struct RoundsOfAll {
  plan::Spec spec;
  std::vector<std::byte> memory;           // an input and an output of each rank
  std::vector<std::vector<Round>> rounds;  // of each rank as many, one after the other

  std::byte* input(std::uint32_t rank) { return memory.data() + std::size_t{2} * rank * spec.ranks; }
  std::byte* output(std::uint32_t rank) { return input(rank) + spec.ranks; }
};

// REQUIRES: a collective that goes by boards. `by_root`: of an allreduce, that one rank combines.
RoundsOfAll rounds_of(const plan::Spec& spec, bool by_root = false);
// An error says which rank is wrong, and why.
Status prove(RoundsOfAll& all);
// All collectives of a board of up to kMostProvedRanks, with the first rank and the last as their root.
Status prove_rounds(std::uint32_t ranks) noexcept;

}  // namespace heddle::coll
