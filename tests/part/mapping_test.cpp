#include "part/mapping.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace heddle::part {
namespace {

TEST(Mapping, CoversEachByteOnce) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const std::uint64_t each = 1 + random() % 9, parts = 1 + random() % 9, total = each * parts;
    const std::uint64_t at = random() % total, bytes = random() % (total - at + 1);
    std::vector<std::uint64_t> want(parts), got(parts);
    for (std::uint64_t i = at; i < at + bytes; ++i) ++want[i / each];
    for_each_covered(at, bytes, each, [&](std::uint32_t p, std::uint64_t n) { got.at(p) += n; });
    EXPECT_EQ(got, want);
  }
}

TEST(Mapping, NothingOfNothing) {
  for_each_covered(0, 0, 0, [](std::uint32_t, std::uint64_t) { FAIL(); });
  EXPECT_EQ(Grouping(0, 3, 0).groups(), 0u);
  EXPECT_EQ(Grouping(5, 2, 0).groups(), 1u);
  EXPECT_EQ(Grouping(5, 2, 0).count(0), 5u);
}

TEST(Grouping, IsAPartitionOfThePartitionsWithinTheReceivers) {
  std::mt19937 random(11);
  bool grouped = false;
  for (int round = 0; round < 3000; ++round) {
    const std::uint32_t senders = 1 + random() % 40, receivers = 1 + random() % 12;
    const std::uint64_t each = 1 + random() % 3000;
    const Grouping grouping(senders, receivers, each);
    std::uint32_t next = 0;
    for (std::uint32_t g = 0; g < grouping.groups(); ++g) {
      ASSERT_EQ(grouping.first(g), next);
      ASSERT_GE(grouping.count(g), 1u);
      for (std::uint32_t i = 0; i < grouping.count(g); ++i) ASSERT_EQ(grouping.of(next + i), g);
      if (grouping.count(g) > 1) {
        grouped = true;
        ASSERT_LE(grouping.count(g) * each, Grouping::kTarget);
        // First and last are within one partition of the receiver.
        ASSERT_EQ(std::uint64_t{next} * receivers / senders,
                  std::uint64_t{next + grouping.count(g) - 1} * receivers / senders);
      }
      next += grouping.count(g);
    }
    ASSERT_EQ(next, senders);
  }
  EXPECT_TRUE(grouped);
}

}  // namespace
}  // namespace heddle::part
