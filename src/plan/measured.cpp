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
std::uint8_t Measured::simulate_for(const Spec& asked, std::size_t size) noexcept try {
  Spec spec = asked;
  spec.root = 0;
  const std::uint64_t bytes = size == 0 ? 0 : std::uint64_t{1} << (size - 1);
  const std::uint32_t usual = plan::choose(spec, bytes, network_.ppn);
  double least = 0;
  if (!time_of(spec, choice_of(usual, spec, network_.ppn), bytes, network_, &least)) return kByTable;
  least /= kClear;
  std::uint8_t answer = kByTable;
  for (std::uint32_t i = kFirstRule[static_cast<std::size_t>(spec.collective)];
       i < kRuleCount && kRules[i].collective == spec.collective; ++i) {
    double seconds = 0;
    if (i == usual || !can_do(kRules[i], spec, network_.ppn)) continue;
    // An error is the same for all ranks.
    if (!time_of(spec, choice_of(i, spec, network_.ppn), bytes, network_, &seconds)) return kByTable;
    if (seconds < least) answer = static_cast<std::uint8_t>(kFirst + i), least = seconds;
  }
  return answer;
} catch (const std::bad_alloc&) {
  return 0;
}

}  // namespace heddle::plan
