// Which algorithm a call takes.
//
// Problem: all ranks must run the same plan, and what they know in common is little: the collective, how many they are,
//          whether the operation commutes, and the bytes of a message where the standard says that these are equal.
// Method:  a table of rules; the first that fits is taken. Its limits are where the algorithms were measured to cross
//          (docs/decisions/plan-run.md). A forced choice goes before the table where it can do what is asked.
// Threads: any; pure.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string_view>

#include "base/status.hpp"
#include "plan/plan.hpp"

namespace heddle::plan {

// Of a call whose bytes not every rank knows.
inline constexpr std::uint64_t kUnknownBytes = std::numeric_limits<std::uint64_t>::max();

// Algorithms that take the place of the table's, by collective: "allreduce=phases,bcast=chain:4,allreduce=recursive:4:2".
class Forced {
 public:
  // An error says which part of the text is not possible.
  static Status parse(std::string_view text, Forced& forced);

  const std::optional<Choice>& operator[](Collective c) const { return choices_[static_cast<std::size_t>(c)]; }

 private:
  std::array<std::optional<Choice>, std::size(kCollectives)> choices_;
};

struct Rule {
  Collective collective;
  std::uint64_t most_bytes;
  bool commutes;  // for operations that commute only
  std::string_view algorithm;
  int number;  // 0: the usual ones
};
// Those of one collective stand together, and the last of them takes every call.
extern const Rule kRules[];
extern const std::array<std::uint8_t, std::size(kCollectives)> kFirstRule;

// A number of the table, the same for the same arguments. `bytes`: of the vector; of the longest block, where each rank has one.
inline std::uint32_t choose(const Spec& spec, std::uint64_t bytes) noexcept {
  std::uint32_t i = kFirstRule[static_cast<std::size_t>(spec.collective)];
  while (bytes > kRules[i].most_bytes || (spec.ordered && kRules[i].commutes)) ++i;
  return i;
}
// What that number stands for.
Choice choice_of(std::uint32_t rule, const Spec& spec);

}  // namespace heddle::plan
