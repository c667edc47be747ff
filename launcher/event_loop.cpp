#include "event_loop.hpp"

#include <limits.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mpi.h"

namespace heddle::launcher {

Status EventLoop::open() {
  epoll_ = Fd(epoll_create1(EPOLL_CLOEXEC));
  return epoll_.is_open() ? Status::ok() : error(MPI_ERR_OTHER, "epoll_create: %s", std::strerror(errno));
}

Status EventLoop::watch(int fd, std::uint32_t events, Handler handler) {
  epoll_event e{};
  e.events = events;
  e.data.fd = fd;
  const int operation = handlers_.contains(fd) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(epoll_.get(), operation, fd, &e) != 0) {
    return error(errno == EPERM ? MPI_ERR_ARG : MPI_ERR_OTHER, "cannot wait for descriptor %d: %s", fd,
                 std::strerror(errno));
  }
  handlers_[fd] = std::move(handler);
  return Status::ok();
}

void EventLoop::forget(int fd) {
  if (handlers_.erase(fd) != 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

int EventLoop::milliseconds_to_next_timer() const {
  if (timers_.empty()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(timers_.begin()->first - Clock::now()).count();
  return static_cast<int>(std::clamp<long>(left, 0, INT_MAX));
}

void EventLoop::run_timers() {
  const auto now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first <= now) {
    const Handler handler = std::move(timers_.extract(timers_.begin()).mapped());
    handler();
  }
}

Status EventLoop::run_once() {
  epoll_event ready[64];
  const int n = epoll_wait(epoll_.get(), ready, 64, milliseconds_to_next_timer());
  if (n < 0 && errno != EINTR) return error(MPI_ERR_OTHER, "epoll_wait: %s", std::strerror(errno));
  for (int i = 0; i < n; ++i) {
    const auto found = handlers_.find(ready[i].data.fd);
    if (found == handlers_.end()) continue;  // forgotten by a handler before it in this round
    const Handler handler = found->second;   // the handler may forget itself
    handler();
  }
  run_timers();
  return Status::ok();
}

}  // namespace heddle::launcher
