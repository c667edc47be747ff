// Updates of a word by hardware and under a lock, and the change from the one to the other, under every interleaving up to a bound, with
// stale values: no update is lost. And each weakened variant is found out.
#include "rma/updates.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <mutex>

#include "base/lock.hpp"
#include "base/model/broken.hpp"

namespace heddle::rma {
namespace {

using model::expect_found;
using model::expect_right;
using model::kAnything;
using model::Program;
using model::Result;
using model::Untimed;
using model::Weak;
using model::Weakened;
using model::WithoutHeavyFence;

template <class Atomics>
struct Node {
  using Lock = BasicLock<Atomics, 1>;
  using Updates = BasicUpdates<Atomics, Lock, 2>;

  // By hardware where it says so; else in two steps.
  void add(int self, bool alone) {
    if (updates.begin(busy[self], alone)) {
      word.fetch_add(1, std::memory_order_relaxed);
      updates.end(busy[self], alone);
    } else {
      std::lock_guard guard(stripe);
      word.store(word.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    }
  }
  bool change() {
    return updates.change([&](auto look) { return look(busy[0]) && look(busy[1]); });
  }

  void expect(int updated) { model::check(word.load(std::memory_order_relaxed) == updated, "no update is lost"); }

  Updates updates;
  typename Updates::Busy busy[2];
  Lock stripe;
  typename Atomics::template atomic<int> word{0};
};

// One process updates twice while another changes the way and updates, too.
template <class Atomics>
Result changing() {
  return model::explore([](Program& program) {
    const auto node = std::make_shared<Node<Atomics>>();
    program.thread([node] {
      node->add(0, true);
      node->add(0, true);
    });
    program.thread([node] {
      node->change();
      node->add(1, true);
    });
    program.finally([node] { node->expect(3); });
  });
}

// Two update while a third one changes the way: two threads of one process, or not.
template <class Atomics>
Result beside(bool are_one) {
  return model::explore([are_one](Program& program) {
    const auto node = std::make_shared<Node<Atomics>>();
    program.thread([node, are_one] { node->add(0, !are_one); });
    program.thread([node] { node->change(); });
    program.thread([node, are_one] { node->add(are_one ? 0 : 1, !are_one); });
    program.finally([node] { node->expect(2); });
  });
}

// Two processes change it at the same time.
template <class Atomics>
Result both() {
  return model::explore([](Program& program) {
    const auto node = std::make_shared<Node<Atomics>>();
    for (int self = 0; self < 2; ++self) {
      program.thread([node, self] {
        node->add(self, true);
        node->change();
        node->add(self, true);
      });
    }
    program.finally([node] { node->expect(4); });
  });
}

TEST(UpdatesModel, NoUpdateIsLostInAChange) {
  expect_right(changing<Untimed>());
  expect_right(beside<Untimed>(false));
  expect_right(beside<Untimed>(true));
  expect_right(both<Untimed>());
}

TEST(UpdatesModel, EachWeakenedVariantIsFound) {
  expect_found(changing<WithoutHeavyFence>(), kAnything);
  expect_found(changing<Weakened<1, Weak::kStores>>(), kAnything);     // the end of an update
  expect_found(changing<Weakened<2, Weak::kLoads>>(), kAnything);      // the change's look
  expect_found(beside<Weakened<2, Weak::kStores>>(false), kAnything);  // what it then says
  expect_found(beside<Weakened<1, Weak::kLoads>>(false), kAnything);   // the look at the way
  expect_found(beside<Weakened<1, Weak::kCounts>>(true), kAnything);   // the end of one of two threads
}

}  // namespace
}  // namespace heddle::rma
