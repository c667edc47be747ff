// The list of tasks under every interleaving up to a bound, with stale values: a task is stepped by one thread at a
// time until it is finished, and a thread that sleeps for one is woken; and each weakened variant is found out.
#include "vci/task.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/doorbell.hpp"
#include "base/model/broken.hpp"

namespace heddle::vci {
namespace {

using model::expect_found;
using model::expect_right;
using model::Plain;
using model::Untimed;
using model::Weak;
using model::Weakened;

struct Twice : Task {
  Plain<int> steps{0};
  int finished = 0;
};
bool step_twice(Task& task) {
  auto& twice = static_cast<Twice&>(task);
  twice.steps.set(twice.steps.get() + 1);
  if (twice.steps.get() < 2) return false;
  ++twice.finished;
  return true;
}

// Each of two threads adds a task and steps what there is until nothing is left.
template <class Atomics>
model::Result two_runners() {
  struct State {
    BasicTaskList<Atomics> list;
    Twice tasks[2];
  };
  return model::explore([](model::Program& program) {
    const auto s = std::make_shared<State>();
    for (Twice& task : s->tasks) {
      program.thread([s, &task] {
        task.step = step_twice;
        s->list.add(task);
        while (!s->list.empty()) {
          bool contended = false;
          if (s->list.run(&contended) == 0) Atomics::pause();
        }
      });
    }
    program.finally([s] {
      for (Twice& task : s->tasks) {
        model::check(task.steps.get() == 2 && task.finished == 1, "a task is stepped until it is finished, once");
      }
      model::check(s->list.empty(), "nothing is left");
    });
  });
}

TEST(TaskListModel, ATaskIsSteppedByOneAtATimeUntilItIsFinished) { expect_right(two_runners<Untimed>()); }

TEST(TaskListModel, TheListMustBeReleasedAfterItWasWritten) {
  expect_found(two_runners<Weakened<1, Weak::kStores>>(), model::kRace);
}
TEST(TaskListModel, AddingAndAdoptingMustReleaseAndAcquire) {
  expect_found(two_runners<Weakened<1, Weak::kUpdates>>(), model::kRace);
}
TEST(TaskListModel, TakingTheListInTwoStepsLetsTwoIn) { expect_found(two_runners<Weakened<1, Weak::kHalves>>()); }

enum class Seed { kNone, kSleepsThoughContended, kSaysNothingOfTheEnd, kSaysNothingOfTheNew };

// As in Domain: one thread sleeps until the task is finished. The task goes on once `may_go_on` is set by somebody
// who rings; a third thread comes by, steps it perhaps, and leaves for good.
template <class Atomics, Seed kSeed>
struct Waiting {
  struct Conditional : Task {
    Waiting* of;
  };
  BasicTaskList<Atomics> list;
  BasicDoorbell<Atomics> bell;
  typename Atomics::template atomic<int> may_go_on{0}, over{0};
  Conditional task{};

  Waiting() {
    task.of = this;
    task.step = [](Task& t) {
      Waiting& w = *static_cast<Conditional&>(t).of;
      if (w.may_go_on.load(std::memory_order_acquire) == 0) return false;
      w.over.store(1, std::memory_order_release);
      return true;
    };
  }

  unsigned run(bool* contended) {
    const unsigned ended = list.run(contended);
    if (ended != 0 && kSeed != Seed::kSaysNothingOfTheEnd) bell.ring();
    return ended;
  }
  void add() {
    if (task.step(task)) return bell.ring();
    list.add(task);
    if (kSeed != Seed::kSaysNothingOfTheNew) bell.ring();
  }
  void complete() {
    may_go_on.store(1, std::memory_order_release);
    bell.ring();
  }
  void sleep_until_over() {
    bool contended = false;
    const auto look = [&] {
      contended = false;
      unsigned moved = list.empty() ? 0 : run(&contended);
      if (kSeed == Seed::kSleepsThoughContended) contended = false;
      return contended || moved != 0 || over.load(std::memory_order_acquire) != 0;
    };
    while (over.load(std::memory_order_acquire) == 0) {
      bell.sleep(1, look);
      if (contended) Atomics::pause();
    }
  }
};

template <Seed kSeed>
model::Result passer_by() {
  return model::explore([](model::Program& program) {
    const auto w = std::make_shared<Waiting<Untimed, kSeed>>();
    w->list.add(w->task);
    program.thread([w] { w->complete(); });
    program.thread([w] {
      bool contended = false;
      w->run(&contended);
    });
    program.thread([w] { w->sleep_until_over(); });
  });
}

TEST(TaskListModel, ASleeperMissesNoTaskThatAnotherThreadHasPassed) { expect_right(passer_by<Seed::kNone>()); }
TEST(TaskListModel, WhoeverMeetsAnotherAtItMustNotSleep) {
  expect_found(passer_by<Seed::kSleepsThoughContended>(), model::kLost);
}
TEST(TaskListModel, TheEndOfATaskMustRing) { expect_found(passer_by<Seed::kSaysNothingOfTheEnd>(), model::kLost); }

// The task is new: the thread that starts it finds it blocked, adds it and leaves.
template <Seed kSeed>
model::Result newcomer() {
  return model::explore([](model::Program& program) {
    const auto w = std::make_shared<Waiting<Untimed, kSeed>>();
    program.thread([w] { w->add(); });
    program.thread([w] { w->complete(); });
    program.thread([w] { w->sleep_until_over(); });
  });
}

TEST(TaskListModel, ASleeperLearnsOfANewTask) { expect_right(newcomer<Seed::kNone>()); }
TEST(TaskListModel, ANewTaskMustRing) { expect_found(newcomer<Seed::kSaysNothingOfTheNew>(), model::kLost); }

}  // namespace
}  // namespace heddle::vci
