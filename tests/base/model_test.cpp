// The model of memory and scheduling must itself be right: what C++ allows is found, what it forbids is never seen.
#include <gtest/gtest.h>

#include <set>

#include "base/model/model_atomics.hpp"

namespace heddle::model {
namespace {

using Atomic = ModelAtomics::atomic<int>;
constexpr auto kRelaxed = std::memory_order_relaxed;
constexpr auto kAcquire = std::memory_order_acquire;
constexpr auto kRelease = std::memory_order_release;
constexpr auto kAcqRel = std::memory_order_acq_rel;
constexpr auto kSeqCst = std::memory_order_seq_cst;

struct Two {
  Atomic x{0}, y{0};
  Plain<int> data{0};
  int a = -1, b = -1, c = -1, d = -1;
};

// All outcomes (a, b, c, d) that a program of two variables can have.
using Outcomes = std::set<std::vector<int>>;
Outcomes outcomes(std::vector<std::function<void(Two&)>> threads, Options options = {}) {
  Outcomes out;
  const Result result = explore(
      [&](Program& program) {
        const auto two = std::make_shared<Two>();
        for (const auto& body : threads) program.thread([two, &body] { body(*two); });
        program.finally([two, &out] { out.insert({two->a, two->b, two->c, two->d}); });
      },
      options);
  EXPECT_FALSE(result.failed) << result.report;
  EXPECT_TRUE(result.complete);
  return out;
}

Outcomes message_passing(std::memory_order store, std::memory_order load) {
  return outcomes({[store](Two& t) {
                     t.x.store(1, kRelaxed);
                     t.y.store(1, store);
                   },
                   [load](Two& t) {
                     t.a = t.y.load(load);
                     t.b = t.x.load(kRelaxed);
                   }});
}

TEST(Litmus, MessagePassing) {
  const std::vector<int> stale = {1, 0, -1, -1};
  EXPECT_TRUE(message_passing(kRelaxed, kRelaxed).contains(stale));
  EXPECT_TRUE(message_passing(kRelease, kRelaxed).contains(stale));
  EXPECT_TRUE(message_passing(kRelaxed, kAcquire).contains(stale));
  const Outcomes ordered = {{0, 0, -1, -1}, {0, 1, -1, -1}, {1, 1, -1, -1}};
  EXPECT_EQ(message_passing(kRelease, kAcquire), ordered);
  EXPECT_EQ(message_passing(kSeqCst, kSeqCst), ordered);
}

TEST(Litmus, MessagePassingWithFences) {
  const auto program = [](bool release, bool acquire) {
    return outcomes({[release](Two& t) {
                       t.x.store(1, kRelaxed);
                       if (release) ModelAtomics::fence(kRelease);
                       t.y.store(1, kRelaxed);
                     },
                     [acquire](Two& t) {
                       t.a = t.y.load(kRelaxed);
                       if (acquire) ModelAtomics::fence(kAcquire);
                       t.b = t.x.load(kRelaxed);
                     }});
  };
  const std::vector<int> stale = {1, 0, -1, -1};
  EXPECT_FALSE(program(true, true).contains(stale));
  EXPECT_TRUE(program(false, true).contains(stale));
  EXPECT_TRUE(program(true, false).contains(stale));
}

Outcomes store_buffering(std::memory_order order, std::function<void()> between_1, std::function<void()> between_2) {
  return outcomes({[=](Two& t) {
                     t.x.store(1, order);
                     between_1();
                     t.a = t.y.load(order == kRelease ? kAcquire : order);
                   },
                   [=](Two& t) {
                     t.y.store(1, order);
                     between_2();
                     t.b = t.x.load(order == kRelease ? kAcquire : order);
                   }});
}

TEST(Litmus, StoreBuffering) {
  const std::vector<int> both_old = {0, 0, -1, -1};
  const auto nothing = [] {};
  const auto full = [] { ModelAtomics::fence(kSeqCst); };
  const auto weak = [] { ModelAtomics::fence(kAcqRel); };
  EXPECT_TRUE(store_buffering(kRelaxed, nothing, nothing).contains(both_old));
  EXPECT_TRUE(store_buffering(kRelease, nothing, nothing).contains(both_old));
  EXPECT_TRUE(store_buffering(kRelaxed, weak, weak).contains(both_old));
  EXPECT_TRUE(store_buffering(kRelaxed, full, nothing).contains(both_old)) << "one fence is not enough";
  EXPECT_FALSE(store_buffering(kRelaxed, full, full).contains(both_old));
  EXPECT_FALSE(store_buffering(kSeqCst, nothing, nothing).contains(both_old));
}

TEST(Litmus, AFenceInEveryThreadReplacesTheOtherThreadsFence) {
  const std::vector<int> both_old = {0, 0, -1, -1};
  const auto nothing = [] {};
  const auto heavy = [] { ModelAtomics::heavy_fence(); };
  EXPECT_FALSE(store_buffering(kRelaxed, heavy, nothing).contains(both_old));
}

TEST(Litmus, ValuesOfOneLocationNeverGoBack) {
  const Outcomes seen = outcomes({[](Two& t) {
                                    t.x.store(1, kRelaxed);
                                    t.x.store(2, kRelaxed);
                                  },
                                  [](Two& t) {
                                    t.a = t.x.load(kRelaxed);
                                    t.b = t.x.load(kRelaxed);
                                  }});
  for (const std::vector<int>& o : seen) EXPECT_LE(o[0], o[1]);
  EXPECT_EQ(seen.size(), 6u) << "00 01 02 11 12 22";
}

TEST(Litmus, IndependentReadsOfIndependentWrites) {
  const auto program = [](std::memory_order store, std::memory_order load) {
    return outcomes({[=](Two& t) { t.x.store(1, store); }, [=](Two& t) { t.y.store(1, store); },
                     [=](Two& t) {
                       t.a = t.x.load(load);
                       t.b = t.y.load(load);
                     },
                     [=](Two& t) {
                       t.c = t.y.load(load);
                       t.d = t.x.load(load);
                     }});
  };
  const std::vector<int> disagree = {1, 0, 1, 0};
  EXPECT_TRUE(program(kRelease, kAcquire).contains(disagree));
  EXPECT_FALSE(program(kSeqCst, kSeqCst).contains(disagree));
}

TEST(Litmus, AReadModifyWriteCarriesTheReleaseThatItFollows) {
  const auto program = [](bool plain_store_between) {
    return outcomes({[](Two& t) {
                       t.x.store(1, kRelaxed);
                       t.y.store(1, kRelease);
                     },
                     [=](Two& t) {
                       if (plain_store_between) {
                         t.y.store(2, kRelaxed);
                       } else {
                         t.c = t.y.fetch_add(1, kRelaxed);
                       }
                     },
                     [](Two& t) {
                       t.a = t.y.load(kAcquire);
                       t.b = t.x.load(kRelaxed);
                     }});
  };
  EXPECT_FALSE(program(false).contains({2, 0, 1, -1}));
  EXPECT_TRUE(program(true).contains({2, 0, -1, -1}));
}

TEST(Litmus, ReadModifyWritesNeverLoseAnUpdate) {
  const Outcomes seen =
      outcomes({[](Two& t) { t.a = t.x.fetch_add(1, kRelaxed); }, [](Two& t) { t.b = t.x.fetch_add(1, kRelaxed); },
                [](Two& t) {
                  int expected = 0;
                  while (!t.x.compare_exchange_weak(expected, expected + 1, kRelaxed)) {
                  }
                  t.c = expected;
                }});
  for (const std::vector<int>& o : seen) EXPECT_EQ(std::set<int>({o[0], o[1], o[2]}).size(), 3u);
  EXPECT_EQ(seen.size(), 6u);
}

TEST(Litmus, AFailingCompareAndSwapMaySeeAnOldValue) {
  EXPECT_TRUE(outcomes({[](Two& t) {
                          t.x.store(1, kRelaxed);
                          t.y.store(1, kRelaxed);
                        },
                        [](Two& t) {
                          t.a = t.y.load(kRelaxed);
                          t.b = 1;
                          t.x.compare_exchange_strong(t.b, 7, kRelaxed);
                        }})
                  .contains({1, 0, -1, -1}));
}

Result handover(std::memory_order store, std::memory_order load) {
  return explore([=](Program& program) {
    const auto two = std::make_shared<Two>();
    program.thread([=] {
      two->data.set(42);
      two->x.store(1, store);
    });
    program.thread([=] {
      while (two->x.load(load) == 0) ModelAtomics::pause();
      check(two->data.get() == 42, "the data that was handed over");
    });
  });
}

TEST(Race, PlainMemoryNeedsReleaseAndAcquire) {
  const Result good = handover(kRelease, kAcquire);
  EXPECT_FALSE(good.failed) << good.report;
  EXPECT_TRUE(good.complete);
  for (const Result& bad : {handover(kRelaxed, kAcquire), handover(kRelease, kRelaxed)}) {
    EXPECT_TRUE(bad.failed);
    EXPECT_NE(bad.report.find("data race"), std::string::npos) << bad.report;
    EXPECT_NE(bad.report.find("thread 1: store atomic 0: 1"), std::string::npos) << bad.report;
  }
}

TEST(Race, NeighbouringBytesDoNotRace) {
  const Result result = explore([](Program& program) {
    const auto bytes = std::make_shared<std::array<char, 130>>();
    const auto x = std::make_shared<Atomic>(0);
    for (std::size_t t = 0; t < 2; ++t) {
      program.thread([=] {
        x->load(kRelaxed);
        ModelAtomics::writes(bytes->data() + 65 * t, 65);
      });
    }
  });
  EXPECT_FALSE(result.failed) << result.report;
}

// A lock that stores instead of exchanging: two threads may hold it.
Result mutual_exclusion(bool broken) {
  return explore([=](Program& program) {
    const auto two = std::make_shared<Two>();
    for (int i = 0; i < 2; ++i) {
      program.thread([=] {
        if (broken) {
          while (two->x.load(kAcquire) != 0) ModelAtomics::pause();
          two->x.store(1, kRelaxed);
        } else {
          while (two->x.exchange(1, kAcquire) != 0) ModelAtomics::pause();
        }
        two->data.set(two->data.get() + 1);
        two->x.store(0, kRelease);
      });
    }
    program.finally([=] { check(two->data.get() == 2, "both were counted"); });
  });
}

TEST(Race, ALockExcludesAndABrokenOneIsFound) {
  const Result good = mutual_exclusion(false);
  EXPECT_FALSE(good.failed) << good.report;
  EXPECT_TRUE(good.complete);
  EXPECT_TRUE(mutual_exclusion(true).failed);
}

// Peterson's lock. Whoever takes the turn second must see that the other wants: interleaving alone, without stale
// values, would call a plain store of the turn correct.
Result peterson(bool exchange) {
  return explore([=](Program& program) {
    struct State {
      Atomic wants[2], turn{0};
      Plain<int> data{0};
    };
    const auto s = std::make_shared<State>();
    for (int me = 0; me < 2; ++me) {
      program.thread([=] {
        s->wants[me].store(1, kRelaxed);
        if (exchange) {
          s->turn.exchange(1 - me, kAcqRel);
        } else {
          s->turn.store(1 - me, kRelease);
        }
        while (s->wants[1 - me].load(kAcquire) == 1 && s->turn.load(kRelaxed) == 1 - me) ModelAtomics::pause();
        s->data.set(s->data.get() + 1);
        s->wants[me].store(0, kRelease);
      });
    }
  });
}

TEST(Race, PetersonsTurnMustBeExchanged) {
  const Result good = peterson(true);
  EXPECT_FALSE(good.failed) << good.report;
  EXPECT_TRUE(good.complete);
  EXPECT_TRUE(peterson(false).failed);
}

// Sleeping: the sleeper announces itself and looks again; the sender publishes and looks for sleepers.
Result doorbell(bool fence) {
  return explore([=](Program& program) {
    struct State {
      Atomic message{0}, sleepers{0}, bell{0};
    };
    const auto s = std::make_shared<State>();
    program.thread([=] {
      s->message.store(1, kRelease);
      if (s->sleepers.load(kRelaxed) != 0) {
        s->bell.fetch_add(1, kSeqCst);
        ModelAtomics::futex_wake(s->bell, 1);
      }
    });
    program.thread([=] {
      while (s->message.load(kAcquire) == 0) {
        s->sleepers.fetch_add(1, kSeqCst);
        const int seen = s->bell.load(kSeqCst);
        if (fence) ModelAtomics::heavy_fence();
        if (s->message.load(kAcquire) == 0) ModelAtomics::futex_wait(s->bell, seen, -1);
        s->sleepers.fetch_sub(1, kRelaxed);
      }
    });
  });
}

TEST(Waiting, ASleeperWithoutTheHeavyFenceIsLost) {
  const Result good = doorbell(true);
  EXPECT_FALSE(good.failed) << good.report;
  EXPECT_TRUE(good.complete);
  const Result bad = doorbell(false);
  EXPECT_TRUE(bad.failed);
  EXPECT_NE(bad.report.find("every thread waits"), std::string::npos) << bad.report;
}

TEST(Waiting, WaitingForWhatNobodyDoesIsReported) {
  const Result result = explore([](Program& program) {
    const auto two = std::make_shared<Two>();
    program.thread([=] {
      while (two->x.load(kAcquire) == 0) ModelAtomics::pause();
    });
    program.thread([=] { two->y.store(1, kRelease); });
  });
  EXPECT_TRUE(result.failed);
  EXPECT_NE(result.report.find("every thread waits"), std::string::npos) << result.report;
}

TEST(Waiting, AnEndlessLoopIsReported) {
  Options options;
  options.steps = 500;
  const Result result = explore(
      [](Program& program) {
        const auto two = std::make_shared<Two>();
        program.thread([=] {
          while (two->x.fetch_add(1, kRelaxed) >= 0) {
          }
        });
      },
      options);
  EXPECT_TRUE(result.failed);
  EXPECT_NE(result.report.find("no end"), std::string::npos) << result.report;
}

TEST(Random, TheSameSeedGivesTheSameExecutionAndFindsTheBug) {
  const auto racy = [](Program& program) {
    const auto two = std::make_shared<Two>();
    program.thread([=] {
      two->data.set(1);
      two->x.store(1, kRelaxed);
    });
    program.thread([=] {
      if (two->x.load(kAcquire) == 1) two->data.get();
    });
  };
  Options options;
  options.executions = 10'000;
  options.seed = 11;
  const Result once = explore(racy, options);
  const Result again = explore(racy, options);
  EXPECT_TRUE(once.failed);
  EXPECT_EQ(once.report, again.report);
  EXPECT_EQ(once.executions, again.executions);
}

}  // namespace
}  // namespace heddle::model
