#include "wire/faster_way.hpp"

#include <gtest/gtest.h>

namespace heddle::wire {
namespace {

class FasterWayTest : public testing::Test {
 protected:
  // How many of `n` in a row went the other way.
  int others_of(int n, float first, float other) {
    int others = 0;
    for (int i = 0; i < n; ++i) {
      const bool is_timed = way.is_timed(), goes = way.next();
      others += goes;
      if (is_timed) way.took(goes ? other : first, kFactor);
    }
    return others;
  }

  static constexpr float kFactor = 2;
  FasterWay way;
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

TEST_F(FasterWayTest, OneThatLostItsCoreChangesNothing) {
  while (!way.is_timed() || way.next()) others_of(1, 1, 0.9f);
  way.took(1e6f, kFactor);
  others_of(1000, 1, 0.9f);
  EXPECT_FALSE(way.is_other());
}

}  // namespace
}  // namespace heddle::wire
