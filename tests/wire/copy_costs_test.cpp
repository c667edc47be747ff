#include "wire/copy_costs.hpp"

#include <gtest/gtest.h>

namespace {

using heddle::wire::Copy;
using heddle::wire::CopyMeans;
using heddle::wire::mean_of;

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
    for (int i = 0; i < n; ++i)
      costs.time(kind, kBytes, [&] {
        TestClock::time += each * 10;
        return kBytes;
      });
  }
  // How many of n messages are to be read.
  int read_of(unsigned n, bool better) {
    int read = 0;
    for (unsigned i = 0; i < n; ++i) read += costs.next_is_read(better);
    return read;
  }
  Costs costs;
};

TEST_F(CopyCostsTest, TwoCopiesAreComparedWithOne) {
  copies(100, Copy::kFill, 50);
  copies(100, Copy::kEmpty, 30);
  copies(100, Copy::kRead, 79);
  EXPECT_TRUE(costs.means().reading_is_cheaper(false));
  copies(100, Copy::kRead, 82);
  EXPECT_FALSE(costs.means().reading_is_cheaper(false));
  copies(1000, Copy::kEmpty, 40);
  EXPECT_TRUE(costs.means().reading_is_cheaper(false));
}

TEST_F(CopyCostsTest, WhoOnlySendsTakesEmptyingToCostAsMuchAsFilling) {
  copies(10, Copy::kRead, 79);
  EXPECT_FALSE(costs.means().reading_is_cheaper(false));
  copies(100, Copy::kFill, 40);
  EXPECT_TRUE(costs.means().reading_is_cheaper(false));
  copies(200, Copy::kRead, 81);
  EXPECT_FALSE(costs.means().reading_is_cheaper(false));
}

TEST_F(CopyCostsTest, OneThatLostItsCoreChangesNothing) {
  copies(100, Copy::kFill, 50);
  copies(100, Copy::kEmpty, 50);
  copies(100, Copy::kRead, 60);
  copies(1, Copy::kRead, 1'000'000);
  EXPECT_TRUE(costs.means().reading_is_cheaper(false));
}

TEST_F(CopyCostsTest, SomeMessagesGoTheOtherWay) {
  EXPECT_EQ(read_of(10 * Costs::kMessages, false), 10 * int{Costs::kInARow});
  EXPECT_EQ(read_of(10 * Costs::kMessages, true), 10 * int{Costs::kMessages - Costs::kInARow});
}

TEST_F(CopyCostsTest, WhatCouldNotBeReadIsNotTimed) {
  copies(100, Copy::kFill, 50);
  copies(100, Copy::kRead, 120);
  for (int i = 0; i < 100; ++i) costs.time(Copy::kRead, kBytes, [] { return kBytes - 1; });
  EXPECT_FALSE(costs.means().reading_is_cheaper(false));
}

TEST_F(CopyCostsTest, TheSlowerOfTwoThatOverlapCounts) {
  EXPECT_FALSE((CopyMeans{30, 50, 60}.reading_is_cheaper(true)));
  EXPECT_TRUE((CopyMeans{30, 50, 40}.reading_is_cheaper(true)));
  EXPECT_TRUE((CopyMeans{30, 50, 60}.reading_is_cheaper(false)));
}

TEST_F(CopyCostsTest, WhatOnlyOneKnowsCounts) {
  const CopyMeans both = mean_of({30, 0, 60}, {50, 70, 0});
  EXPECT_EQ(both.fill, 40);
  EXPECT_EQ(both.empty, 70);
  EXPECT_EQ(both.read, 60);
}

TEST_F(CopyCostsTest, WhatIsShortIsNotTimed) {
  for (int i = 0; i < 100; ++i)
    costs.time(Copy::kFill, Costs::kShortest - 1, [] { return TestClock::time += 1000, Costs::kShortest - 1; });
  EXPECT_FALSE(costs.means().reading_is_cheaper(false));
}

}  // namespace
