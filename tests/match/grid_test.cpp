// What is the grid's own: searches skip other sources, numbers larger than the cube are folded, and an engine that is
// refused memory, at any table, still gives each match in order.
#include "match/grid.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <new>
#include <vector>

#include "match/oracle.hpp"

namespace {
std::size_t tables_left = SIZE_MAX;  // how many are still granted
std::size_t tables_taken = 0;
}  // namespace

void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  if (tables_left == 0) return nullptr;
  --tables_left;
  ++tables_taken;
  try {
    return operator new[](bytes);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

namespace heddle::match {
namespace {

constexpr std::int32_t kSpread[] = {0, 1, 15, 16, 255, 256, 4095, 4096, 65535, 65536, 65537, 0x7fffffff};

TEST(Grid, ASearchInspectsOneSource) {
  constexpr int kSources = 5000;
  GridEngine engine;
  std::vector<ReceiveNode> receives(kSources);
  for (int i = 0; i < kSources; ++i) {
    receives[static_cast<std::size_t>(i)].key = {1, i, 3};
    ASSERT_EQ(engine.post(receives[static_cast<std::size_t>(i)]), nullptr);
  }
  EXPECT_EQ(engine.arrive({1, kSources, 3}), nullptr);
  EXPECT_EQ(engine.stats().posted.inspected, 0u) << "nothing of that source is posted";
  for (int i = kSources; i-- > 0;) ASSERT_EQ(engine.arrive({1, i, 3}), &receives[static_cast<std::size_t>(i)]);
  EXPECT_EQ(engine.stats().posted.inspected, std::uint64_t{kSources});

  std::vector<MessageNode> messages(kSources);
  for (int i = 0; i < kSources; ++i) {
    messages[static_cast<std::size_t>(i)].key = {1, i, 3};
    engine.add_unexpected(messages[static_cast<std::size_t>(i)]);
  }
  for (int i = kSources; i-- > 0;) {
    ASSERT_EQ(engine.extract({1, i, kAnyTag}), &messages[static_cast<std::size_t>(i)]);
  }
  EXPECT_EQ(engine.stats().unexpected.inspected, std::uint64_t{kSources});
}

TEST(Grid, FoldedSourcesAreToldApart) {
  GridEngine engine;
  std::vector<ReceiveNode> receives(std::size(kSpread));
  for (std::size_t i = 0; i < receives.size(); ++i) {
    receives[i].key = {1, kSpread[i], 0};
    ASSERT_EQ(engine.post(receives[i]), nullptr);
  }
  EXPECT_EQ(engine.arrive({1, 2 * 65536, 0}), nullptr);
  EXPECT_EQ(engine.stats().posted.inspected, 2u) << "0 and 65536 have its leaf";
  for (std::size_t i = receives.size(); i-- > 0;) ASSERT_EQ(engine.arrive({1, kSpread[i], 0}), &receives[i]);
}

TEST(Grid, TheRadixIsAPowerOfTwoWithinBounds) {
  EXPECT_EQ(GridEngine().radix(), 16u);
  EXPECT_EQ(GridEngine(0).radix(), 2u);
  EXPECT_EQ(GridEngine(5).radix(), 8u);
  EXPECT_EQ(GridEngine(1000).radix(), 32u);
}

TEST(Grid, TablesAppearWithTheFirstEntryOfTheirPart) {
  tables_taken = 0;
  GridEngine engine;
  std::vector<ReceiveNode> receives(5);
  const Key keys[] = {{1, kAnySource, 0}, {1, 0, 0}, {1, 1, 0}, {1, 16, 0}, {1, 4096, 0}};
  const std::size_t expected[] = {0, 4, 4, 5, 8};
  EXPECT_EQ(engine.arrive({1, 4, 4}), nullptr);
  for (std::size_t i = 0; i < receives.size(); ++i) {
    receives[i].key = keys[i];
    engine.post(receives[i]);
    EXPECT_EQ(tables_taken, expected[i]) << "after " << i;
  }
  engine.drain_in_order([](ReceiveNode&) {}, [](MessageNode&) {});
}

// The same program with memory for 0, 1, 2, ... tables, until it asks for no more; then with memory that comes back, so
// that one source has entries in both places. Every result is the oracle's.
TEST(Grid, WhereMemoryIsRefusedNothingIsLostAndTheOrderStays) {
  std::vector<Op> program;
  for (int round = 0; round < 2; ++round) {
    for (std::int32_t source : kSpread) {
      for (std::int32_t tag : {0, 1, kAnyTag}) program.push_back({Op::kPost, {1, source, tag}});
      program.push_back({Op::kPost, {1, kAnySource, round}});
    }
  }
  for (std::int32_t source : kSpread) {
    for (int i = 0; i < 4; ++i) program.push_back({Op::kArrive, {1, source, i % 2}});
  }
  program.push_back({Op::kCancel, {}, 50});
  program.push_back({Op::kPurge, {2}});
  for (std::int32_t source : kSpread) {
    for (int i = 0; i < 9; ++i) program.push_back({Op::kArrive, {1, source, i % 3}});
  }
  for (std::int32_t source : kSpread) {
    program.push_back({Op::kProbe, {1, source, 2}});
    program.push_back({Op::kExtract, {1, source, kAnyTag}});
    program.push_back({Op::kExtract, {1, kAnySource, 1}});
  }
  for (std::size_t granted = 0;; ++granted) {
    SCOPED_TRACE(granted);
    const auto twin = std::make_unique<Twin<GridEngine>>();
    tables_left = granted;
    const std::string while_refused = twin->run(program);
    const bool enough = tables_left != 0;
    tables_left = 0;
    std::string coming_back;
    for (std::size_t i = 0; i < program.size() && coming_back.empty(); ++i) {
      if (i % 10 == 0) tables_left = 1;
      if (!twin->step(program[i])) coming_back = "differs at operation " + std::to_string(i);
    }
    tables_left = SIZE_MAX;
    EXPECT_EQ(while_refused, "");
    EXPECT_EQ(coming_back, "");
    EXPECT_TRUE(twin->finish());
    if (enough) break;
    ASSERT_LT(granted, 100u);
  }
}

}  // namespace
}  // namespace heddle::match
