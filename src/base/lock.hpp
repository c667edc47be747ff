// A lock of one word for the message path.
//
// Problem: each VCI and each lane has its own lock, taken for some tens of nanoseconds, by one thread nearly always;
//          below MPI_THREAD_MULTIPLE it must cost nothing; with more threads than cores a spinning waiter starves the
//          owner.
// Method:  a word that is free or held, and a count of those who sleep for it. A waiter spins a little, each time twice
//          as long before it looks again, so that many leave the line to the owner; then it yields, so that a
//          descheduled owner gets the core, and sleeps (futex) when that was in vain for long: to sleep and to be woken
//          costs more than any critical section. Whoever is awake may take the lock before a sleeper that was woken, so
//          there is no convoy. The owner gives it back with a plain store and then reads `sleepers`, with no fence
//          between: the sleeper makes up for that with heavy_fence(), as in doorbell.hpp. `elide()` turns the lock off
//          for a process with one thread.
// Work:    a thread that must not wait (MPI_Pready) leaves what it wants done under the lock, and goes: whoever gives the lock
//          back looks whether something was left, and takes it again for that (flat combining). Who leaves something looks at
//          the lock afterwards; both have a fence between, so one of them sees the other. That is a fence for each who gives
//          back a lock at which work is expected, and for nobody else.
// Cost:    one locked instruction to take, a store and a load to give back; a predicted branch each when elided. Where work is
//          expected, a fence and another load to give back.
#pragma once

#include <atomic>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "base/ablation.hpp"
#include "base/annotations.hpp"
#include "base/atomics.hpp"
#include "base/push_stack.hpp"

namespace heddle {

// What is to be done under a lock by whoever has it.
struct LockedWork {
  enum class Next {
    kDone,     // and it may be gone
    kOutside,  // call it again, without the lock
    kInside,   // call it again, with the lock, which others may take before
  };
  // `inside`: with the lock, which it must not give back. Else without, and it must not take it.
  Next (*run)(LockedWork&, bool inside) = nullptr;
  LockedWork* next = nullptr;  // the lock's own
};

template <class Atomics = StdAtomics, int kLooks = 7, int kYields = 64>
class CAPABILITY("mutex") BasicLock {
 public:
  // REQUIRES: no other thread uses the lock yet.
  void elide() noexcept { elided_ = true; }

  bool try_lock() noexcept TRY_ACQUIRE(true) { return elided_ || take(); }

  void lock() noexcept ACQUIRE() {
    if (elided_) return;
    std::uint32_t expected = kFree;
    if (!word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed)) {
      lock_slow();
    }
  }

  void unlock() noexcept RELEASE() {
    if (unlock_quietly()) [[unlikely]]
      wake();
  }
  // unlock() in two steps, for a caller with something to do between them. True: somebody sleeps or may have left work,
  // call wake() soon.
  [[nodiscard]] bool unlock_quietly() noexcept RELEASE() {
    if (elided_) return false;
    word_.store(kFree, std::memory_order_release);
    Atomics::light_fence();
    return sleepers_.load(std::memory_order_relaxed) != 0;
  }
  [[gnu::noinline, gnu::cold]] void wake() noexcept {
    if (sleepers_.load(std::memory_order_relaxed) >= kExpectsWork) do_work();
    wake_sleeper();
  }

  // Before the first leave(): from now on every unlock() is followed by a fence and a look.
  void expect_work() noexcept REQUIRES(this) {
    if (sleepers_.load(std::memory_order_relaxed) < kExpectsWork) {
      sleepers_.fetch_add(kExpectsWork, std::memory_order_relaxed);
    }
  }
  // After a try_lock() in vain: has the work done by whoever holds the lock, or now; does not wait.
  void leave(LockedWork& work) noexcept {
    work_.push(work);
    do_work();
  }

 private:
  static constexpr std::uint32_t kFree = 0, kHeld = 1;
  static constexpr std::uint32_t kExpectsWork = 1U << 31;  // in the count of sleepers: as if there were always one
  static constexpr std::int64_t kSleepNs = 1'000'000;  // short, for where heavy_fence() is refused; else a wake ends it

