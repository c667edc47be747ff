#include "plan/measured.hpp"

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

}  // namespace

// Of any root: where it is changes little, and it is no part of what is remembered.
std::uint32_t Measured::simulate_for(const Spec& asked, std::size_t size, std::atomic<std::uint8_t>& known) noexcept
    try {
  Spec spec = asked;
  spec.root = 0;
  const std::uint64_t bytes = size == 0 ? 0 : std::uint64_t{1} << (size - 1);
  std::uint32_t best = kNone;
  double least = 0;
  for (std::uint32_t i = kFirstRule[static_cast<std::size_t>(spec.collective)];
       i < kRuleCount && kRules[i].collective == spec.collective; ++i) {
    double seconds = 0;
    if (!can_do(kRules[i], spec, network_.ppn)) continue;
    if (!time_of(spec, choice_of(i, spec, network_.ppn), bytes, network_, &seconds)) return kNone;
    if (best == kNone || seconds < least) best = i, least = seconds;
  }
  known.store(static_cast<std::uint8_t>(best + 1), std::memory_order_relaxed);
  return best;
} catch (const std::bad_alloc&) {
  return kNone;
}

}  // namespace heddle::plan
