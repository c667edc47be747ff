// A lock of one word for the message path.
//
// Problem: each VCI and each lane has its own lock, taken for some tens of nanoseconds, by one thread nearly always;
//          below MPI_THREAD_MULTIPLE it must cost nothing; with more threads than cores a spinning waiter starves the
//          owner.
// Method:  free, held, or held with sleepers. A waiter spins a little, then sleeps on the word (futex), so that a
//          descheduled owner gets the core. `elide()` turns the lock off for a process with one thread.
// Cost:    one exchange to take, one to give back; a predicted branch each when elided.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/annotations.hpp"
#include "base/atomics.hpp"

namespace heddle {

// kSpins: longer than any critical section of ours, shorter than a wake-up.
template <class Atomics = StdAtomics, int kSpins = 64>
class CAPABILITY("mutex") BasicLock {
 public:
  // REQUIRES: no other thread uses the lock yet.
  void elide() noexcept { elided_ = true; }

  bool try_lock() noexcept TRY_ACQUIRE(true) {
    if (elided_) return true;
    std::uint32_t expected = kFree;
    return word_.load(std::memory_order_relaxed) == kFree &&
           word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed);
  }

  void lock() noexcept ACQUIRE() {
    if (elided_) return;
    std::uint32_t expected = kFree;
    if (word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) return;
    lock_slow();
  }

  void unlock() noexcept RELEASE() {
    if (elided_) return;
    if (word_.exchange(kFree, std::memory_order_release) == kHeldWithSleepers) Atomics::futex_wake(word_, 1);
  }

 private:
  static constexpr std::uint32_t kFree = 0, kHeld = 1, kHeldWithSleepers = 2;
  static constexpr std::int64_t kSleepNs = 1'000'000'000;

  [[gnu::noinline]] void lock_slow() noexcept {
    for (int i = 0; i < kSpins; ++i) {
      Atomics::pause();
      std::uint32_t expected = kFree;
      if (word_.load(std::memory_order_relaxed) == kFree &&
          word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) {
        return;
      }
    }
    while (word_.exchange(kHeldWithSleepers, std::memory_order_acquire) != kFree) {
      Atomics::futex_wait(word_, kHeldWithSleepers, kSleepNs);
    }
  }

  typename Atomics::template atomic<std::uint32_t> word_{kFree};
  bool elided_ = false;
};

using Lock = BasicLock<>;

class SCOPED_CAPABILITY LockGuard {
 public:
  explicit LockGuard(Lock& lock) noexcept ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() RELEASE() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Lock& lock_;
};

}  // namespace heddle
