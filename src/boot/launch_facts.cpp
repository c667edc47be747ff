#include "boot/launch_facts.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "boot/environment.hpp"

namespace heddle::boot {

int cores_of_affinity(int pid) {
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 18); cpus *= 2) {  // the kernel refuses a set smaller than its own
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const int found =
        sched_getaffinity(pid, CPU_ALLOC_SIZE(cpus), set) == 0 ? CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set) : 0;
    CPU_FREE(set);
    if (found > 0) return found;
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

LaunchFacts read_launch_facts(int launcher) {
  LaunchFacts facts;
  facts.node_cores = environment_int("HEDDLE_NODE_CORES", 1, 1 << 20, 0);
  if (facts.node_cores == 0) {
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    facts.node_cores = std::min<int>(environment_int("SLURM_CPUS_ON_NODE", 1, 1 << 20, 0), static_cast<int>(online));
  }
  if (facts.node_cores <= 0) facts.node_cores = cores_of_affinity(launcher);
  facts.launcher_pid = environment_int("HEDDLE_LAUNCHER_PID", 1, 1 << 30, launcher);
  return facts;
}

}  // namespace heddle::boot
