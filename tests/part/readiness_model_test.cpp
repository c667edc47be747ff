// MPI_Pready in two threads meets the receiver's start in a third under every interleaving up to a bound, with stale values: each
// group is sent once, after all of its bytes are written, none is forgotten, and one completes the send. And each weakened
// variant is found out.
#include "part/readiness.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/model/broken.hpp"

namespace heddle::part {
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

// What one thread writes, or looks at, has no place in the one order of all.
template <std::size_t kThread, Weak kWeak>
struct Unordered : Untimed {
  template <class T>
  class atomic : public Untimed::atomic<T> {
   public:
    using Base = Untimed::atomic<T>;
    using Base::Base;
    T load(std::memory_order order) const noexcept {
      return Base::load(here(Weak::kLoads, order) ? std::memory_order_acquire : order);
    }
    void store(T value, std::memory_order order) noexcept {
      Base::store(value, here(Weak::kStores, order) ? std::memory_order_release : order);
    }
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
      if (here(Weak::kUpdates, success)) success = std::memory_order_acq_rel, failure = std::memory_order_acquire;
      return Base::compare_exchange_strong(expected, desired, success, failure);
    }

   private:
    static bool here(Weak access, std::memory_order order) {
      const model::Scheduler* s = model::Scheduler::current();
      return kWeak == access && order == std::memory_order_seq_cst && s != nullptr && s->self() == kThread;
    }
  };
};

// One thread's compare-and-swaps of this order are a load and a store: mark() is seq_cst, take() acq_rel, link() relaxed.
template <std::size_t kThread, std::memory_order kOrder>
struct InTwoSteps : Untimed {
  template <class T>
  class atomic : public Untimed::atomic<T> {
   public:
    using Base = Untimed::atomic<T>;
    using Base::Base;
    bool compare_exchange_strong(T& expected, T desired, std::memory_order success,
                                 std::memory_order failure) noexcept {
      const model::Scheduler* s = model::Scheduler::current();
      if (success != kOrder || s == nullptr || s->self() != kThread) {
        return Base::compare_exchange_strong(expected, desired, success, failure);
      }
      if (Base::load(std::memory_order_acquire) != expected) return false;
      Base::store(desired, std::memory_order_release);
      return true;
    }
  };
};

struct WeakCounts : Untimed {
  template <class T>
  class atomic : public Untimed::atomic<T> {
   public:
    using Untimed::atomic<T>::atomic;
    T fetch_add(T n, std::memory_order) noexcept { return Untimed::atomic<T>::fetch_add(n, std::memory_order_relaxed); }
  };
};

constexpr const char* kNotOnce = "each group is sent once, and one thread completes the send";
enum class Seed { kNone, kLooksOnce };

// As send.cpp does it: two partitions, in one group or in two, or one. The receiver's part is played by the threads.
template <class Atomics, Seed kSeed = Seed::kNone>
struct Send {
  using Rules = BasicReadiness<Atomics>;

  explicit Send(std::uint32_t n, std::uint32_t of = 2) : groups(n), partitions(of) {
    rules.adopt(Rules::make(of));
    rules.start(n);
  }

  static int content(std::uint32_t partition, std::uint32_t e) { return static_cast<int>(10 * e + partition); }
  // False: refused.
  bool ready(std::uint32_t partition) {
    const std::uint32_t e = epoch.get();
    bytes[partition].set(content(partition, e));
    return say_ready(partition, e);
  }
  bool say_ready(std::uint32_t partition, std::uint32_t e) {
    if (!rules.mark(partition, e)) return false;
    if (!rules.is_clear(e)) {
      if (rules.is_clear(e)) catch_up(e);  // after progress
    } else {
      take(partition, e);
    }
    return true;
  }
  void catch_up(std::uint32_t e) {
    for (std::uint32_t i = 0; i < partitions; ++i) {
      if (rules.is_marked(i, e)) take(i, e);
    }
  }
  void take(std::uint32_t partition, std::uint32_t e) {
    if (!rules.take(partition, e)) return;
    const std::uint32_t g = groups == 1 ? 0 : partition, count = partitions / groups;
    if (!counts[g].is_last(count)) return;
    for (std::uint32_t i = g; i < g + count; ++i) {
      model::check(bytes[i].get() == content(i, e), "what is sent are the bytes of its epoch");
    }
    ++sent;
    arrived.store(sent, std::memory_order_release);
    if (rules.is_last_sent()) finish(0);
  }
  void finish(int error) {
    outcome.set(error);
    ++finished;
    complete.store(1, std::memory_order_release);
  }
  void wait() {
    while (complete.load(std::memory_order_acquire) == 0) Atomics::pause();
    outcome.get();
  }
  // By the owner. REQUIRES: complete.
  void start() {
    complete.store(0, std::memory_order_relaxed);
    rules.start(groups);
    for (auto& count : counts) count.start();
    epoch.set(epoch.get() + 1);
  }

