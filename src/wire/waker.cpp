#include "wire/waker.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/own_thread.hpp"
#include "mpi.h"

namespace heddle::wire {

Status Waker::start() {
  epoll_ = epoll_create1(EPOLL_CLOEXEC);
  stop_ = eventfd(0, EFD_CLOEXEC);
  if (epoll_ < 0 || stop_ < 0) return error(MPI_ERR_OTHER, "cannot wait for a network: %s", std::strerror(errno));
  HEDDLE_TRY(watch(stop_, true, {}));
  return start_own_thread(&thread_, "heddle-waker", "that waits for the network", [this] { run(); });
}

void Waker::stop() noexcept {
  if (thread_.joinable()) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = write(stop_, &one, sizeof one);
    thread_.join();
  }
  for (int* fd : {&epoll_, &stop_}) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
  }
}

Status Waker::watch(int fd, bool stays, Handler handler) {
  {
    std::lock_guard lock(mutex_);
    handlers_[fd] = {stays, std::move(handler)};
  }
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = fd;
  // One that is not asked for yet must be one that can be.
  if (stays ? epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0 : can_watch(fd)) return Status::ok();
  const int reason = errno;
  {
    std::lock_guard lock(mutex_);
    handlers_.erase(fd);
  }
  return error(MPI_ERR_OTHER, "cannot wait for descriptor %d: %s", fd, std::strerror(reason));
}

bool Waker::can_watch(int fd) noexcept {
  epoll_event event{};
  event.events = EPOLLONESHOT;
  event.data.fd = fd;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0 && epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr) == 0;
}

void Waker::forget(int fd) {
  epoll_ctl(epoll_, EPOLL_CTL_DEL, fd, nullptr);
  std::lock_guard lock(mutex_);
  handlers_.erase(fd);
}

bool Waker::arm(int fd) noexcept {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLONESHOT;
  event.data.fd = fd;
  return epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) == 0;
}

void Waker::run() noexcept {
  for (;;) {
    epoll_event event{};
    if (epoll_wait(epoll_, &event, 1, -1) != 1) continue;
    if (event.data.fd == stop_) return;
    Watched watched;
    {
      std::lock_guard lock(mutex_);
      const auto found = handlers_.find(event.data.fd);
      if (found != handlers_.end()) watched = found->second;
    }
    if (!watched.stays) epoll_ctl(epoll_, EPOLL_CTL_DEL, event.data.fd, nullptr);
    if (watched.handler) watched.handler();
  }
}

}  // namespace heddle::wire
