#include "wire/faster_way.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <functional>

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

// Messages of which GetParam() are under way at once, sent by one who hears of a wish with the answer to a later message. Each takes
// `first` or `other` ns for each of its bytes; those of the first way end together, those of the other one after the other.
class FasterWayOfManyTest : public testing::TestWithParam<int> {
 protected:
  // How many of n bursts went the other way.
  int run(int n, std::int64_t first, std::int64_t other, bool obeys = true) {
    int others = 0;
    for (int i = 0; i < n; ++i) {
      const bool goes = obeys && heard;
      others += goes;
      for (int m = 0; m < GetParam(); ++m) {
        way.begin(goes, clock);
        heard = way.wanted();
      }
      if (!goes) now += GetParam() * first * std::int64_t{kBytes};
      for (int m = 0; m < GetParam(); ++m) {
        if (goes) now += other * std::int64_t{kBytes};
        way.end(goes, kBytes, 1.3f, clock);
      }
    }
    return others;
  }

  static constexpr std::size_t kBytes = 100;
  std::int64_t now = 1;
  std::function<std::int64_t()> clock = [this] { return now; };
  FasterWayOfMany way;
  bool heard = false;
};

TEST_P(FasterWayOfManyTest, WhatCountsIsHowLongAllOfABurstTakes) {
  EXPECT_GE(run(20'000, 30, 10), 18'000);
  EXPECT_TRUE(way.is_other());
  EXPECT_LE(run(100'000, 10, 30), 20'000);
  EXPECT_FALSE(way.is_other());
}

TEST_P(FasterWayOfManyTest, OfTwoThatTakeTheSameTheFirstIsKept) {
  EXPECT_LE(run(10'000, 10, 10), 1000);
  EXPECT_FALSE(way.is_other());
}

TEST_P(FasterWayOfManyTest, WhoTakesOneWayAloneIsTimedNoMore) {
  EXPECT_EQ(run(1000, 30, 10, false), 0);
  EXPECT_FALSE(way.is_other());
}

TEST_P(FasterWayOfManyTest, OneThatIsGivenUpIsNoMeasurement) {
  way.begin(false, clock);
  now += 1'000'000;
  way.end(false, 0, 1.3f, clock);
  run(2000, 10, 10);
  EXPECT_FALSE(way.is_other());
}

// Never is none under way.
TEST(FasterWayOfMany, AStreamWithoutEndIsTimedToo) {
  std::int64_t now = 1;
  const auto clock = [&now] { return now; };
  FasterWayOfMany way;
  std::deque<bool> under_way;
  const auto run = [&](int n, std::int64_t first, std::int64_t other) {
    for (int i = 0; i < n; ++i) {
      under_way.push_back(way.wanted());
      way.begin(under_way.back(), clock);
      if (under_way.size() < 5) continue;
      now += under_way.front() ? other : first;
      way.end(under_way.front(), 1, 1.3f, clock);
      under_way.pop_front();
    }
  };
  run(20'000, 300, 100);
  EXPECT_TRUE(way.is_other());
  run(100'000, 100, 300);
  EXPECT_FALSE(way.is_other());
}

INSTANTIATE_TEST_SUITE_P(UnderWay, FasterWayOfManyTest, testing::Values(1, 2, 64, 200));

}  // namespace
}  // namespace heddle::wire
