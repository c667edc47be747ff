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
//          The library reads the first and the last. It knows the local ranks from the job's node map; those two are for
//          scripts. Other launchers set none of them: then it takes what Slurm says that the job has on the node, else the
//          affinity of the launcher where that is known, else its own.
#pragma once

namespace heddle::boot {

struct LaunchFacts {
  int node_cores = 1;
  int launcher_pid = 0;  // 0: not told
  int segment_fd = -1;   // an inherited memfd for the node's shared memory, told by PMI; -1: none
};

// `launcher`: the pid of a foreign launcher, where it is known, which may use all processors of the job's on the node.
LaunchFacts read_launch_facts(int launcher = 0);

// Processors that the scheduler lets a process use, 0: this one. 1 when it does not say.
int cores_of_affinity(int pid = 0);

}  // namespace heddle::boot
