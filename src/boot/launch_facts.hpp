// What Heddle's mpiexec tells a rank about its node, in the environment.
//
// Problem: how to wait (spin or sleep) depends on how many ranks share how many cores, and a rank cannot see that
//          itself: its own affinity is already narrowed by binding, and asking hwloc in each of 128 ranks costs
//          seconds.
// Method:  the launcher counts once, and sets
//            HEDDLE_NODE_CORES    processors in the cpuset that mpiexec inherited, before any binding
//            HEDDLE_LOCAL_RANK    0 .. HEDDLE_LOCAL_SIZE-1 on this node
//            HEDDLE_LOCAL_SIZE    ranks of the job on this node
//            HEDDLE_LAUNCHER_PID  the ancestor that all ranks of the node have in common
//            HEDDLE_SEGMENT       <descriptor>:<job> of an inherited memfd for the node's shared memory, empty until the
//                                 first rank needs it: so a rank need not wait for the others to join the job
//          The library takes its own affinity where HEDDLE_NODE_CORES is missing or makes no sense. It knows the local
//          ranks from the job's node map; those two are for scripts.
#pragma once

#include <string_view>

#include "base/status.hpp"

namespace heddle::boot {

struct LaunchFacts {
  int node_cores = 1;
  int launcher_pid = 0;  // 0: not told
  int segment_fd = -1;   // -1: none; the caller's to close
};

LaunchFacts read_launch_facts();

// Takes HEDDLE_SEGMENT out of the environment, so that programs started by this process don't take it for theirs.
// -1: there is none for this job.
Status inherit_segment_fd(std::string_view job, int* fd);

// Processors that the scheduler lets this process use.
int cores_of_affinity();

}  // namespace heddle::boot
