#include "plan/choose.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "mpi.h"
#include "plan/algorithms.hpp"

namespace heddle::plan {
namespace {

// In the place of a number: as many as there are ranks, or one less; as a node has ranks, of which one leads, or all do.
constexpr int kAllRanks = -1, kAllOthers = -2, kOneLeads = -3, kAllLead = -4;
constexpr std::uint64_t kAnyBytes = kUnknownBytes;
constexpr std::uint32_t kAnyRanks = ~0u;
// Ranks of a node, all of which lead: they scatter and gather in one step, each with each. With more `phases` is better.
constexpr std::uint32_t kMostLead = 8;

Status not_possible(std::string_view part, const char* why) {
  return error(MPI_ERR_ARG, "'%.*s' %s; a choice is written as in bcast=chain:4,allreduce=phases",
               static_cast<int>(part.size()), part.data(), why);
}

// Up to `separator`, which goes too.
std::string_view cut(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view word = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return word;
}

}  // namespace

// Of blocks within a node a tree passes some on, which are copied once more, by ranks that may have no core: so they go straight.
// Between two nodes there is one step for short data, with leaders or without: without them fewer messages follow each other.
constexpr Rule kRules[] = {
    {Collective::kBarrier, kAnyBytes, false, 3, kAnyRanks, "nodes", kOneLeads},
    {Collective::kBarrier, kAnyBytes, false, 0, 0, "dissemination", 1},
    {Collective::kBcast, kAnyBytes, false, 2, kAnyRanks, "nodes", kOneLeads},
    {Collective::kBcast, kAnyBytes, false, 0, 0, "tree", 2},
    {Collective::kReduce, kAnyBytes, false, 2, kAnyRanks, "nodes", kOneLeads},
    {Collective::kReduce, kAnyBytes, false, 0, 0, "tree", 2},
    {Collective::kAllreduce, 16 << 10, false, 3, kAnyRanks, "nodes", kOneLeads},
    {Collective::kAllreduce, 16 << 10, false, 0, 0, "recursive", 0},
    {Collective::kAllreduce, kAnyBytes, false, 2, kMostLead, "nodes", kAllLead},
    {Collective::kAllreduce, kAnyBytes, false, 0, 0, "phases", 0},
    {Collective::kReduceScatter, kAnyBytes, true, 0, 0, "circulant", 1},
    {Collective::kReduceScatter, kAnyBytes, false, 0, 0, "recursive", 0},
    {Collective::kAllgather, kVaryingBytes - 1, false, 2, kAnyRanks, "nodes", kOneLeads},
    {Collective::kAllgather, kAnyBytes, false, 0, 0, "circulant", 1},
    {Collective::kGather, kAnyBytes, false, kOneNode, kAnyRanks, "tree", kAllRanks},
    {Collective::kGather, 16 << 10, false, 0, 0, "tree", 2},
    {Collective::kGather, kAnyBytes, false, 0, 0, "tree", kAllRanks},
    {Collective::kScatter, kAnyBytes, false, kOneNode, kAnyRanks, "tree", kAllRanks},
    {Collective::kScatter, 16 << 10, false, 0, 0, "tree", 2},
    {Collective::kScatter, kAnyBytes, false, 0, 0, "tree", kAllRanks},
    {Collective::kAlltoall, kAnyBytes, false, 0, 0, "pairwise", kAllOthers},
    {Collective::kScan, kAnyBytes, false, 0, 0, "doubling", 0},
    {Collective::kExscan, kAnyBytes, false, 0, 0, "doubling", 0},
    {Collective::kNeighborAllgather, kAnyBytes, false, 0, 0, "edges", 0},
    {Collective::kNeighborAlltoall, kAnyBytes, false, 0, 0, "edges", 0},
};

const std::size_t kRuleCount = std::size(kRules);

// Where the rules of each collective begin.
constexpr std::array<std::uint8_t, std::size(kCollectives)> kFirstRule = [] {
  std::array<std::uint8_t, std::size(kCollectives)> first{};
  for (std::size_t i = std::size(kRules); i-- > 0;) {
    first[static_cast<std::size_t>(kRules[i].collective)] = static_cast<std::uint8_t>(i);
  }
  return first;
}();

Status Forced::parse(std::string_view text, Forced& forced) {
  while (!text.empty()) {
    const std::string_view part = cut(text, ',');
    std::string_view rest = part;
    const std::string_view name = cut(rest, '=');
    const auto* found = std::find(std::begin(kCollectives), std::end(kCollectives), name);
    if (found == std::end(kCollectives)) return not_possible(part, "names no collective");
    const auto collective = static_cast<Collective>(found - std::begin(kCollectives));
    const std::string_view algorithm = cut(rest, ':');
    Choice choice;
    for (const Algorithm& a : algorithms()) {
      if (a.collective == collective && a.name == algorithm) choice.algorithm = a.name;
    }
    if (choice.algorithm.empty()) return not_possible(part, "names no algorithm of that collective");
    while (!rest.empty()) {
      const std::string_view word = cut(rest, ':');
      int number = 0;
      const auto [end, failed] = std::from_chars(word.data(), word.data() + word.size(), number);
      // Beyond that a plan might lack scratch on some ranks only.
      constexpr int kMost = kMostLeaders;
      if (failed != std::errc() || end != word.data() + word.size() || number > kMost || number < -kMost) {
        return not_possible(part, "has a number that is none, or too large");
      }
      choice.numbers.push_back(number);
    }
    forced.choices_[static_cast<std::size_t>(collective)] = std::move(choice);
  }
  return Status::ok();
}

Choice choice_of(std::uint32_t rule, const Spec& spec, std::uint32_t ppn) {
  const Rule& r = kRules[rule];
  const int ranks = static_cast<int>(spec.ranks), node = static_cast<int>(ppn);
  if (r.number == kOneLeads) return {r.algorithm, {node}};
  if (r.number == kAllLead) return {r.algorithm, {node, node}};
  if (r.number == 0) return {r.algorithm, {}};
  if (r.number == kAllRanks) return {r.algorithm, {std::max(ranks, 2)}};
  if (r.number == kAllOthers) return {r.algorithm, {std::max(ranks - 1, 1)}};
  return {r.algorithm, {r.number}};
}

}  // namespace heddle::plan
