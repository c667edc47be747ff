// Work that is left for the holder of a lock, under every interleaving up to a bound, with stale values: it is done once, alone, with
// nobody waiting for it and nothing left behind; and without the fence the model finds what is.
#include <gtest/gtest.h>

#include <memory>

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
using model::WithWeakFence;

// Takes its turns: inside, and where it is `long_way` inside, outside and inside once more.
struct Counting : LockedWork {
  Plain<int>* count = nullptr;
  bool long_way = false;
  int inside = 0, outside = 0;
  Plain<int> written{0};  // by who leaves it

  static Next step(LockedWork& work, bool is_inside) {
    auto& self = static_cast<Counting&>(work);
    if (!is_inside) {
      ++self.outside;
      return Next::kInside;
    }
    model::check(self.written.get() == 1, "what its owner wrote is seen");
    self.count->set(self.count->get() + 1);
    ++self.inside;
    if (self.long_way && self.inside == 1) return Next::kInside;
    return self.long_way && self.outside == 0 ? Next::kOutside : Next::kDone;
  }
};

// `leavers` threads leave one piece of work each, and one, if it is to, takes the lock for itself.
template <class Atomics>
Result leaves(int leavers, bool holder, bool long_way = false) {
  struct State {
    BasicLock<Atomics, 0, 0> lock;
    Plain<int> count{0};
    Counting work[2];
  };
  return model::explore([=](Program& program) {
    const auto s = std::make_shared<State>();
    s->lock.lock();
    s->lock.expect_work();
    s->lock.unlock();
    for (int i = 0; i < leavers; ++i) {
      program.thread([s, i, long_way] {
        Counting& work = s->work[i];
        work.run = Counting::step;
        work.count = &s->count;
        work.long_way = long_way;
        work.written.set(1);
        s->lock.leave(work);
      });
    }
    if (holder) {
      program.thread([s] {
        s->lock.lock();
        s->count.set(s->count.get() + 1);
        s->lock.unlock();
      });
    }
    program.finally([=] {
      for (int i = 0; i < leavers; ++i) {
        model::check(s->work[i].inside == (long_way ? 3 : 1), "inside as often as it wants to be");
        model::check(s->work[i].outside == (long_way ? 1 : 0), "outside likewise");
      }
      model::check(s->count.get() == leavers * (long_way ? 3 : 1) + (holder ? 1 : 0), "nobody was in twice at once");
      model::check(s->lock.try_lock(), "the lock is free at the end");
    });
  });
}

TEST(LockedWork, IsDoneByWhoeverHasTheLock) {
  expect_right(leaves<Untimed>(1, true));
  expect_right(leaves<Untimed>(2, false));
  expect_right(leaves<Untimed>(2, true));
}

TEST(LockedWork, GoesOutsideAndComesBack) {
  expect_right(leaves<Untimed>(1, true, true));
  expect_right(leaves<Untimed>(2, false, true));
}

TEST(LockedWork, TheFencesAreNeeded) {
  expect_found(leaves<WithWeakFence>(1, true), "inside as often as it wants to be");
}
TEST(LockedWork, LeavingMustRelease) { expect_found(leaves<Weakened<1, Weak::kUpdates>>(1, true), model::kRace); }

// Outside once, between two times inside.
struct Once : LockedWork {
  int inside = 0, outside = 0;
  Once() { run = step; }
  static Next step(LockedWork& work, bool is_inside) {
    auto& self = static_cast<Once&>(work);
    ++(is_inside ? self.inside : self.outside);
    return is_inside ? (self.outside == 0 ? Next::kOutside : Next::kDone) : Next::kInside;
  }
};

TEST(LockedWork, IsLeftWithoutWaiting) {
  BasicLock<> lock;
  Once work;
  lock.lock();
  lock.expect_work();
  lock.leave(work);
  EXPECT_EQ(work.inside, 0);
  lock.unlock();
  EXPECT_EQ(work.inside, 2);
  EXPECT_EQ(work.outside, 1);
}

}  // namespace
}  // namespace heddle
