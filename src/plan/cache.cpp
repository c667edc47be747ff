#include "plan/cache.hpp"

#include <algorithm>
#include <memory>
#include <new>

#include "mpi.h"
#include "plan/compile.hpp"
#include "plan/verify.hpp"

namespace heddle::plan {

Cache::~Cache() {
  for (List& list : lists_) {
    for (Entry* e = list.take_oldest_first(); e != nullptr;) {
      const std::unique_ptr<Entry> gone(e);
      e = e->next;
    }
  }
}

Status Cache::add(const Spec& spec, std::uint64_t bytes, std::uint32_t rank, const Plan** kept, Plan& spare) noexcept
    try {
  *kept = nullptr;
  // A forced algorithm that cannot do this gives way to the table's, on all ranks alike; so it does where the lengths of blocks
  // are not known to all, which few algorithms can do.
  std::optional<Choice> forced;
  if (bytes != kUnknownBytes && forced_ != nullptr && !is_fixed(spec)) forced = (*forced_)[spec.collective];
  if (forced && forced->algorithm == "nodes" && forced->numbers.empty())
    forced->numbers.push_back(has_nodes(spec.ranks, ppn_) ? static_cast<int>(ppn_) : 1);
  if (!forced || !compile(spec, *forced, rank, spare)) {
    const std::uint32_t rule = rule_of(spec, bytes);
    if (rule == Measured::kNone) throw std::bad_alloc();
    HEDDLE_TRY(compile(spec, choice_of(rule, spec, ppn_), rank, spare));
  }
  compiled_.fetch_add(1, std::memory_order_relaxed);
  if (proves_) {
    HEDDLE_TRY(prove(spare));
    proved_.fetch_add(1, std::memory_order_relaxed);
  }
  if (count_.fetch_add(1, std::memory_order_relaxed) >= kMost) {
    count_.fetch_sub(1, std::memory_order_relaxed);
    return Status::ok();
  }
  const Key key = key_of(spec, bytes);
  auto* entry = new Entry{key, std::move(spare), nullptr};
  lists_[list_number(key)].push(*entry);
  *kept = &entry->plan;
  return Status::ok();
} catch (const std::bad_alloc&) {
  return error(MPI_ERR_NO_MEM, "no memory for the plan of a collective on %u ranks", spec.ranks);
}

void Cache::add_usual(std::uint32_t ranks, std::uint32_t rank) noexcept {
  for (const Collective what : kUsual) {
    const Spec spec{what, ranks, 0, false};
    for (std::uint32_t i = kFirstRule[static_cast<std::size_t>(what)]; i < kRuleCount && kRules[i].collective == what;
         ++i) {
      const std::uint64_t bytes = std::min(kRules[i].most_bytes, kVaryingBytes - 1);
      const Plan* kept = find(spec, bytes);
      Plan spare;
      if (kept == nullptr && !add(spec, bytes, rank, &kept, spare)) return;
    }
  }
}

}  // namespace heddle::plan
