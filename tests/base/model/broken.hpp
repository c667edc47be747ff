// Atomics policies with one thing taken away, and what a test of the model says about its result.
//
// Lock-free code is right when the model finds nothing wrong with it, and the model is worth that only if it finds the
// code wrong with one ordering less. A broken policy breaks one logical thread (numbered from 1, in the order of
// Program::thread), what a test chooses by address, or, where it says so, all.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <string>

#include "base/model/model_atomics.hpp"

namespace heddle::model {

// Sleeps have no time limit: one that relies on its limit is a lost wake-up.
struct Untimed : ModelAtomics {
  static void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t) noexcept {
    ModelAtomics::futex_wait(word, expected, -1);
  }
};
struct WithoutHeavyFence : Untimed {
  static void heavy_fence() noexcept {}
};
struct WithWeakFence : Untimed {
  static void fence(std::memory_order) noexcept { Untimed::fence(std::memory_order_acq_rel); }
};
struct WithoutWake : Untimed {
  static void futex_wake(const atomic<std::uint32_t>&, int) noexcept {}
};

enum class Weak {
  kNothing,
  kStores,   // relaxed
  kLoads,    // relaxed
  kLooks,    // loads that are sequentially consistent: acquire
  kUpdates,  // exchanges and compare-and-swaps: relaxed
  kHalves,   // the same, as a load and a store
  kCounts,   // additions and subtractions: relaxed
};

// `Of::has(address, bytes)`: it is one of those that are weak.
template <class Of, Weak kWeak, class From = Untimed>
struct WeakenedIf : From {
  template <class T>
  class atomic : public From::template atomic<T> {
   public:
    using Base = typename From::template atomic<T>;
    using Base::Base;
    T load(std::memory_order order) const noexcept {
      if (here(Weak::kLooks) && order == std::memory_order_seq_cst) order = std::memory_order_acquire;
      return Base::load(here(Weak::kLoads) ? relaxed : order);
    }
    void store(T value, std::memory_order order) noexcept { Base::store(value, here(Weak::kStores) ? relaxed : order); }
    T exchange(T value, std::memory_order order) noexcept {
      if (here(Weak::kHalves)) {
        const T before = Base::load(std::memory_order_acquire);
        Base::store(value, std::memory_order_release);
        return before;
      }
      return Base::exchange(value, here(Weak::kUpdates) ? relaxed : order);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
      if (here(Weak::kHalves)) {
        const T before = Base::load(std::memory_order_acquire);
        if (before != expected) return expected = before, false;
        Base::store(desired, std::memory_order_release);
        return true;
      }
      if (here(Weak::kUpdates)) success = failure = relaxed;
      return Base::compare_exchange_strong(expected, desired, success, failure);
    }
    bool compare_exchange_weak(T& expected, T desired, std::memory_order success, std::memory_order failure) noexcept {
      return compare_exchange_strong(expected, desired, success, failure);
    }
    template <class U>
    T fetch_add(U n, std::memory_order order) noexcept {
      return Base::fetch_add(n, here(Weak::kCounts) ? relaxed : order);
    }
    template <class U>
    T fetch_sub(U n, std::memory_order order) noexcept {
      return Base::fetch_sub(n, here(Weak::kCounts) ? relaxed : order);
    }

   private:
    static constexpr auto relaxed = std::memory_order_relaxed;
    bool here(Weak access) const {
      return kWeak == access && Scheduler::current() != nullptr && Of::has(this, sizeof(T));
    }
  };
};

template <std::size_t kThread>
struct OfThread {
  static bool has(const void*, std::size_t) { return Scheduler::current()->self() == kThread; }
};
template <std::size_t kThread, Weak kWeak, class From = Untimed>
using Weakened = WeakenedIf<OfThread<kThread>, kWeak, From>;

inline constexpr const char* kRace = "data race";
inline constexpr const char* kLost = "every thread waits";  // a lost wake-up, or something that never comes
inline constexpr const char* kAnything = "";

// What happened, and the end of how it came to that.
inline std::string ending(const Result& result) {
  constexpr std::size_t kMost = 4000;
  const std::string& report = result.report;
  if (report.size() <= kMost) return report;
  return report.substr(0, report.find('\n')) + "\n  ...\n" +
         report.substr(report.find('\n', report.size() - kMost) + 1);
}

// Nothing is wrong within the bounds, and all executions within them were tried.
inline void expect_right(const Result& result) {
  EXPECT_FALSE(result.failed) << "in execution " << result.executions << ": " << ending(result);
  EXPECT_TRUE(result.failed || result.complete) << "not all was tried in " << result.executions << " executions";
  std::printf("             %zu executions\n", result.executions);
}

// The seeded bug is found, as what it is.
inline void expect_found(const Result& result, const char* as = kAnything) {
  ASSERT_TRUE(result.failed) << "not found in " << result.executions << " executions";
  EXPECT_NE(result.report.find(as), std::string::npos) << ending(result);
  std::printf("             found in execution %zu: %s\n", result.executions,
              result.report.substr(0, result.report.find('\n')).c_str());
}

}  // namespace heddle::model
