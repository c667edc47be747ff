// Signals as events: blocked, and read from a descriptor, so that nothing ever runs in a handler.
#pragma once

#include <signal.h>

#include <functional>
#include <vector>

#include "event_loop.hpp"

namespace heddle::launcher {

class Signals {
 public:
  // A signal that mpiexec was told to ignore (nohup, a shell's background job) stays ignored, in mpiexec and in the
  // ranks.
  Status open(EventLoop& loop, std::function<void(int)> handler);
  // As it was before open(), for the ranks.
  const sigset_t& original_mask() const noexcept { return original_mask_; }
  // Those that mpiexec ignores for itself and that a rank must not.
  const std::vector<int>& default_in_ranks() const noexcept { return default_in_ranks_; }

 private:
  void read_all();

  Fd fd_;
  sigset_t original_mask_{};
  std::vector<int> default_in_ranks_;
  std::function<void(int)> handler_;
};

// "signal 9 (Killed)"
std::string signal_text(int signal);

}  // namespace heddle::launcher
