// The answering side of the watch (watch.hpp): says to those that wait for this process that it is there.
//
// Problem: a process that computes must not be taken for a dead one, and one that has left in order not for a lost one.
// Method:  the waker answers, so it does not matter what the threads of the program do. When the program uses MPI no more,
//          all who watch are told; what ends after that has left in order.
// Threads: the waker; set_away() by any.
// Memory:  for each who watches about 100 bytes and a descriptor, kMostGuests and kMostOfOne at most; who comes beyond that is
//          told that this process lives, and sent away.
#pragma once

#include <atomic>
#include <map>
#include <mutex>

#include "wire/waker.hpp"
#include "wire/watch_frame.hpp"

namespace heddle::wire {

class Watched {
 public:
  static constexpr std::size_t kMostGuests = 256;
  static constexpr int kMostOfOne = 4;  // connections of one process

  Watched() = default;
  ~Watched() { close_all(); }
  Watched(const Watched&) = delete;
  Watched& operator=(const Watched&) = delete;

  void start(Waker& waker, ProcessId self, const SipKey& key);
  // A connection on which `first` has come. False: nobody of this job, and the connection stays the caller's.
  bool adopt(int fd, const WatchFrame& first);
  // Whether the program uses MPI no more, for a while or for ever.
  void set_away(bool away) noexcept;
  // Says goodbye and hangs up. REQUIRES: the waker is stopped.
  void close_all() noexcept;
  std::size_t guests() noexcept;
  // Connections that began as one of the job's and went on as nobody's. Any thread.
  std::uint64_t strangers() const noexcept { return strangers_.load(std::memory_order_relaxed); }

 private:
  struct Guest {
    ProcessId source = 0;
    std::uint64_t number = 0;
    WatchInput input;
  };

  void on_question(int fd);
  void say(int fd, const Guest& guest, std::uint32_t kind) noexcept;
  void send_away(std::map<int, Guest>::iterator guest);

  Waker* waker_ = nullptr;
  ProcessId self_ = 0;
  SipKey key_;
  std::atomic<std::uint64_t> strangers_{0};
  std::mutex mutex_;  // of what follows
  std::map<int, Guest> guests_;
  bool away_ = false;
};

}  // namespace heddle::wire
