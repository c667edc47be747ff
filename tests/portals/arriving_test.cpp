#include "portals/arriving.hpp"

#include <gtest/gtest.h>

namespace heddle::portals {
namespace {

TEST(Arriving, FindsWhoWaitsAndCountsWhatNobodyWaitsFor) {
  Arriving arriving;
  MatchEntry one, two;
  const Arriving::Name name{3, 5, 0, 0x1000};
  const Arriving::Name* const first = arriving.add(name, one);
  EXPECT_EQ(arriving.find_or_drop(name, 100), &one);
  EXPECT_EQ(arriving.dropped(), 0u);
  // The same name in another context, from another source, by another lane, and another message.
  for (const Arriving::Name& other :
       {Arriving::Name{4, 5, 0, 0x1000}, {3, 6, 0, 0x1000}, {3, 5, 1, 0x1000}, {3, 5, 0, 0x1010}}) {
    EXPECT_EQ(arriving.find_or_drop(other, 7), nullptr);
  }
  EXPECT_EQ(arriving.dropped(), 28u);
  const Arriving::Name by_another_lane{3, 5, 1, 0x1000};
  const Arriving::Name* const second = arriving.add(by_another_lane, two);
  EXPECT_EQ(arriving.find_or_drop(name, 100), &one);
  EXPECT_EQ(arriving.find_or_drop(by_another_lane, 100), &two);
  arriving.remove(*first);
  EXPECT_EQ(arriving.find_or_drop(name, 11), nullptr);
  EXPECT_EQ(arriving.find_or_drop(by_another_lane, 100), &two);
  arriving.remove(*second);
  EXPECT_EQ(arriving.size(), 0u);
  EXPECT_EQ(arriving.dropped(), 39u);
}

// Names stay where they are while others come and go.
TEST(Arriving, ManyAtOnce) {
  Arriving arriving;
  std::vector<MatchEntry> entries(3000);
  std::vector<const Arriving::Name*> names;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    names.push_back(
        arriving.add({1, static_cast<std::int32_t>(i % 7), static_cast<std::uint32_t>(i % 3), i * 64}, entries[i]));
  }
  for (std::size_t i = 0; i < entries.size(); i += 2) arriving.remove(*names[i]);
  for (std::size_t i = 1; i < entries.size(); i += 2) {
    EXPECT_EQ(names[i]->message, i * 64);
    EXPECT_EQ(arriving.find_or_drop(*names[i], 1), &entries[i]);
  }
  EXPECT_EQ(arriving.dropped(), 0u);
}

}  // namespace
}  // namespace heddle::portals