  [[gnu::noinline]] void lock_slow() noexcept {
    for (int i = 0; i < kLooks + kYields; ++i) {
      if (i >= kLooks) Atomics::yield();
      for (int pauses = i < kLooks ? 1 << i : 0; pauses != 0; --pauses) Atomics::pause();
      if (take()) return;
    }
    sleepers_.fetch_add(1, std::memory_order_seq_cst);
    Atomics::heavy_fence();
    while (!take()) Atomics::futex_wait(word_, kHeld, kSleepNs);
    sleepers_.fetch_sub(1, std::memory_order_relaxed);
  }

  void wake_sleeper() noexcept {
    if (sleepers_.load(std::memory_order_relaxed) % kExpectsWork != 0) Atomics::futex_wake(word_, 1);
  }

  // All that is left, unless another thread has the lock, who will look. The fence is between what this thread has left, or the
  // lock that it has given back, and its looks.
  void do_work() noexcept {
    for (;;) {
      Atomics::fence(std::memory_order_seq_cst);
      if (work_.first() == nullptr || !take()) return;
      LockedWork* outside = run_all(work_.take_oldest_first(), true);
      word_.store(kFree, std::memory_order_release);
      Atomics::light_fence();
      wake_sleeper();
      while (outside != nullptr) outside = run_all(outside, false);
    }
  }
  // Returns what is to go on outside; what is to go on inside is left again.
  LockedWork* run_all(LockedWork* work, bool inside) noexcept {
    LockedWork *outside = nullptr, **end = &outside;
    while (work != nullptr) {
      LockedWork& one = *std::exchange(work, work->next);
      const LockedWork::Next next = one.run(one, inside);
      if (next == LockedWork::Next::kInside) work_.push(one);
      if (next != LockedWork::Next::kOutside) continue;
      one.next = nullptr;
      *std::exchange(end, &one.next) = &one;
    }
    return outside;
  }

  bool take() noexcept {
    std::uint32_t expected = kFree;
    return word_.load(std::memory_order_relaxed) == kFree &&
           word_.compare_exchange_strong(expected, kHeld, std::memory_order_acquire, std::memory_order_relaxed);
  }

  typename Atomics::template atomic<std::uint32_t> word_{kFree};
  typename Atomics::template atomic<std::uint32_t> sleepers_{0};
  bool elided_ = false;
  BasicPushStack<LockedWork, &LockedWork::next, Atomics> work_;
};

// One for all, for Without::kFineLocks. A thread may hold it several times.
class CAPABILITY("mutex") TheOneLock {
 public:
  void elide() noexcept { elided_ = true; }
  bool try_lock() noexcept TRY_ACQUIRE(true) {
    if (elided_) return true;
    if (depth_ == 0 && !lock_.try_lock()) return false;
    ++depth_;
    return true;
  }
  void lock() noexcept ACQUIRE() {
    if (elided_) return;
    if (depth_ == 0) lock_.lock();
    ++depth_;
  }
  void unlock() noexcept RELEASE() {
    if (!elided_ && --depth_ == 0) lock_.unlock();
  }
  [[nodiscard]] bool unlock_quietly() noexcept RELEASE() {
    unlock();
    return false;
  }
  void wake() noexcept {}
  void expect_work() noexcept {}
  void leave(LockedWork& work) noexcept {
    lock();
    for (auto next = LockedWork::Next::kInside; next != LockedWork::Next::kDone;) {
      next = work.run(work, next == LockedWork::Next::kInside);
    }
    unlock();
  }

 private:
  inline static BasicLock<> lock_;
  inline static thread_local int depth_ = 0;
  bool elided_ = false;
};

using Lock = std::conditional_t<kWithout == Without::kFineLocks, TheOneLock, BasicLock<>>;

template <class Mutex = Lock>
class SCOPED_CAPABILITY LockGuard {
 public:
  explicit LockGuard(Mutex& lock) noexcept ACQUIRE(lock) : lock_(lock) { lock_.lock(); }
  ~LockGuard() RELEASE() { lock_.unlock(); }
  LockGuard(const LockGuard&) = delete;
  LockGuard& operator=(const LockGuard&) = delete;

 private:
  Mutex& lock_;
};

}  // namespace heddle
