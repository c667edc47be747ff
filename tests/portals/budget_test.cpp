// What a budget lends, when it stops and when it goes on, and that several share one pool.
#include "portals/budget.hpp"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <vector>

namespace heddle::portals {
namespace {

// A pool of which nothing is left: the budget keeps its size.
struct Fixed {
  explicit Fixed(std::uint64_t size) : pool(2 * size, 1) { pool.left = 0; }
  Budget::Pool pool;
  Budget budget{pool};
};

TEST(Budget, LendsHalfOfWhatIsFreeAndNoMoreThanIsAsked) {
  Fixed f(160);
  EXPECT_EQ(f.budget.lend(10), 10u);
  EXPECT_EQ(f.budget.lend(1000), 75u);
  EXPECT_EQ(f.budget.lent(), 85u);
}

TEST(Budget, IsDisabledAtASixteenthAndNotBefore) {
  Fixed f(160);
  f.budget.keep(149);
  EXPECT_TRUE(f.budget.can_lend());
  f.budget.keep(1);
  EXPECT_FALSE(f.budget.can_lend());
  EXPECT_EQ(f.budget.lend(1), 0u);
  EXPECT_EQ(f.budget.lend(1), 0u);
  EXPECT_EQ(f.budget.disables(), 1u) << "it is disabled once, however often it is asked";
}

TEST(Budget, IsEnabledAtLowWaterAndNotBefore) {
  Fixed f(160);
  f.budget.keep(160);
  ASSERT_EQ(f.budget.lend(1), 0u);
  f.budget.release(79);
  EXPECT_FALSE(f.budget.can_lend());
  EXPECT_EQ(f.budget.lend(1), 0u);
  f.budget.release(1);
  EXPECT_TRUE(f.budget.can_lend());
  EXPECT_EQ(f.budget.lend(100), 40u);
  f.budget.keep(20);
  EXPECT_EQ(f.budget.lend(1), 1u) << "enabled: down to a sixteenth again";
}

TEST(Budget, LowWaterIsOfWhatIsNotLent) {
  Fixed f(160);
  ASSERT_EQ(f.budget.lend(60), 60u);
  f.budget.keep(100);
  ASSERT_EQ(f.budget.lend(1), 0u);
  f.budget.release(49);
  EXPECT_FALSE(f.budget.can_lend());
  f.budget.release(1);
  EXPECT_TRUE(f.budget.can_lend()) << "50 of the 100 that are not lent";
}

TEST(Budget, WhatIsUsedIsNoMoreThanWhatWasLent) {
  Fixed f(160);
  f.budget.lend(10);
  f.budget.used(4);
  EXPECT_EQ(f.budget.lent(), 6u);
  f.budget.used(100);
  EXPECT_EQ(f.budget.lent(), 0u);
}

TEST(Budget, UnlimitedLendsWhatIsAskedAndCountsNothing) {
  Fixed f(160);
  f.budget.keep(160);
  ASSERT_EQ(f.budget.lend(1), 0u);
  f.budget.set_unlimited(true);
  EXPECT_TRUE(f.budget.can_lend());
  EXPECT_EQ(f.budget.lend(1 << 30), 1u << 30);
  EXPECT_EQ(f.budget.lent(), 0u);
  f.budget.set_unlimited(false);
  EXPECT_FALSE(f.budget.can_lend());
}

TEST(Budget, AnyOneGetsWhatTheOthersDoNotTake) {
  Budget::Pool pool(3200, 4);
  ASSERT_EQ(pool.own, 400u);
  Budget budget(pool);
  std::uint64_t lent = 0;
  while (const auto n = budget.lend(1000)) lent += n;
  EXPECT_EQ(pool.left, 0u);
  EXPECT_EQ(lent, budget.lent());
  EXPECT_GE(lent, 2000u * 15 / 16 - 1) << "its own 400, and the 1600 of the pool";
  EXPECT_LE(lent, 2000u);
}

// Against arithmetic: its size is its own part and what has gone from the pool.
TEST(Budget, RandomRunsKeepToTheSize) {
  std::mt19937 random(17);
  const auto below = [&](std::uint64_t n) { return static_cast<std::uint32_t>(random() % n); };
  for (int run = 0; run < 2000; ++run) {
    Budget::Pool pool(below(600), 1 + below(4));
    const std::uint64_t all = pool.left;
    Budget budget(pool);
    std::uint64_t kept = 0, lent = 0, disables = 0;
    bool disabled = false;
    for (int step = 0; step < 100; ++step) {
      const std::uint64_t free_before = pool.own + all - pool.left - kept - lent;
      switch (below(4)) {
        case 0: {
          const bool could = budget.can_lend();
          const std::uint32_t want = 1 + below(100), n = budget.lend(want);
          const std::uint64_t size = pool.own + all - pool.left, free = size - kept - lent;
          const bool lends = disabled ? free != 0 && free >= (size - lent) / 2 : free > size / 16;
          ASSERT_EQ(n != 0, lends) << "size " << size << ", kept " << kept << ", lent " << lent;
          ASSERT_LE(n, want);
          ASSERT_LE(n, std::max<std::uint64_t>(free / 2, 1));
          ASSERT_TRUE(!lends || n == want || free / 2 < want);
          ASSERT_TRUE(free / 2 >= want || pool.left == 0) << "it does without before it takes of the pool";
          ASSERT_TRUE(free_before / 2 < want || !could || free == free_before) << "it takes of the pool without need";
          disables += !lends && !disabled;
          disabled = !lends;
          lent += n;
          break;
        }
        case 1: {  // a message comes that uses what was lent
          const std::uint32_t n = lent == 0 ? 0 : 1 + below(lent);
          budget.used(n), lent -= n;
          budget.keep(n), kept += n;
          break;
        }
        case 2: {
          const std::uint32_t n = below(lent + 1);
          budget.used(n), lent -= n;
          break;
        }
        case 3: {
          const std::uint32_t n = below(kept + 1);
          budget.release(n), kept -= n;
          break;
        }
      }
      ASSERT_LE(budget.kept() + budget.lent(), pool.own + all - pool.left);
      ASSERT_EQ(budget.kept(), kept);
      ASSERT_EQ(budget.lent(), lent);
      ASSERT_EQ(budget.disables(), disables);
    }
  }
}

TEST(Budget, ThreadsNeverTakeMoreThanThePoolHas) {
  for (int run = 0; run < 50; ++run) {
    constexpr std::uint32_t kThreads = 4;
    constexpr std::uint64_t kAll = 100003;
    Budget::Pool pool(kAll, kThreads);
    std::vector<Budget> budgets(kThreads, Budget(pool));
    std::vector<std::thread> threads;
    for (Budget& budget : budgets) {
      threads.emplace_back([&] {
        while (budget.lend(64) != 0) {
        }
      });
    }
    for (std::thread& t : threads) t.join();
    std::uint64_t lent = 0;
    for (const Budget& budget : budgets) lent += budget.lent();
    EXPECT_EQ(pool.left, 0u);
    EXPECT_LE(lent, kAll);
    EXPECT_GE(lent, kAll * 15 / 16 - kThreads) << "a share was lost";
  }
}

// Each source takes as much as it can have, and falls silent.
TEST(FlowLimits, WhatIsIdleLeavesSomethingForEverySource) {
  for (const std::uint32_t sources : {1u, 2u, 7u, 16u}) {
    for (const std::uint32_t vcis : {1u, 16u}) {
      const FlowLimits limits{.sources = sources, .vcis = vcis};
      Budget::Pool headers(limits.lendable_headers(), vcis), bytes(limits.lendable_bytes(), vcis);
      for (std::uint32_t vci = 0; vci < vcis; ++vci) {
        Budget some_headers(headers), some_bytes(bytes);
        for (std::uint32_t source = 0; source < sources; ++source) {
          EXPECT_NE(some_headers.lend(limits.most_headers(some_headers)), 0u) << sources << ' ' << vci << ' ' << source;
          EXPECT_NE(some_bytes.lend(limits.most_bytes(some_bytes)), 0u) << sources << ' ' << vci << ' ' << source;
        }
      }
    }
  }
}

TEST(FlowLimits, ReservesAndLoansKeepToTheLimits) {
  for (const std::uint32_t sources : {1u, 2u, 128u, 1000u}) {
    for (const std::uint32_t vcis : {1u, 16u}) {
      const FlowLimits limits{.sources = sources, .vcis = vcis};
      EXPECT_LE(std::uint64_t{limits.first_headers()} * sources * vcis, limits.headers / 4) << sources << ' ' << vcis;
      EXPECT_LE(std::uint64_t{limits.first_bytes()} * sources * vcis, limits.bytes / 4) << sources << ' ' << vcis;
      EXPECT_GE(limits.first_headers(), 1u);
      EXPECT_LE(limits.lendable_headers() + limits.headers / 4, limits.headers);
      EXPECT_LE(limits.lendable_bytes() + limits.bytes / 4, limits.bytes);
    }
  }
}

}  // namespace
}  // namespace heddle::portals