  // By the holder of the VCI's lock. True: there is a task to step.
  bool clear(std::uint32_t e) {
    rules.clear(e);
    for (std::uint32_t i = 0; i < partitions && !late.get(); ++i) {
      if (!rules.is_marked(i, e)) continue;
      late.set(true);
      return true;
    }
    return false;
  }
  void step_late() {
    for (bool again = true; again;) {
      const std::uint32_t cleared = rules.cleared(std::memory_order_acquire);
      catch_up(cleared);
      lock();
      again = kSeed != Seed::kLooksOnce && rules.cleared(std::memory_order_relaxed) != cleared;
      if (!again) late.set(false);
      unlock();
    }
  }
  void receive(std::uint32_t e) {
    lock();
    const bool is_late = clear(e);
    unlock();
    if (is_late) step_late();
  }
  void lock() {
    while (vci.exchange(1, std::memory_order_acquire) != 0) Atomics::pause();
  }
  void unlock() { vci.store(0, std::memory_order_release); }

  const std::uint32_t groups, partitions;
  Rules rules;
  typename Rules::Count counts[2];
  Plain<std::uint32_t> epoch{1};
  Plain<int> bytes[2], outcome;
  Plain<bool> late;
  typename Atomics::template atomic<std::uint32_t> complete{0}, vci{0};
  typename Atomics::template atomic<std::uint32_t> arrived{0}, tasks{0};  // at the receiver; of this VCI
  std::uint32_t sent = 0, finished = 0, refused = 0;
};

// Each thread readies its partition once while the receiver's start comes; the owner waits, and writes to the buffer again.
template <class Atomics = Untimed>
Result one_epoch(std::uint32_t groups) {
  return model::explore([groups](Program& program) {
    const auto s = std::make_shared<Send<Atomics>>(groups);
    program.thread([s = s.get()] {
      s->ready(0);
      s->wait();
      for (auto& partition : s->bytes) partition.set(-1);
    });
    program.thread([s = s.get()] { s->ready(1); });
    program.thread([s = s.get()] { s->receive(1); });
    program.finally([s] { model::check(s->sent == s->groups && s->finished == 1, kNotOnce); });
  });
}

TEST(ReadinessModel, EachGroupIsSentOnceWhenItsBytesAreThere) {
  expect_right(one_epoch(1));
  expect_right(one_epoch(2));
}
TEST(ReadinessModel, ReadyAndClearNeedOneOrder) {
  expect_found((one_epoch<Unordered<1, Weak::kUpdates>>(2)), model::kLost);
  expect_found((one_epoch<Unordered<1, Weak::kLoads>>(2)), model::kLost);
  expect_found((one_epoch<Unordered<3, Weak::kStores>>(2)), model::kLost);
  expect_found((one_epoch<Unordered<3, Weak::kLoads>>(2)), model::kLost);
}
TEST(ReadinessModel, APartitionIsTakenInOneStep) {
  expect_found((one_epoch<InTwoSteps<1, std::memory_order_acq_rel>>(2)), kNotOnce);
  expect_found((one_epoch<InTwoSteps<3, std::memory_order_acq_rel>>(2)));
}
TEST(ReadinessModel, BytesPassToWhoSendsThemAndToTheOwner) {
  expect_found((one_epoch<Weakened<1, Weak::kUpdates>>(1)), model::kRace);
  expect_found((one_epoch<WeakCounts>(1)), model::kRace);
  expect_found((one_epoch<Weakened<3, Weak::kUpdates>>(2)), model::kRace);
}

