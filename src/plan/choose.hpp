// Which algorithm a call takes.
//
// Problem: all ranks must run the same plan, and what they know in common is little: the collective, how many they are,
//          whether the operation commutes, on which node each rank is, and the bytes of a message where the standard says that
//          these are equal.
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
// Of one whose blocks differ, as every rank knows.
inline constexpr std::uint64_t kVaryingBytes = kUnknownBytes - 1;

// Algorithms that take the place of the table's, by collective: "allreduce=phases,bcast=chain:4,allreduce=recursive:4:2".
class Forced {
 public:
  // An error says which part of the text is not possible.
  static Status parse(std::string_view text, Forced& forced);

  const std::optional<Choice>& operator[](Collective c) const { return choices_[static_cast<std::size_t>(c)]; }

 private:
  std::array<std::optional<Choice>, std::size(kCollectives)> choices_;
};

inline constexpr std::uint32_t kOneNode = 1;

struct Rule {
  Collective collective;
  std::uint64_t most_bytes;
  bool commutes;               // for operations that commute only
  std::uint32_t nodes;         // where ranks share nodes, from so many on; kOneNode: where all share one; 0: anywhere
  std::uint32_t most_on_node;  // of ranks, where `nodes` is not 0
  std::string_view algorithm;
  int number;  // 0: the usual ones
};
// Those of one collective stand together, and the last of them takes every call.
extern const Rule kRules[];
extern const std::size_t kRuleCount;
extern const std::array<std::uint8_t, std::size(kCollectives)> kFirstRule;

// How many ranks a node has, where all nodes have as many, and they are consecutive; else, or where they go round, 1: everyone is as
// far from everyone. node_of(r): of rank r, any number.
template <class NodeOf>
std::uint32_t ranks_of_node(std::uint32_t ranks, NodeOf node_of) noexcept {
  std::uint32_t ppn = 1;
  while (ppn < ranks && node_of(ppn) == node_of(0)) ++ppn;
  if (ranks % ppn != 0) return 1;
  for (std::uint32_t r = ppn; r < ranks; ++r) {
    const bool begins = r % ppn == 0;
    if ((node_of(r) == node_of(r - 1)) == begins || (begins && node_of(r) == node_of(0))) return 1;
  }
  return ppn;
}

// ranks_of_node() says that there are several, of which each has several ranks.
inline bool has_nodes(std::uint32_t ranks, std::uint32_t ppn) noexcept { return ppn > 1 && ppn < ranks; }

// A number of the table, the same for the same arguments. `bytes`: of the vector; of the longest block, where each rank has one.
// `ppn`: ranks_of_node().
inline std::uint32_t choose(const Spec& spec, std::uint64_t bytes, std::uint32_t ppn) noexcept {
  const auto has_its_nodes = [&](const Rule& rule) {
    if (rule.nodes == kOneNode) return ppn > 1 && ppn == spec.ranks;
    return has_nodes(spec.ranks, ppn) && ppn <= rule.most_on_node && spec.ranks / ppn >= rule.nodes;
  };
  const auto fits = [&](const Rule& rule) {
    return bytes <= rule.most_bytes && !(spec.ordered && rule.commutes) && (rule.nodes == 0 || has_its_nodes(rule));
  };
  std::uint32_t i = kFirstRule[static_cast<std::size_t>(spec.collective)];
  while (!fits(kRules[i])) ++i;
  return i;
}
// What that number stands for.
Choice choice_of(std::uint32_t rule, const Spec& spec, std::uint32_t ppn);

}  // namespace heddle::plan
