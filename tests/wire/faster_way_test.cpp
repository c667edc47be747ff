#include "wire/faster_way.hpp"

#include <gtest/gtest.h>

#include <deque>

namespace heddle::wire {
namespace {

class FasterWayTest : public testing::Test {
 protected:
  // How many of `n` in a row went the other way, when each is told of after `late` more have begun.
  int others_of(int n, float first, float other, std::size_t late = 0) {
    std::deque<bool> timed;
    int others = 0;
    for (int i = 0; i < n; ++i) {
      const bool is_timed = way.is_timed(), goes = way.next();
      others += goes;
      if (is_timed) timed.push_back(goes);
      if (timed.size() > late || (!is_timed && !timed.empty())) {
        way.took(timed.front(), timed.front() ? other : first, kFactor);
        timed.pop_front();
      }
    }
    return others;
  }

  static constexpr float kFactor = 2;
  FasterWay<> way;
};

TEST_F(FasterWayTest, TheFirstIsKeptWhereTheOtherIsNotMuchFaster) {
  EXPECT_LE(others_of(1000, 1, 0.6f), 10) << "more looks than it says";
  EXPECT_FALSE(way.is_other());
}

TEST_F(FasterWayTest, TheOtherIsTakenWhereTheFirstCostsTwiceAsMuch) {
  EXPECT_GE(others_of(1000, 2.5f, 1), 980);
  EXPECT_TRUE(way.is_other());
}

TEST_F(FasterWayTest, WhatChangesIsFound) {
  for (int round = 0; round < 4; ++round) {
    others_of(1000, round % 2 == 0 ? 1.0f : 3.0f, 1);
    EXPECT_EQ(way.is_other(), round % 2 == 1) << round;
  }
}

TEST_F(FasterWayTest, BetweenTheTwoBordersNothingChanges) {
  others_of(1000, 1.7f, 1);
  EXPECT_FALSE(way.is_other());
  others_of(1000, 5, 1);
  others_of(10'000, 1.7f, 1);
  EXPECT_TRUE(way.is_other());
}

// Several are under way when the first of them is told of: none is taken for one of the other way.
TEST_F(FasterWayTest, OnesThatEndLateAreCountedAsWhatTheyWere) {
  others_of(5000, 5, 1, 20);
  EXPECT_TRUE(way.is_other());
  others_of(20'000, 1, 1, 20);
  EXPECT_FALSE(way.is_other());
}

TEST_F(FasterWayTest, OneThatLostItsCoreChangesNothing) {
  others_of(14 + 16, 1, 0.9f);
  way.took(false, 1e6f, kFactor);  // counts only when it was asked for
  others_of(1000, 1, 0.9f);
  EXPECT_FALSE(way.is_other());
}

}  // namespace
}  // namespace heddle::wire
