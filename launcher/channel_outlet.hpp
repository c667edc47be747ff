// The ranks' output on another host, on its way to mpiexec.
//
// Problem: the same connection carries deaths, PMI and signs of life, which must not wait behind output that nobody
//          takes; and neither side may collect it without bound.
// Method:  a window. At most kWindow bytes (and the line that crosses it) are under way to one of mpiexec's outputs;
//          mpiexec says what has found room there, a quarter of a window at a time. A full outlet stops reading from
//          its ranks, as a Sink does.
#pragma once

#include "channel.hpp"
#include "output.hpp"

namespace heddle::launcher {

inline constexpr std::size_t kWindow = 256 * 1024;

class ChannelOutlet final : public Outlet {
 public:
  // `which`: 0 for mpiexec's standard output, 1 for its standard error.
  ChannelOutlet(Channel& channel, int which, bool terminal) : channel_(channel), which_(which), terminal_(terminal) {}

  void put(int rank, std::string_view text) override {
    if (text.empty() || broken_) return;
    under_way_ += text.size();
    channel_.send(FrameWriter(FrameType::kOutput).number(which_).number(rank).text(text));
  }
  bool is_full() const noexcept override { return under_way_ > kWindow; }
  bool is_terminal() const noexcept override { return terminal_; }
  bool is_broken() const noexcept override { return broken_; }

  void room(std::size_t bytes, bool broken) noexcept {
    under_way_ -= bytes < under_way_ ? bytes : under_way_;
    broken_ = broken_ || broken;
  }

 private:
  Channel& channel_;
  const int which_;
  const bool terminal_;
  std::size_t under_way_ = 0;
  bool broken_ = false;
};

}  // namespace heddle::launcher
