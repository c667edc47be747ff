// Standard input for rank 0, nothing for the others.
//
// Problem: rank 0 may or may not read; what it does not read must stay for others (`while read line; do mpiexec ...;
//          done`). And rank 0, being in a process group of its own, may not read the user's terminal: the kernel
//          would stop it.
// Method:  beside mpiexec rank 0 gets mpiexec's own descriptor, so it reads what it reads and not a byte more. Only
//          from a terminal, or to another host, it is passed on: an InputPipe leads to rank 0, has room for one page,
//          and Linux calls it writable only when that page is empty, that is, when rank 0 has taken what came before.
//          Then the InputSource reads mpiexec's descriptor once more: from a terminal a line, and only in the
//          foreground. What rank 0 has left is given back at the end, where the input is a file.
// Threads: one.
#pragma once

#include <functional>
#include <memory>
#include <string_view>

#include "event_loop.hpp"

namespace heddle::launcher {

// The end at rank 0.
class InputPipe {
 public:
  // `empty` is called whenever rank 0 has taken everything.
  InputPipe(EventLoop& loop, EventLoop::Handler empty) : loop_(loop), empty_(std::move(empty)) {}
  ~InputPipe() { stop(); }
  InputPipe(const InputPipe&) = delete;
  InputPipe& operator=(const InputPipe&) = delete;

  Status open();
  // What spawn() makes the rank's standard input.
  int rank_end() const noexcept { return rank_end_.get(); }
  // Rank 0 has been started.
  void start();
  // At most a page, once after each `empty`. Nothing: there is no more.
  void give(std::string_view bytes);
  // Rank 0 reads no more.
  void stop();
  // What was given and not taken, once stopped.
  std::size_t left() const noexcept { return left_; }

 private:
  void wait_until_taken();
  void on_writable();

  EventLoop& loop_;
  const EventLoop::Handler empty_;
  Fd to_rank_, rank_end_;
  std::size_t left_ = 0;
};

// The end at mpiexec.
class InputSource {
 public:
  using Taker = std::function<void(std::string_view)>;

  explicit InputSource(EventLoop& loop) : loop_(loop) {}
  ~InputSource() { stop(); }
  InputSource(const InputSource&) = delete;
  InputSource& operator=(const InputSource&) = delete;

  static bool is_terminal() { return isatty(STDIN_FILENO) == 1; }
  // Reads once, at most a page, when there is something; nothing: the end.
  void read_next(Taker taker);
  void give_back(std::size_t bytes);
  void stop();

 private:
  void wait();
  void on_ready();

  EventLoop& loop_;
  Taker taker_;
  bool stopped_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // for a timer that outlives the source
};

}  // namespace heddle::launcher
