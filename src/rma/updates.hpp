// How the words of a window's member are updated: by hardware, or under the locks of their stripes; and how all who update them go over
// from the one to the other at once.
//
// Problem: a single word is soonest updated by an instruction, a long row under a lock: 5 ns a word, word by word, where a
//          lock lets it have the speed of memory. Both at
//          once lose updates, what is under way cannot be seen, and two more locked instructions to show it are what a single word costs.
// Method:  whoever updates by hardware says so in a line of its own process with plain stores, and then looks which way holds; whoever
//          changes it says so first, has every thread of the node pass a fence (futex.hpp), and then looks whether somebody is still at
//          it. If so for long, as one may be stopped there, all stays as it was. Whoever comes meanwhile waits for what comes of it.
//          Locks are for ever.
// Threads: any of any process that has it mapped. A change has one at a time, under a lock that outlives its holder.
// Order:   end() releases what was updated, the change's look acquires that, and what it stores then hands it on to begin().
// Source:  the fence as in base/doorbell.hpp; the choice in docs/decisions/windows.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

#include "base/atomics.hpp"
#include "base/cpu.hpp"
#include "rma/robust_lock.hpp"

namespace heddle::rma {

// `Mutex`: its lock() succeeds also where the holder has died. `kRounds`: of a look at one process; some microseconds.
template <class Atomics = StdAtomics, class Mutex = RobustLock, unsigned kRounds = 256>
class BasicUpdates {
 public:
  // Of a process: how many of its threads update by hardware.
  class Busy {
   public:
    bool is_idle() const noexcept { return threads_.load(std::memory_order_acquire) == 0; }

   private:
    friend BasicUpdates;
    typename Atomics::template atomic<std::uint32_t> threads_{0};
  };

  // Before anybody updates.
  void lock_always() noexcept { way_.store(kLocks, std::memory_order_relaxed); }
  bool is_by_locks() const noexcept { return way_.load(std::memory_order_acquire) == kLocks; }

  // True: by hardware, until end(). False: under locks. `alone`: this process has one thread that updates.
  bool begin(Busy& own, bool alone) noexcept {
    for (;;) {
      if (alone) {
        own.threads_.store(1, std::memory_order_relaxed);
        Atomics::light_fence();
      } else {
        own.threads_.fetch_add(1, std::memory_order_seq_cst);
      }
      const std::uint32_t way = way_.load(std::memory_order_acquire);
      if (way == kHardware) [[likely]]
        return true;
      end(own, alone);
      if (way == kLocks) return false;
      wait_for_change();
    }
  }
  void end(Busy& own, bool alone) noexcept {
    if (alone) {
      own.threads_.store(0, std::memory_order_release);
    } else {
      own.threads_.fetch_sub(1, std::memory_order_release);
    }
  }

  // From hardware to locks; false: somebody is updating and does not get on. `for_each(look)` calls look(Busy&) of each process that has
  // this mapped, until one is false. REQUIRES: all of them have the heavy fence; this thread is not between begin() and end().
  template <class ForEach>
  bool change(ForEach&& for_each) noexcept {
    std::lock_guard guard(mutex_);
    if (way_.load(std::memory_order_relaxed) == kLocks) return true;
    way_.store(kChanging, std::memory_order_relaxed);
    Atomics::heavy_fence();
    const bool all_idle = for_each([](Busy& busy) {
      for (unsigned round = 0; !busy.is_idle(); ++round) {
        if (round == kRounds) return false;
        Atomics::pause();
      }
      return true;
    });
    way_.store(all_idle ? kLocks : kHardware, std::memory_order_release);
    return all_idle;
  }

 private:
  enum : std::uint32_t { kHardware, kChanging, kLocks };

  void wait_for_change() noexcept {
    for (unsigned round = 0; round < kRounds; ++round) {
      if (way_.load(std::memory_order_relaxed) != kChanging) return;
      Atomics::pause();
    }
    std::lock_guard guard(mutex_);
    // Nobody is changing it: who was has died.
    if (way_.load(std::memory_order_relaxed) == kChanging) way_.store(kHardware, std::memory_order_release);
  }

  typename Atomics::template atomic<std::uint32_t> way_{kHardware};
  Mutex mutex_;
};
using Updates = BasicUpdates<>;

}  // namespace heddle::rma
