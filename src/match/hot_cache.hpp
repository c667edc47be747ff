// Hot caching: a helper thread that keeps the match entries in a cache which it shares with the threads that search them.
//
// Problem: between two searches the program computes, and its data push the queues out of the cache; then each entry of
//          a search is a miss in memory.
// Method:  pools of match entries are registered as ranges of memory. A thread of our own prefetches every cache line of
//          them once in a period, piece by piece. It prefetches and does not load: to prefetch what others write is no
//          data race, and to prefetch what is unmapped or protected does nothing.
// When:    off unless somebody starts it. A core to spare that shares a cache with the cores that search, pools that fit
//          in that cache, computation between searches that does not. Otherwise it only takes time and bandwidth.
// Threads: add(), remove(), counts(): any. start() and stop(): one at a time. The thread waits on a condition while no
//          range is registered, and has no signals of the program.
// Cost:    one line fill a line and period at most, on the helper's core. add() and remove() wait for one piece, of
//          kPiece bytes, if the thread is in one.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <thread>

#include "base/status.hpp"

namespace heddle::match {

class HotCache {
 public:
  using Range = std::span<const std::byte>;
  // What is done to a piece of a range.
  using Touch = void (*)(Range) noexcept;

  static constexpr std::size_t kPiece = 64 * 1024;
  static constexpr int kAnyCore = -1;

  struct Counts {
    std::uint64_t sweeps = 0;  // over all ranges, to the end
    std::uint64_t bytes = 0;   // touched
  };

  // Asks for every line of the range to be brought into the caches of this core. Never faults.
  static void prefetch(Range range) noexcept;

  explicit HotCache(Touch touch = prefetch) noexcept : touch_(touch) {}
  ~HotCache() { stop(); }
  HotCache(const HotCache&) = delete;
  HotCache& operator=(const HotCache&) = delete;

  // From now on a sweep begins when `period` has passed since the one before ended. `core`: where the thread runs; it should
  // share a cache with the threads that search. REQUIRES: it is stopped.
  Status start(std::chrono::nanoseconds period, int core = kAnyCore);
  // The thread has ended. Ranges stay registered.
  void stop() noexcept;

  // False: no memory to note it, and the range stays as cold as it is. REQUIRES: no registered range overlaps it.
  bool add(Range range) noexcept;
  // When it returns nothing of the range is touched any more. A range that was not added is ignored.
  void remove(Range range) noexcept;

  Counts counts() const noexcept;
  bool holds_ranges() const noexcept;

  // Where engines register the pools that they make from now on; null, as at first: nowhere. The one thing here that is of the
  // whole process. REQUIRES: when it changes, no engine has a pool that is registered.
  static HotCache* of_pools() noexcept { return of_pools_.load(std::memory_order_acquire); }
  static void set_of_pools(HotCache* cache) noexcept { of_pools_.store(cache, std::memory_order_release); }

 private:
  static inline std::atomic<HotCache*> of_pools_{nullptr};

  void run() noexcept;
  void sweep(std::unique_lock<std::mutex>& lock) noexcept;
  Range piece_from(const std::byte* at) const noexcept;

  const Touch touch_;
  std::thread thread_;
  mutable std::mutex mutex_;  // held while a piece is touched; guards what follows
  std::condition_variable changed_;
  std::map<const std::byte*, std::size_t> ranges_;  // begin, bytes
  std::chrono::nanoseconds period_{0};
  bool stopping_ = false;
  Counts counts_;
};

}  // namespace heddle::match
