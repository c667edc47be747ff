// Which libpmix to open, and which process has started this node's ranks.
//
// Problem: nothing in the environment says where the launcher's PMIx is, and the machine may have several. PMIx promises
//          that any client speaks with any server, and mostly keeps it: with the client 4.2 under PRRTE of Open MPI 5.0.11
//          the job runs, but the server complains about a message of its.
// Method:  the launcher is a parent of this process, or a parent's parent when there is a shell between, and has a libpmix
//          mapped: that one. Where it may not be looked into (it is another user's, or in another container), the one
//          that the dynamic linker finds. HEDDLE_PMIX_LIBRARY overrides both.
// Threads: any. Cost: some 0.1 ms.
#pragma once

#include <string>

#include "base/status.hpp"

namespace heddle::boot {

struct PmixLibrary {
  void* handle = nullptr;  // of dlopen(); it stays loaded, for it may have threads
  std::string path;
  int launcher_pid = 0;  // 0: not found
};

// The error names what was tried, and why it was not to be had.
Status open_pmix_library(PmixLibrary& library);

}  // namespace heddle::boot
