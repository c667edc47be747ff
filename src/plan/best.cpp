#include "plan/best.hpp"

#include <algorithm>

#include "plan/algorithms.hpp"
#include "plan/compile.hpp"

namespace heddle::plan {
namespace {

constexpr std::uint32_t kManyRanks = 256;  // above it only mixes of one radix and a rest
constexpr int kMostRadix = 16;

using Mixes = std::vector<std::vector<int>>;

// Every order of every factors of `rest`, fewest factors first within a first factor.
void factorise(std::uint32_t rest, std::vector<int>& begun, Mixes& all) {
  if (rest == 1) return all.push_back(begun);
  for (int f = kMostRadix; f >= 2; --f) {
    if (rest % static_cast<std::uint32_t>(f) != 0) continue;
    begun.push_back(f);
    factorise(rest / static_cast<std::uint32_t>(f), begun, all);
    begun.pop_back();
  }
}

Mixes mixes(std::uint32_t ranks) {
  Mixes all;
  std::vector<int> begun;
  if (ranks <= kManyRanks && ranks > 1) factorise(ranks, begun, all);
  // One radix as often as it fits, then what still does: ranks that stay over fold.
  for (int radix = kMostRadix; radix >= 2; --radix) {
    std::vector<int> mix;
    std::uint32_t room = ranks;
    for (int r = radix; room >= 2; r = static_cast<int>(std::min(room, static_cast<std::uint32_t>(radix)))) {
      if (room < static_cast<std::uint32_t>(r)) continue;
      mix.push_back(r);
      room /= static_cast<std::uint32_t>(r);
    }
    const bool power = (radix & (radix - 1)) == 0;
    if ((ranks <= kManyRanks || power) && std::find(all.begin(), all.end(), mix) == all.end()) all.push_back(mix);
  }
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  return all;
}

// The first radices scatter, the others don't.
std::vector<int> phases(const std::vector<int>& radices, std::size_t scattering) {
  std::vector<int> ports;
  for (std::size_t i = 0; i < radices.size(); ++i) ports.push_back(i < scattering ? 1 - radices[i] : radices[i] - 1);
  for (std::size_t i = scattering; i-- > 0;) ports.push_back(radices[i] - 1);
  return ports;
}

Mixes numbers_of(const Algorithm& a, std::uint32_t ranks, std::uint32_t ppn) {
  Mixes all;
  if (a.numbers == Numbers::kNone) return {{}};
  if (a.numbers == Numbers::kOne && a.name == "chain") return {{1}, {4}, {16}, {64}, {256}};
  if (a.numbers == Numbers::kOne) return {{1}, {2}, {3}, {7}, {15}};
  if (a.numbers == Numbers::kRadix) return {{2}, {3}, {4}, {8}, {16}};
  if (a.numbers == Numbers::kRadices) return mixes(ranks);
  if (a.numbers == Numbers::kNode || a.numbers == Numbers::kLeaders) {
    if (ppn == 1 || ppn == ranks || ranks % ppn != 0) return {};
    const int node = static_cast<int>(ppn);
    if (a.numbers == Numbers::kNode) return {{node}};
    for (int leaders = 1; leaders < node && leaders <= kMostRadix; leaders *= 2) all.push_back({node, leaders});
    if (ppn <= kMostLeaders) all.push_back({node, node});
    return all;
  }
  for (const std::vector<int>& mix : mixes(ranks)) {
    for (std::size_t s = 1; s <= mix.size(); ++s) {
      if (ranks <= kManyRanks || s == mix.size()) all.push_back(phases(mix, s));
    }
  }
  return all;
}

}  // namespace

std::vector<Choice> candidates(const Spec& spec, std::uint32_t ppn) {
  std::vector<Choice> all;
  for (const Algorithm& a : algorithms()) {
    if (a.collective != spec.collective || (spec.ordered && !a.keeps_order)) continue;
    for (std::vector<int>& numbers : numbers_of(a, spec.ranks, ppn)) all.push_back({a.name, std::move(numbers)});
  }
  return all;
}

Status rank_candidates(const Spec& spec, std::uint64_t bytes, const Network& network, std::vector<Candidate>& ranked) {
  ranked.clear();
  for (Choice& choice : candidates(spec, network.ppn)) {
    std::vector<Plan> plans;
    double seconds = 0;
    HEDDLE_TRY(compile_all(spec, choice, plans));
    HEDDLE_TRY(simulate(plans, bytes, network, &seconds));
    ranked.push_back({std::move(choice), seconds});
  }
  std::stable_sort(ranked.begin(), ranked.end(),
                   [](const Candidate& a, const Candidate& b) { return a.seconds < b.seconds; });
  return Status::ok();
}

}  // namespace heddle::plan
