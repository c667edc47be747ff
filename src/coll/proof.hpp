// Whether the rounds of all ranks of a board (rounds.hpp) together do what they are for.
//
// Problem: a round is carried out as it stands; it is no plan, which the verifier of plans could prove.
// Method:  each rank gets an input and an output with a block for each rank, so where a round's buffers lie says which blocks they are. Rounds
//          become plans, which plan/verify.hpp proves: what a rank shows is copied to a place of its own, what another takes of
//          it is a message from there, what is combined is a chain of reductions, as round.hpp and turn.hpp do it. What
//          plans have no word for is looked at before: the bytes that each says it brings, who shows data, who waits, who is woken.
// Proves:  for this number of ranks and root: each takes every operand once, in the order of the ranks, from where it is shown to where it
//          belongs, and of those only for whom it waits; what is shown is as long as the others count on; whoever may sleep is
//          woken. Not how a course (course.hpp) cuts a round into pieces or divides a vector among the ranks; not the copies themselves
//          (Turn), nor what a user's operation asks of its arguments; and not the lines of a board (wire/board_lines.hpp), of
//          which a model is checked.
// Threads: any.
// Cost:    a verifier's, of ranks x ranks messages, and 16 bytes for each block of each place: prove_rounds() takes 64 ranks some 10 ms and
//          4 MiB, 198 ranks a second and 130 MiB.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.hpp"
#include "coll/rounds.hpp"
#include "plan/plan.hpp"

namespace heddle::coll {

// A plan has no room for the places and the operands of more.
inline constexpr std::uint32_t kMostProvedRanks = plan::kMaxScratch - 2;

inline constexpr plan::Collective kByBoard[] = {
    plan::Collective::kBarrier,   plan::Collective::kBcast,    plan::Collective::kReduce,
    plan::Collective::kAllreduce, plan::Collective::kGather,   plan::Collective::kAllgather,
    plan::Collective::kScatter,   plan::Collective::kAlltoall, plan::Collective::kReduceScatter,
    plan::Collective::kScan,      plan::Collective::kExscan};

// Of a block: items of several bytes, and of operands more in memory than packed.
inline constexpr std::size_t kBlockBytes = 24;

// How a collective is called, or carried out. kInPlace: with MPI_IN_PLACE, as there is for all but a barrier and a bcast.
// kByRoot: an allreduce that rank 0 combines, in two rounds.
enum class Variant : std::uint8_t { kUsual, kInPlace, kByRoot };

// What all ranks do, and the memory to which the buffers refer.
struct RoundsOfAll {
  RoundsOfAll(const plan::Spec& what, Variant how);
  RoundsOfAll(const RoundsOfAll&) = delete;
  RoundsOfAll& operator=(const RoundsOfAll&) = delete;

  const plan::Spec spec;
  const Variant variant;
  std::vector<std::byte> memory;           // an input and an output of each rank
  std::vector<std::vector<Round>> rounds;  // of each rank as many, one after the other

  std::byte* input(std::uint32_t rank) { return memory.data() + std::size_t{2} * rank * spec.ranks * kBlockBytes; }
  std::byte* output(std::uint32_t rank) { return input(rank) + spec.ranks * kBlockBytes; }
};

// An error says which rank is wrong, and why. REQUIRES: up to kMostProvedRanks.
Status prove(RoundsOfAll& all);
// All of kByBoard in all variants; those with a root with the first rank and the last. An error also for more ranks.
Status prove_rounds(std::uint32_t ranks) noexcept;

}  // namespace heddle::coll
