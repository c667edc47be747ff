// Starts one rank.
//
// Problem: 64 ranks must be running within a small part of a second, each with its own descriptors, process group,
//          affinity and limits, and a program that cannot be started must be reported by name before anything else
//          happens.
// Method:  vfork: nothing of mpiexec is copied, and the child shares its memory until exec, so it reports a failure
//          by storing it. Everything that the child needs is prepared before; it makes system calls and nothing else.
// Cost:    about 0.3 ms for a small program, nearly all of it the kernel's exec.
#pragma once

#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <string>
#include <vector>

namespace heddle::launcher {

struct Launch {
  const char* path = nullptr;
  char* const* argv = nullptr;
  char* const* environment = nullptr;
  const char* directory = nullptr;  // null: mpiexec's
  int in = -1, out = -1, err = -1;  // become 0, 1, 2
  int pmi = -1, segment = -1;       // keep their numbers; a segment may be missing
  pid_t group = 0;
  const cpu_set_t* cpus = nullptr;  // null: as mpiexec
  std::size_t cpus_bytes = 0;
  rlimit descriptors{};    // mpiexec raises its own limit; the ranks get what the user had
  sigset_t signal_mask{};  // and the signals too
  std::vector<int> default_signals;
};

struct Spawned {
  pid_t pid = -1;
  int error = 0;          // errno, 0: it runs
  const char* step = "";  // what failed
};

Spawned spawn(const Launch& launch);

// argv or environ of the strings, which must outlive it.
std::vector<char*> pointers(const std::vector<std::string>& strings);

}  // namespace heddle::launcher
