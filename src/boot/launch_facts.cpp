#include "boot/launch_facts.hpp"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <string>

#include "boot/environment.hpp"
#include "mpi.h"

namespace heddle::boot {

int cores_of_affinity() {
  for (int cpus = CPU_SETSIZE; cpus <= (1 << 18); cpus *= 2) {  // the kernel refuses a set smaller than its own
    cpu_set_t* set = CPU_ALLOC(cpus);
    if (set == nullptr) break;
    const int found = sched_getaffinity(0, CPU_ALLOC_SIZE(cpus), set) == 0 ? CPU_COUNT_S(CPU_ALLOC_SIZE(cpus), set) : 0;
    CPU_FREE(set);
    if (found > 0) return found;
  }
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online > 0 ? static_cast<int>(online) : 1;
}

LaunchFacts read_launch_facts() {
  LaunchFacts facts;
  facts.node_cores = environment_int("HEDDLE_NODE_CORES", 1, 1 << 20, 0);
  if (facts.node_cores == 0) facts.node_cores = cores_of_affinity();
  facts.launcher_pid = environment_int("HEDDLE_LAUNCHER_PID", 1, 1 << 30, 0);
  return facts;
}

Status inherit_segment_fd(std::string_view job, int* fd) {
  constexpr const char* kName = "HEDDLE_SEGMENT";
  *fd = -1;
  const char* value = std::getenv(kName);
  if (value == nullptr) return Status::ok();
  const std::string text = value;
  unsetenv(kName);
  const std::size_t colon = text.find(':');
  int number = -1;
  if (colon == text.npos || !parse_int(std::string_view(text).substr(0, colon), 0, INT_MAX, number)) {
    return error(MPI_ERR_OTHER, "%s is '%.40s'; it must be a descriptor and a job's name, as mpiexec sets it", kName,
                 text.c_str());
  }
  if (text.substr(colon + 1) != job) return Status::ok();  // left by a job that another launcher's runs in
  if (fcntl(number, F_SETFD, FD_CLOEXEC) != 0) {
    return error(
        MPI_ERR_OTHER,
        "mpiexec passed the node's shared memory as descriptor %d, but that is not open here: something between "
        "mpiexec and this program closes descriptors; make it leave them open",
        number);
  }
  *fd = number;
  return Status::ok();
}

}  // namespace heddle::boot
