// A list of tasks without atomic operations does what the other does: one thread, nested runs, steps that add tasks.
#include "vci/task.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace heddle::vci {
namespace {

struct Noted : Task {
  Noted(TaskList& l, std::string& o, char n, int s) : list(l), order(o), name(n), steps(s) {
    step = [](Task& task) { return static_cast<Noted&>(task).go_on(); };
  }
  bool go_on() {
    order += name;
    bool contended = false;
    EXPECT_EQ(list.run(&contended), 0u);  // a step that makes progress steps nobody, itself least of all
    EXPECT_TRUE(contended);
    if (told != nullptr) *told += list.is_before_sleep() ? 'z' : '.';
    if (follower != nullptr) list.add(*std::exchange(follower, nullptr));
    return --steps == 0;
  }

  TaskList& list;
  std::string& order;
  char name;
  int steps;
  Noted* follower = nullptr;
  std::string* told = nullptr;  // 'z' where the thread will sleep
};

class TaskTest : public testing::TestWithParam<bool> {};

TEST_P(TaskTest, StepsInTheOrderInWhichTheyWereAdded) {
  TaskList list;
  if (GetParam()) list.elide();
  std::string order;
  Noted a(list, order, 'a', 2), b(list, order, 'b', 1), c(list, order, 'c', 3), d(list, order, 'd', 1);
  bool contended = false;
  EXPECT_TRUE(list.empty());
  for (Noted* task : {&a, &b, &c}) list.add(*task);
  b.follower = &d;
  EXPECT_FALSE(list.empty());
  EXPECT_EQ(list.run(&contended), 1u);  // b; d is not stepped before the next run
  EXPECT_EQ(list.run(&contended), 2u);  // a, d
  EXPECT_EQ(list.run(&contended), 1u);
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.run(&contended), 0u);
  EXPECT_FALSE(contended);
  EXPECT_EQ(order, "abcacdc");
  // One that was finished may come again.
  a.steps = 1;
  list.add(a);
  EXPECT_EQ(list.run(&contended), 1u);
  EXPECT_EQ(order, "abcacdca");
}
TEST_P(TaskTest, AStepIsToldWhetherItsThreadWillSleep) {
  TaskList list;
  if (GetParam()) list.elide();
  std::string order;
  Noted noted(list, order, 'n', 4);
  noted.told = &order;
  list.add(noted);
  bool contended = false;
  for (const bool before_sleep : {false, true, false, true}) list.run(&contended, before_sleep);
  EXPECT_EQ(order, "n.nzn.nz");
}
INSTANTIATE_TEST_SUITE_P(, TaskTest, testing::Bool(), [](const auto& of) { return of.param ? "Elided" : "Shared"; });

}  // namespace
}  // namespace heddle::vci
