// Progress while the program computes.
//
// Problem: what goes by messages needs the target to be in MPI: an origin at another host waits for as long as a target
//          computes.
// Method:  a thread of our own sleeps on the process's bell, and handles what rings it. A bell with a sleeper costs each
//          sender a system call, so it sleeps there only while no thread of the program waits in MPI; else, and after a call
//          that was in vain, it comes back after kNapNs.
//          Nonblocking collectives call the program's operations, so they are carried on here only if `tasks` says so:
//          where the program has asked for MPI_THREAD_MULTIPLE.
// When:    off unless HEDDLE_PROGRESS_THREAD asks for it: it locks what one thread alone need not lock, and wants a core.
// Threads: start() and stop(): one at a time.
// Cost:    a wake-up for what arrives while the program computes; while it communicates, one every kNapNs.
#pragma once

#include <atomic>
#include <thread>

#include "base/doorbell.hpp"
#include "base/status.hpp"

namespace heddle::vci {

class Domain;

class ProgressThread {
 public:
  // REQUIRES: the domain is threaded, outlives this, and nobody waits in it yet.
  ProgressThread(Domain& domain, bool tasks) noexcept;
  ~ProgressThread() { stop(); }
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  Status start();
  // The thread has ended.
  void stop() noexcept;

 private:
  static constexpr std::int64_t kNapNs = 200'000;

  void run() noexcept;
  bool serve() noexcept;

  Domain& domain_;
  const bool tasks_;
  std::atomic<bool> stopping_{false};
  Doorbell nap_;
  std::thread thread_;
};

}  // namespace heddle::vci
