// A stack to which several threads add, under every interleaving up to a bound, with stale values: who takes all, or walks it, finds
// each element whole, once, in the order of one adder; and each weakened variant is found out.
#include "base/push_stack.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "base/model/broken.hpp"

namespace heddle {
namespace {

using model::expect_found;
using model::expect_right;
using model::Plain;
using model::Program;
using model::Untimed;
using model::Weak;
using model::Weakened;

struct Element {
  Plain<int> value{0};
  int taken = 0;
  Element* next = nullptr;
};
template <class Atomics>
struct Shared {
  BasicPushStack<Element, &Element::next, Atomics> stack;
  Element elements[4];
};

// Threads 1 and 2 add two elements each, thread 3 takes until it has all.
template <class Atomics>
model::Result takes_all() {
  return model::explore([](Program& program) {
    const auto s = std::make_shared<Shared<Atomics>>();
    for (int adder = 0; adder < 2; ++adder) {
      program.thread([s, adder] {
        for (int i = 0; i < 2; ++i) {
          Element& element = s->elements[2 * adder + i];
          element.value.set(10 * adder + i + 1);
          s->stack.push(element);
        }
      });
    }
    program.thread([s] {
      int last[2] = {0, 0};
      for (int n = 0; n < 4;) {
        Element* next = nullptr;
        Element* e = s->stack.take_oldest_first();
        if (e == nullptr) Atomics::pause();
        for (; e != nullptr; e = next, ++n) {
          Atomics::reads(&e->next, sizeof e->next);
          next = e->next;
          const int adder = e->value.get() / 10;
          model::check(e->value.get() % 10 == last[adder] + 1, "in the order of its adder, none is missing");
          last[adder] = e->value.get() % 10;
          model::check(++e->taken == 1, "once");
        }
      }
      model::check(s->stack.first() == nullptr, "nothing is left");
    });
  });
}

// Threads 1 and 2 add one each, thread 3 walks what is there.
template <class Atomics>
model::Result walks() {
  return model::explore([](Program& program) {
    const auto s = std::make_shared<Shared<Atomics>>();
    for (int adder = 0; adder < 2; ++adder) {
      program.thread([s, adder] {
        s->elements[adder].value.set(adder + 1);
        s->stack.push(s->elements[adder]);
      });
    }
    program.thread([s] {
      int seen = 0;
      for (Element* e = s->stack.first(); e != nullptr; e = e->next) {
        Atomics::reads(&e->next, sizeof e->next);
        model::check(e->value.get() > 0, "it is whole");
        ++seen;
      }
      model::check(seen <= 2, "each once");
    });
    program.finally([s] {
      Element* e = s->stack.first();
      model::check(e != nullptr && e->next != nullptr && e->next->next == nullptr, "both are there");
    });
  });
}

TEST(PushStackModel, WhatIsAddedIsTakenOnceInItsOrder) { expect_right(takes_all<Untimed>()); }
TEST(PushStackModel, WhatIsAddedCanBeWalked) { expect_right(walks<Untimed>()); }
TEST(PushStackModel, AddingRelaxedIsFound) {
  expect_found(takes_all<Weakened<1, Weak::kUpdates>>(), model::kRace);
  expect_found(walks<Weakened<1, Weak::kUpdates>>(), model::kRace);
}
TEST(PushStackModel, AddingInTwoStepsLosesOne) { expect_found(takes_all<Weakened<1, Weak::kHalves>>()); }
TEST(PushStackModel, TakingRelaxedIsFound) { expect_found(takes_all<Weakened<3, Weak::kUpdates>>(), model::kRace); }
TEST(PushStackModel, TakingInTwoStepsTakesTwice) { expect_found(takes_all<Weakened<3, Weak::kHalves>>()); }
TEST(PushStackModel, WalkingRelaxedIsFound) { expect_found(walks<Weakened<3, Weak::kLoads>>(), model::kRace); }

}  // namespace
}  // namespace heddle
