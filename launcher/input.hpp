// Standard input for rank 0, nothing for the others.
//
// Problem: rank 0 may or may not read; what it does not read must stay for others (`while read line; do mpiexec ...;
//          done`). And rank 0, being in a process group of its own, may not read the user's terminal: the kernel
//          would stop it.
// Method:  rank 0 gets mpiexec's own descriptor, so it reads what it reads and not a byte more. Only a terminal is
//          passed on by mpiexec, a line at a time: the pipe to rank 0 has room for one page, and Linux calls it
//          writable only when that page is empty, that is, when rank 0 has taken the line before. mpiexec reads the
//          terminal only in the foreground.
// Threads: one.
#pragma once

#include "event_loop.hpp"

namespace heddle::launcher {

class Input {
 public:
  explicit Input(EventLoop& loop) : loop_(loop) {}
  ~Input() { stop(); }
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  Status open();
  // What spawn() makes the rank's standard input.
  int for_rank(int rank) const noexcept;
  // All ranks have been started: their ends are closed here, and a terminal is read from now on.
  void start();
  void stop();

 private:
  void wait_until_taken();
  void wait_for_line();
  void on_line();

  EventLoop& loop_;
  Fd null_;
  Fd to_rank_, rank_end_;  // only for a terminal
  bool stopped_ = false;
};

}  // namespace heddle::launcher
