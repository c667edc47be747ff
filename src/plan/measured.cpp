#include "plan/measured.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <vector>

#include "plan/compile.hpp"

namespace heddle::plan {
namespace {

bool can_do(const Rule& rule, const Spec& spec, std::uint32_t ppn) noexcept {
  return !(spec.ordered && rule.commutes) && (rule.nodes == 0 || (ppn > 1 && ppn <= rule.most_on_node));
}

Status time_of(const Spec& spec, const Choice& choice, std::uint64_t bytes, const Network& network, double* seconds) {
  std::vector<Plan> plans;
  HEDDLE_TRY(compile_all(spec, choice, plans));
  return simulate(plans, bytes, network, seconds);
}

bool has_limit(const Rule& rule) noexcept { return rule.most_bytes < kVaryingBytes - 1; }

// A short vector and a long one of those that a rule is for.
std::array<std::uint64_t, 2> lengths_of(const Rule& rule) noexcept {
  if (rule.collective == Collective::kBarrier) return {0, 0};
  if (has_limit(rule)) return {8, rule.most_bytes};
  const bool begins_later = std::any_of(kRules, kRules + kRuleCount, [&](const Rule& other) {
    return other.collective == rule.collective && has_limit(other);
  });
  return {begins_later ? 32u << 10 : 8u, 1 << 20};
}

}  // namespace

// Of any root: where it is changes little, and it is no part of what is remembered.
std::uint8_t Measured::simulate_for(const Spec& asked, std::uint32_t usual) noexcept try {
  Spec spec = asked;
  spec.root = 0;
  const auto by_table = static_cast<std::uint8_t>(usual + 1);
  const std::array<std::uint64_t, 2> lengths = lengths_of(kRules[usual]);
  std::array<double, 2> of_usual{};
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    // An error is the same for all ranks.
    if (!time_of(spec, choice_of(usual, spec, network_.ppn), lengths[k], network_, &of_usual[k])) return by_table;
  }
  std::uint8_t answer = by_table;
  double least = 1 / kClear;  // of the table's time, at the worse length
  for (std::uint32_t i = kFirstRule[static_cast<std::size_t>(spec.collective)];
       i < kRuleCount && kRules[i].collective == spec.collective; ++i) {
    if (i == usual || !can_do(kRules[i], spec, network_.ppn)) continue;
    double worse = 0;
    for (std::size_t k = 0; k < lengths.size(); ++k) {
      double seconds = 0;
      if (!time_of(spec, choice_of(i, spec, network_.ppn), lengths[k], network_, &seconds)) return by_table;
      if (!(of_usual[k] > 0)) return by_table;
      worse = std::max(worse, seconds / of_usual[k]);
    }
    if (worse < least) answer = static_cast<std::uint8_t>(i + 1), least = worse;
  }
  return answer;
} catch (const std::bad_alloc&) {
  return 0;
}

std::shared_ptr<Measured> Measurements::of(std::uint32_t ranks, std::uint32_t ppn) noexcept try {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Measured>& made = made_[{ranks, ppn}];
  if (made == nullptr) {
    Network network = network_;
    network.ppn = ppn;
    made = std::make_shared<Measured>(network);
  }
  return made;
} catch (const std::bad_alloc&) {
  return nullptr;
}

}  // namespace heddle::plan
