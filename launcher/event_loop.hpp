// Waits for file descriptors and moments, and calls who asked for them. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>

#include "base/status.hpp"
#include "fd.hpp"

namespace heddle::launcher {

using Clock = std::chrono::steady_clock;

class EventLoop {
 public:
  using Handler = std::function<void()>;

  Status open();

  // `events`: EPOLLIN, EPOLLOUT. A handler may change or remove any fd, its own too. Watching again replaces the
  // events. MPI_ERR_ARG: there is no waiting for this kind, such as a file or /dev/null.
  Status watch(int fd, std::uint32_t events, Handler handler);
  void forget(int fd);

  // Calls `handler` once. Calls at the same moment come in the order in which they were asked for.
  void at(Clock::time_point moment, Handler handler) { timers_.emplace(moment, std::move(handler)); }

  // Waits until something happens and handles it.
  Status run_once();

 private:
  int milliseconds_to_next_timer() const;
  void run_timers();

  Fd epoll_;
  std::unordered_map<int, Handler> handlers_;
  std::multimap<Clock::time_point, Handler> timers_;
};

}  // namespace heddle::launcher
