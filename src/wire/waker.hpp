// A thread that waits for file descriptors, so that all others may sleep on one futex (base/doorbell.hpp).
//
// Problem: a process sleeps on its doorbell, which peers of its node ring; what comes from another host makes a file
//          descriptor readable instead.
// Method:  a thread in epoll_wait. A descriptor is watched for one event at a time: a sleeper asks for the next one. In
//          between it is not in the epoll set: else each packet of a provider whose descriptor is an epoll set, too, pays
//          for telling this one.
// Threads: arm() by any; handlers run in the waker. It is stopped by its owner, or with the process.
// Cost:    nothing while nobody sleeps; then two epoll_ctl, and a second thread to be woken.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "base/annotations.hpp"
#include "base/status.hpp"

namespace heddle::wire {

class Waker {
 public:
  using Handler = std::function<void()>;

  Waker() = default;
  ~Waker() { stop(); }
  Waker(const Waker&) = delete;
  Waker& operator=(const Waker&) = delete;

  Status start();
  void stop() noexcept;
  // `handler` runs when `fd` is readable: each time while it `stays`, else once after each arm().
  Status watch(int fd, bool stays, Handler handler);
  void forget(int fd);
  // False: the system has no memory for it. REQUIRES: not armed, or its handler has begun since.
  bool arm(int fd) noexcept;

 private:
  struct Watched {
    bool stays = true;
    Handler handler;
  };

  bool can_watch(int fd) noexcept;
  void run() noexcept;

  int epoll_ = -1, stop_ = -1;
  std::mutex mutex_;
  std::map<int, Watched> handlers_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace heddle::wire