// Two threads ready the same partition.
template <class Atomics = Untimed>
Result twice() {
  return model::explore([](Program& program) {
    const auto s = std::make_shared<Send<Atomics>>(2);
    for (int i = 0; i < 2; ++i) {
      program.thread([s = s.get()] { s->refused += !s->say_ready(0, 1); });
    }
    program.thread([s = s.get()] { s->receive(1); });
    s->bytes[0].set(s->content(0, 1));
    program.finally([s] { model::check(s->sent == 1 && s->refused == 1, "one is refused, and it is sent once"); });
  });
}
TEST(ReadinessModel, AReadyPartitionIsRefused) {
  expect_right(twice());
  expect_found((twice<InTwoSteps<1, std::memory_order_seq_cst>>()));
}

// The next start, as soon as the send is complete, while others still return from the one before; the receiver's may be known first, and
// it may come while the task of the one before still runs.
template <class Atomics = Untimed, Seed kSeed = Seed::kNone>
Result two_epochs(std::uint32_t partitions, Options options) {
  constexpr std::uint32_t kOver = 16;
  return model::explore(
      [partitions](Program& program) {
        const auto s = std::make_shared<Send<Atomics, kSeed>>(1, partitions);
        program.thread([s = s.get()] {
          s->ready(0);
          s->wait();
          s->start();
          for (std::uint32_t i = 0; i < s->partitions; ++i) s->ready(i);
          s->wait();
        });
        program.thread([s = s.get()] {
          if (s->partitions == 2) s->ready(1);
          for (std::uint32_t done = 0, tasks = 0; done != 2 * kOver;) {
            while ((tasks = s->tasks.load(std::memory_order_acquire)) == done) Atomics::pause();
            if (tasks % kOver != done) s->step_late();
            done = tasks < kOver ? tasks : 2 * kOver;
          }
        });
        program.thread([s = s.get()] {
          std::uint32_t tasks = 0;
          for (std::uint32_t e = 1; e <= 2; ++e) {
            while (s->arrived.load(std::memory_order_acquire) + 1 < e) Atomics::pause();
            s->lock();
            if (s->clear(e)) s->tasks.store(++tasks, std::memory_order_release);
            s->unlock();
          }
          s->tasks.store(tasks + kOver, std::memory_order_release);
        });
        program.finally([s] { model::check(s->sent == 2 && s->finished == 2, "each epoch is sent once"); });
      },
      options);
}

TEST(ReadinessModel, TheNextEpochMeetsTheOneBefore) {
  expect_right(two_epochs(1, {.stale_loads = 0}));
  expect_right(two_epochs(2, {.preemptions = 1, .stale_loads = 1}));
  expect_found((two_epochs<Untimed, Seed::kLooksOnce>(1, {.stale_loads = 0})), model::kLost);
}

// The receiver's set-up comes, the last group is sent, and a loss ends the send.
template <class Atomics = Untimed>
Result ended(std::uint32_t groups) {
  return model::explore([groups](Program& program) {
    const auto s = std::make_shared<Send<Atomics>>(1);
    program.thread([s = s.get(), groups] {
      s->rules.link(groups);
      for (std::uint32_t i = 0; i < groups; ++i) {
        if (s->rules.is_last_sent()) s->finish(0);
      }
    });
    program.thread([s = s.get()] {
      if (s->rules.end()) s->finish(1);
      s->wait();
    });
    program.finally([s] { model::check(s->finished == 1, "one completes the send"); });
  });
}
TEST(ReadinessModel, OneCompletesASendThatIsGivenUp) {
  expect_right(ended(1));
  expect_right(ended(2));
  expect_found((ended<Weakened<2, Weak::kHalves>>(1)));
  expect_found((ended<InTwoSteps<1, std::memory_order_relaxed>>(2)));
}

static_assert(sizeof(BasicReadiness<Untimed>) == sizeof(Readiness), "the model tests the real layout");

}  // namespace
}  // namespace heddle::part
