// The lock and the doorbell under every interleaving up to a bound, with stale values: nobody is left asleep, nobody is
// let in twice; and with one ordering taken away, the model finds it.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/doorbell.hpp"
#include "base/lock.hpp"
#include "base/model/broken.hpp"

namespace heddle {
namespace {

using model::expect_found;
using model::expect_right;
using model::Plain;
using model::Program;
using model::Result;
using model::Untimed;
using model::Weak;
using model::Weakened;
using model::WithoutHeavyFence;
using model::WithoutWake;

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
    expect_right(one_sleeper<Untimed>(senders));
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
  expect_right(result);
}

TEST(Doorbell, TheHeavyFenceAndTheWakeAreNeeded) {
  expect_found(one_sleeper<WithoutHeavyFence>(1), model::kLost);
  expect_found(one_sleeper<WithoutWake>(1), model::kLost);
}

template <class Atomics>
Result counters(int threads) {
  struct State {
    BasicLock<Atomics, 0, 0> lock;  // in the model a spin waits for the owner, and then nobody would sleep
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
    expect_right(counters<Untimed>(threads));
  }
}

TEST(Lock, TheWakeIsNeeded) { expect_found(counters<WithoutWake>(2), model::kLost); }
TEST(Lock, TheSleepersHeavyFenceIsNeeded) { expect_found(counters<WithoutHeavyFence>(2), model::kLost); }
TEST(Lock, TakingItInTwoStepsLetsTwoIn) { expect_found(counters<Weakened<1, Weak::kHalves>>(2), model::kRace); }
TEST(Lock, TakingItMustAcquireAndGivingItBackRelease) {
  expect_found(counters<Weakened<1, Weak::kUpdates>>(2), model::kRace);
  expect_found(counters<Weakened<1, Weak::kStores>>(2), model::kRace);
}

// Off for a process with one thread: no atomic operation is left. With a second thread it does not exclude.
TEST(Lock, ElidedItIsFreeAndExcludesNobody) {
  const auto run = [](int threads) {
    struct State {
      BasicLock<Untimed, 0, 0> lock;
      Plain<int> count{0};
    };
    return model::explore([threads](Program& program) {
      const auto s = std::make_shared<State>();
      s->lock.elide();
      for (int i = 0; i < threads; ++i) {
        program.thread([s] {
          s->lock.lock();
          model::check(s->lock.try_lock(), "an elided lock is always free");
          s->count.set(s->count.get() + 1);
          s->lock.unlock();
          s->lock.unlock();
        });
      }
    });
  };
  const Result alone = run(1);
  expect_right(alone);
  EXPECT_EQ(alone.executions, 1u);
  expect_found(run(2), model::kRace);
}

TEST(Lock, TryLockExcludesToo) {
  const Result result = model::explore([](Program& program) {
    struct State {
      BasicLock<Untimed, 1, 0> lock;
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
  expect_right(result);
}

}  // namespace
}  // namespace heddle
