// Which processors each rank may use.
//
// Method:  hwloc knows the machine; only processors that mpiexec itself may use count. Ranks are dealt out, one core
//          each (or one hardware thread, when asked for), in the order that --map-by says: one after the other, or
//          round robin over sockets or NUMA nodes. Each is then bound to the unit of --bind-to around its core.
// Cost:    hwloc takes about 5 ms to look at a small machine, and is asked only when a binding is.
#pragma once

#include <sched.h>

#include <vector>

#include "base/status.hpp"
#include "options.hpp"

namespace heddle::launcher {

struct CpuSet {
  std::vector<unsigned long> words;  // as sched_setaffinity takes it; empty: no binding
  const cpu_set_t* get() const noexcept {
    return words.empty() ? nullptr : reinterpret_cast<const cpu_set_t*>(words.data());
  }
  std::size_t bytes() const noexcept { return words.size() * sizeof(unsigned long); }
};

// What mpiexec itself may use.
CpuSet inherited_cpus();

// `sets` gets one per rank. An error when `allowed` has fewer cores than ranks, without --oversubscribe.
Status plan_binding(const BindingOptions& options, std::size_t ranks, const CpuSet& allowed, std::vector<CpuSet>& sets);

}  // namespace heddle::launcher
