// The socket PMI_FD, under both protocols that are spoken over it.
//
// Problem: the environment may be stale (a job script's, a parent rank's) or wrong, and the other end may die at any
//          time; neither may hang a rank or crash it.
// Method:  every wait is a poll: a time limit for an answer, none for a fence (it waits for the other ranks), and the
//          end of the launcher is seen at once as end of file. The socket is closed on exec, so that programs started by
//          this rank hold nothing of it; up to here it was not, so that mpiexec may start a shell that starts the rank.
// Threads: one at a time, except shout(), which any thread may call at any time. A `meanwhile` may use the wire again:
//          nothing is kept here over the call.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "boot/boot.hpp"

namespace heddle::boot {

struct PmiOptions {
  int answer_ms = 20'000;
};

// How long to wait for what, and what to do while waiting.
struct PmiPatience {
  std::string_view what;  // for the error
  bool forever = false;
  std::chrono::steady_clock::time_point deadline = {};
  const Boot::Meanwhile* meanwhile = nullptr;  // of a wait without limit
};

class PmiWire {
 public:
  PmiWire(int fd, int answer_ms) : fd_(fd), answer_ms_(answer_ms) {}
  ~PmiWire();
  PmiWire(const PmiWire&) = delete;
  PmiWire& operator=(const PmiWire&) = delete;

  // Takes the socket that PMI_FD names, with this rank and the number of ranks from PMI_RANK and PMI_SIZE.
  static Status open(const PmiOptions& options, Job& job, std::unique_ptr<PmiWire>& wire);

  PmiPatience patience(std::string_view what) const noexcept;
  Status send(std::string_view text);
  // The next bytes, valid until the next call; none when `meanwhile` was called instead, which may have read itself.
  Status receive(const PmiPatience& patience, std::string_view& bytes);
  // What has come, without waiting; valid until the next call.
  std::string_view receive_now() noexcept;
  // Sends without waiting for anything; safe beside an exchange of another thread.
  void shout(std::string_view text) noexcept;
  // The other end has gone, and all that it said is taken.
  bool is_closed() const noexcept;
  // After an error question and answer are out of step: a late answer must not be taken for the next one.
  void hang_up() noexcept;

 private:
  Status wait_for(short events, const PmiPatience& patience, bool& ready);

  const int fd_;
  const int answer_ms_;
  bool hung_up_ = false;
  char bytes_[4096];
};

}  // namespace heddle::boot
