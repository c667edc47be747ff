// The lock of a window under every interleaving up to a bound, with stale values: writers are alone, no reader is lost,
// whoever waits comes in, and nobody sleeps on when the lock is given back.
#include "rma/lock_word.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/doorbell.hpp"
#include "base/model/broken.hpp"
#include "rma/sleepers.hpp"

namespace heddle::rma {
namespace {

using model::expect_found;
using model::expect_right;
using model::Options;
using model::Plain;
using model::Program;
using model::Result;
using model::Untimed;
using model::Weak;
using model::Weakened;

template <class Atomics>
struct Shared {
  BasicLockWord<Atomics> lock;
  BasicSleepers<Atomics> sleepers;
  BasicDoorbell<Atomics> bells[3];
  Plain<int> value{0};
  int writers = 0, readers = 0;
};

// Reading and writing in turns of the model's choice; a waiter spins.
template <class Atomics>
Result spinning(int writers, int readers, Options options = {}) {
  return model::explore(
      [writers, readers](Program& program) {
        const auto s = std::make_shared<Shared<Atomics>>();
        for (int i = 0; i < writers; ++i) {
          program.thread([s] {
            if (!s->lock.try_exclusive(false)) {
              s->lock.wait_for_it();
              while (!s->lock.try_exclusive(true)) Atomics::pause();
            }
            s->value.set(s->value.get() + 1);
            s->lock.unlock_exclusive();
          });
        }
        for (int i = 0; i < readers; ++i) {
          program.thread([s] {
            const auto reader = s->lock.come();
            while (!s->lock.try_shared(reader)) Atomics::pause();
            const int seen = s->value.get();
            model::check(seen == s->value.get(), "nobody writes while one reads");
            s->lock.unlock_shared();
          });
        }
        program.finally([s, writers] {
          model::check(s->value.get() == writers, "every writer has been in");
          model::check(s->lock.is_idle(), "nothing is left in the word");
        });
      },
      options);
}

TEST(LockWord, WritersAreAlone) {
  expect_right(spinning<Untimed>(2, 0));
  expect_right(spinning<Untimed>(3, 0));
}
TEST(LockWord, WritersAndReadersExcludeEachOther) {
  expect_right(spinning<Untimed>(1, 1));
  expect_right(spinning<Untimed>(1, 2));
  expect_right(spinning<Untimed>(2, 1));
}
TEST(LockWord, TakingItInTwoStepsOrWithoutAcquireIsFound) {
  expect_found((spinning<Weakened<1, Weak::kHalves>>(2, 0)), model::kAnything);
  expect_found((spinning<Weakened<1, Weak::kUpdates>>(2, 0)), model::kRace);
  expect_found((spinning<Weakened<2, Weak::kUpdates>>(1, 1)), model::kRace);
}

TEST(LockWord, ReadersAreInTogether) {
  expect_right(model::explore([](Program& program) {
    const auto s = std::make_shared<Shared<Untimed>>();
    for (int i = 0; i < 3; ++i) {
      program.thread([s] {
        model::check(s->lock.try_shared(s->lock.come()), "no writer is there");
        s->lock.unlock_shared();
      });
    }
    program.finally([s] { model::check(s->lock.is_idle(), "every reader has gone"); });
  }));
}

// Readers come and go for ever; those that come after the writer wait for it.
TEST(LockWord, AWaitingWriterComesBeforeLaterReaders) {
  BasicLockWord<> lock;
  ASSERT_TRUE(lock.try_shared(lock.come()));
  ASSERT_FALSE(lock.try_exclusive(false));
  lock.wait_for_it();
  const auto late = lock.come();
  EXPECT_FALSE(lock.try_shared(late));
  EXPECT_FALSE(lock.try_exclusive(true));
  lock.unlock_shared();
  EXPECT_FALSE(lock.try_shared(late)) << "it is free, but the writer was first";
  ASSERT_TRUE(lock.try_exclusive(true));
  EXPECT_FALSE(lock.try_shared(late));
  lock.unlock_exclusive();
  EXPECT_TRUE(lock.try_shared(late));
  lock.unlock_shared();
  EXPECT_TRUE(lock.is_idle());
}

TEST(LockWord, AReaderWaitsForAtMostSoManyWriters) {
  BasicLockWord<> lock;
  const auto reader = lock.come();
  lock.wait_for_it();  // one waits all the time
  for (std::uint32_t turn = 0; turn < BasicLockWord<>::kTurns; ++turn) {
    EXPECT_FALSE(lock.try_shared(reader)) << turn;
    ASSERT_TRUE(lock.try_exclusive(false));
    EXPECT_FALSE(lock.try_shared(reader));
    lock.unlock_exclusive();
  }
  EXPECT_TRUE(lock.try_shared(reader));
  EXPECT_FALSE(lock.try_shared(lock.come())) << "a later one's turn has not come";
  EXPECT_FALSE(lock.try_exclusive(true));
  lock.unlock_shared();
  lock.leave();
  EXPECT_TRUE(lock.is_idle());
}

TEST(LockWord, WhoGivesUpLeavesNothingBehind) {
  expect_right(model::explore([](Program& program) {
    const auto s = std::make_shared<Shared<Untimed>>();
    program.thread([s] {
      s->lock.wait_for_it();
      if (s->lock.try_exclusive(true)) {
        s->lock.unlock_exclusive();
      } else {
        s->lock.leave();
      }
    });
    for (int i = 0; i < 2; ++i) {
      program.thread([s] {
        const auto reader = s->lock.come();
        while (!s->lock.try_shared(reader)) Untimed::pause();
        s->lock.unlock_shared();
      });
    }
    program.finally([s] { model::check(s->lock.is_idle(), "nothing is left in the word"); });
  }));
}

enum class Skip { kNothing, kSecondLook, kRing };

// As passive.cpp waits: each thread is a process with a bell of its own.
template <class Atomics>
Result sleeping(int writers, int readers, Skip skip = Skip::kNothing) {
  return model::explore([=](Program& program) {
    const auto s = std::make_shared<Shared<Atomics>>();
    const auto wait = [s = s.get(), skip](std::uint32_t self, auto ask) {
      const auto done = [&] { return ask() || (s->sleepers.put_up(self) && skip != Skip::kSecondLook && ask()); };
      bool taken = done();
      while (!taken) s->bells[self].sleep(1, [&] { return taken = done(); });
    };
    const auto wake = [s = s.get(), skip] {
      s->sleepers.wake(3, [&](std::uint32_t region) {
        if (skip != Skip::kRing) s->bells[region].ring();
      });
    };
    for (int i = 0; i < writers + readers; ++i) {
      const auto self = static_cast<std::uint32_t>(i);
      program.thread([s = s.get(), wait, wake, self, writes = i < writers] {
        if (writes) {
          if (!s->lock.try_exclusive(false)) {
            s->lock.wait_for_it();
            wait(self, [&] { return s->lock.try_exclusive(true); });
          }
          s->value.set(s->value.get() + 1);
          s->lock.unlock_exclusive();
        } else {
          wait(self, [&, reader = s->lock.come()] { return s->lock.try_shared(reader); });
          s->value.get();
          s->lock.unlock_shared();
        }
        wake();
      });
    }
    program.finally([s] { model::check(s->lock.is_idle(), "nothing is left in the word"); });
  });
}

TEST(Sleepers, NoWakeUpIsLost) {
  expect_right(sleeping<Untimed>(2, 0));
  expect_right(sleeping<Untimed>(1, 1));
  expect_right(sleeping<Untimed>(1, 2));
  expect_right(sleeping<Untimed>(2, 1));
}
TEST(Sleepers, TheSecondLookTheRingAndTheFencesAreNeeded) {
  expect_found(sleeping<Untimed>(2, 1, Skip::kSecondLook), model::kLost);
  expect_found(sleeping<Untimed>(2, 0, Skip::kRing), model::kLost);
  expect_found(sleeping<model::WithoutHeavyFence>(2, 0), model::kLost);
  expect_found(sleeping<Weakened<1, Weak::kLoads>>(2, 1), model::kLost);  // who gives it back
  expect_found(sleeping<Weakened<3, Weak::kLoads>>(2, 1), model::kLost);  // who looks again
}
// Those that wait behind a writer that gives up are woken by it.
TEST(Sleepers, AWriterThatGivesUpWakesThoseBehindIt) {
  const auto run = [](bool wakes) {
    return model::explore([wakes](Program& program) {
      const auto s = std::make_shared<Shared<Untimed>>();
      s->lock.wait_for_it();
      program.thread([s, wakes] {
        s->lock.leave();
        if (wakes) s->sleepers.wake(3, [&](std::uint32_t region) { s->bells[region].ring(); });
      });
      program.thread([s] {
        const auto reader = s->lock.come();
        const auto done = [&] {
          return s->lock.try_shared(reader) || (s->sleepers.put_up(1) && s->lock.try_shared(reader));
        };
        bool taken = done();
        while (!taken) s->bells[1].sleep(1, [&] { return taken = done(); });
        s->lock.unlock_shared();
      });
      program.finally([s] { model::check(s->lock.is_idle(), "nothing is left in the word"); });
    });
  };
  expect_right(run(true));
  expect_found(run(false), model::kLost);
}

static_assert(sizeof(BasicLockWord<Untimed>) == sizeof(LockWord), "the model tests the real layout");

}  // namespace
}  // namespace heddle::rma
