#include "boot/pmix_library.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <vector>

#include "boot/environment.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

constexpr const char* kName = "libpmix.so.2";  // of every PMIx since 2.0
constexpr int kMaxAncestors = 32;

int parent_of(int pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    int parent = 0;
    if (line.starts_with("PPid:\t") && parse_int(std::string_view(line).substr(6), 1, 1 << 30, parent)) return parent;
  }
  return 0;
}

// The path of the libpmix that a process has mapped; empty when it has none, or may not be looked into.
std::string pmix_of(int pid) {
  std::ifstream maps("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    const std::size_t path = line.find('/'), name = line.rfind('/');
    if (path != line.npos && line.compare(name + 1, 11, "libpmix.so.") == 0) return line.substr(path);
  }
  return "";
}

// The nearest ancestor that has one.
void find_launcher(PmixLibrary& library) {
  int pid = getppid();
  for (int i = 0; i < kMaxAncestors && pid > 1; ++i, pid = parent_of(pid)) {
    library.path = pmix_of(pid);
    if (library.path.empty()) continue;
    library.launcher_pid = pid;
    return;
  }
}

}  // namespace

Status open_pmix_library(PmixLibrary& library) {
  find_launcher(library);
  const char* asked = std::getenv("HEDDLE_PMIX_LIBRARY");
  std::vector<std::string> candidates;
  if (asked != nullptr && *asked != 0) {
    candidates = {asked};
  } else {
    if (library.launcher_pid != 0) candidates.push_back(library.path);
    candidates.push_back(kName);
  }
  std::string tried;
  for (const std::string& path : candidates) {
    library.path = path;
    library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library.handle != nullptr) return Status::ok();
    const char* why = dlerror();
    tried.append(tried.empty() ? "" : "; ").append(why == nullptr ? path : why);
  }
  return error(
      MPI_ERR_OTHER,
      "this job was started over PMIx (PMIX_RANK is set), but no PMIx library can be loaded: %s. Install one, or "
      "set HEDDLE_PMIX_LIBRARY to it, or start with Heddle's mpiexec",
      tried.c_str());
}

}  // namespace heddle::boot
