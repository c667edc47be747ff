#include "wire/copy_costs.hpp"

#include <gtest/gtest.h>

namespace {

using heddle::wire::Copy;

struct TestClock {
  static std::int64_t now() { return time; }
  static inline std::int64_t time = 0;
};

class CopyCostsTest : public testing::Test {
 protected:
  using Costs = heddle::wire::BasicCopyCosts<TestClock>;
  static constexpr std::size_t kBytes = 10'000;

  // n of each kind, of which each byte takes so many ps.
  void copies(int n, Copy kind, int each) {
    for (int i = 0; i < n; ++i) costs.time(kind, kBytes, [&] { TestClock::time += each * 10; });
  }
  // How many of n messages are to be read.
  int read_of(unsigned n) {
    int read = 0;
    for (unsigned i = 0; i < n; ++i) read += costs.next_is_read();
    return read;
  }
  Costs costs;
};

TEST_F(CopyCostsTest, TwoCopiesAreComparedWithOne) {
  copies(100, Copy::kFill, 50);
  copies(100, Copy::kEmpty, 30);
  copies(100, Copy::kRead, 79);
  EXPECT_TRUE(costs.reading_is_cheaper());
  copies(100, Copy::kRead, 82);
  EXPECT_FALSE(costs.reading_is_cheaper());
  copies(1000, Copy::kEmpty, 40);
  EXPECT_TRUE(costs.reading_is_cheaper());
}

TEST_F(CopyCostsTest, WhoNeverReceivesTakesEmptyingToCostAsMuchAsFilling) {
  copies(10, Copy::kRead, 79);
  EXPECT_FALSE(costs.reading_is_cheaper());
  copies(100, Copy::kFill, 40);
  EXPECT_TRUE(costs.reading_is_cheaper());
  copies(200, Copy::kRead, 81);
  EXPECT_FALSE(costs.reading_is_cheaper());
}

TEST_F(CopyCostsTest, OneThatLostItsCoreChangesNothing) {
  copies(100, Copy::kFill, 50);
  copies(100, Copy::kEmpty, 50);
  copies(100, Copy::kRead, 60);
  copies(1, Copy::kRead, 1'000'000);
  EXPECT_TRUE(costs.reading_is_cheaper());
}

TEST_F(CopyCostsTest, SomeMessagesGoTheOtherWay) {
  EXPECT_EQ(read_of(10 * Costs::kTurn), 10 * int{Costs::kOthers});
  copies(100, Copy::kFill, 50);
  copies(100, Copy::kRead, 50);
  EXPECT_EQ(read_of(10 * Costs::kTurn), 10 * int{Costs::kTurn - Costs::kOthers});
}

TEST_F(CopyCostsTest, WhatIsShortIsNotTimed) {
  for (int i = 0; i < 100; ++i) costs.time(Copy::kFill, Costs::kShortest - 1, [] { TestClock::time += 1000; });
  EXPECT_FALSE(costs.reading_is_cheaper());
}

}  // namespace
