// Which parts of its node's hardware this process is confined to, as hwloc names them.
//
// Problem: MPI_Comm_split_type and MPI_Get_hw_resource_info ask for packages, NUMA nodes, caches and cores; programs that
//          never ask must neither load hwloc nor need it.
// Method:  libhwloc.so.15 is loaded when somebody asks, and looks at the machine anew each time: where a process may run can
//          change. Only hardware.cpp knows that there is a hwloc.
// Threads: any.
// Cost:    5 ms on a small machine.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace heddle::mpi {

// How a program names them: the node, and as a URI what hwloc knows.
inline constexpr const char* kSharedMemory = "mpi_shared_memory";
inline const std::string kHwlocScheme = "hwloc://";

inline constexpr int kNotConfined = -1;

struct Resource {
  std::string type;  // "Package", "L3Cache"
  int instance;      // the one, counted on the node, that all processors lie in; kNotConfined: they lie in several
};

// The types that the node has, the largest first but NUMA nodes last, and where these processors lie. Without hwloc there
// are none, and the program's user is told so, once.
std::vector<Resource> resources_of(std::span<const int> processors);
// The processors that this process may run on.
std::vector<int> own_processors();

}  // namespace heddle::mpi
