// The lock and the doorbell under every interleaving up to a bound, with stale values: nobody is left asleep, nobody is
// let in twice; and with one ordering taken away, the model finds it.
#include <gtest/gtest.h>

#include <memory>

#include "base/doorbell.hpp"
#include "base/lock.hpp"
#include "base/model/model_atomics.hpp"

namespace heddle {
namespace {

using model::ModelAtomics;
using model::Plain;
using model::Program;
using model::Result;

// Sleeps have no time limit here: one that relies on its limit is a lost wake-up.
struct Untimed : ModelAtomics {
  static void futex_wait(const atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t) noexcept {
    ModelAtomics::futex_wait(word, expected, -1);
  }
};
struct WithoutHeavyFence : Untimed {
  static void heavy_fence() noexcept {}
};
struct WithoutWake : Untimed {
  static void futex_wake(const atomic<std::uint32_t>&, int) noexcept {}
};

// `senders` messages, each with its ring, for one sleeper.
template <class Atomics>
Result one_sleeper(int senders) {
  struct State {
    BasicDoorbell<Atomics> bell;
    typename Atomics::template atomic<int> messages[2];
  };
  return model::explore([senders](Program& program) {
    const auto s = std::make_shared<State>();
    for (int i = 0; i < senders; ++i) {
      program.thread([s, i] {
        s->messages[i].store(1, std::memory_order_release);
        s->bell.ring();
      });
    }
    program.thread([s, senders] {
      for (int i = 0; i < senders; ++i) {
        const auto here = [s = s.get(), i] { return s->messages[i].load(std::memory_order_acquire) != 0; };
        while (!here()) s->bell.sleep(1, here);
      }
    });
  });
}

TEST(Doorbell, NoWakeUpIsLost) {
  for (int senders : {1, 2}) {
    const Result result = one_sleeper<Untimed>(senders);
    EXPECT_FALSE(result.failed) << result.report;
    EXPECT_TRUE(result.complete);
  }
}

TEST(Doorbell, TwoSleepersBothWake) {
  const Result result = model::explore([](Program& program) {
    struct State {
      BasicDoorbell<Untimed> bell;
      Untimed::atomic<int> message{0};
    };
    const auto s = std::make_shared<State>();
    program.thread([s] {
      s->message.store(1, std::memory_order_release);
      s->bell.ring();
    });
    for (int i = 0; i < 2; ++i) {
      program.thread([s] {
        const auto here = [s = s.get()] { return s->message.load(std::memory_order_acquire) != 0; };
        while (!here()) s->bell.sleep(1, here);
      });
    }
  });
  EXPECT_FALSE(result.failed) << result.report;
  EXPECT_TRUE(result.complete);
}

TEST(Doorbell, TheHeavyFenceAndTheWakeAreNeeded) {
  EXPECT_TRUE(one_sleeper<WithoutHeavyFence>(1).failed);
  EXPECT_TRUE(one_sleeper<WithoutWake>(1).failed);
}

template <class Atomics>
Result counters(int threads) {
  struct State {
    BasicLock<Atomics, 0> lock;  // in the model a spin waits for the owner, and then nobody would sleep
    Plain<int> count{0};
  };
  return model::explore([threads](Program& program) {
    const auto s = std::make_shared<State>();
    for (int i = 0; i < threads; ++i) {
      program.thread([s] {
        s->lock.lock();
        s->count.set(s->count.get() + 1);
        s->lock.unlock();
      });
    }
    program.finally([s, threads] {
      model::check(s->count.get() == threads, "every thread was counted");
      model::check(s->lock.try_lock(), "the lock is free at the end");
    });
  });
}

TEST(Lock, ExcludesAndLeavesNobodyAsleep) {
  for (int threads : {2, 3}) {
    const Result result = counters<Untimed>(threads);
    EXPECT_FALSE(result.failed) << result.report;
    EXPECT_TRUE(result.complete);
  }
}

TEST(Lock, TheWakeIsNeeded) { EXPECT_TRUE(counters<WithoutWake>(2).failed); }

TEST(Lock, TryLockExcludesToo) {
  const Result result = model::explore([](Program& program) {
    struct State {
      BasicLock<Untimed, 1> lock;
      Plain<int> count{0};
    };
    const auto s = std::make_shared<State>();
    for (int i = 0; i < 2; ++i) {
      program.thread([s] {
        if (!s->lock.try_lock()) return;
        s->count.set(s->count.get() + 1);
        s->lock.unlock();
      });
    }
    program.finally([s] { model::check(s->count.get() >= 1, "one of them got it"); });
  });
  EXPECT_FALSE(result.failed) << result.report;
  EXPECT_TRUE(result.complete);
}

}  // namespace
}  // namespace heddle
