// The process group of the job, and the process that keeps watch over it.
//
// Problem: a rank may be a shell that starts the real program, so killing the rank is not enough; and mpiexec itself
//          may be killed with SIGKILL, when it can clean up nothing.
// Method:  all ranks and what they start are one process group, so one killpg reaches them. Its leader is a small
//          process, the guard: while it lives the group's number cannot be given to anything else. It holds a pipe
//          from mpiexec, and when that closes without a word it kills the group, itself included. (A rank that leaves
//          the group is still killed by its pid, and by PR_SET_PDEATHSIG.) On a host where mpiexec's process has
//          nobody beside it the guard also expects a beat, and takes a process that gives none for hung: it kills that
//          process as well. Elsewhere a stopped mpiexec is the user's own doing.
// Cost:    one fork of mpiexec before it is large, 0.15 ms.
#pragma once

#include <sys/types.h>

#include <chrono>

#include "base/status.hpp"
#include "fd.hpp"

namespace heddle::launcher {

class Guard {
 public:
  Guard() = default;
  // Not dismissed: the group is killed.
  ~Guard();
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;

  // `patience`: how long to wait for the next beat(); 0: forever.
  Status start(std::chrono::seconds patience = {});
  void beat() const noexcept;
  pid_t group() const noexcept { return pid_; }
  // The whole group, except for the guard, gets `signal`.
  void signal_group(int signal) const noexcept;
  // Kills the group and the guard.
  void kill_group() noexcept;
  // Ends the guard only: what ranks left running in the background goes on.
  void dismiss() noexcept;
  // To be called by who waits for any child: the guard was the one.
  void reaped() noexcept { pid_ = -1; }

 private:
  pid_t pid_ = -1;
  Fd lifeline_;
};

}  // namespace heddle::launcher
