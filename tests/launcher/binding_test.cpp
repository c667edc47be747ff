// Where ranks land, on machines that hwloc makes up.
#include "binding.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string>

namespace heddle::launcher {
namespace {

using Cpus = std::set<int>;

CpuSet of(const Cpus& cpus) {
  CpuSet set;
  set.words.resize(16);
  for (const int c : cpus) set.words[c / 64] |= 1ul << (c % 64);
  return set;
}

Cpus in(const CpuSet& set) {
  Cpus cpus;
  for (int c = 0; c < static_cast<int>(set.words.size()) * 64; ++c) {
    if ((set.words[c / 64] >> (c % 64) & 1) != 0) cpus.insert(c);
  }
  return cpus;
}

Cpus range(int from, int to) {
  Cpus cpus;
  for (int c = from; c < to; ++c) cpus.insert(c);
  return cpus;
}

// Two sockets of two NUMA nodes of two cores of two threads: 16 processors, thread pairs (0,1), (2,3), ...
class Binding : public testing::Test {
 protected:
  void SetUp() override { setenv("HWLOC_SYNTHETIC", "pack:2 group:2 [numa] core:2 pu:2", 1); }
  void TearDown() override { unsetenv("HWLOC_SYNTHETIC"); }

  std::vector<Cpus> plan(int ranks, Unit bind, Unit map = Unit::kNone, const Cpus& allowed = range(0, 16)) {
    options_.bind_to = bind;
    options_.map_by = map;
    std::vector<CpuSet> sets;
    if (!plan_binding(options_, static_cast<std::size_t>(ranks), of(allowed), sets)) return {};
    std::vector<Cpus> result;
    for (const CpuSet& s : sets) result.push_back(in(s));
    return result;
  }

  BindingOptions options_;
};

using List = std::vector<Cpus>;

TEST_F(Binding, None) { EXPECT_EQ(plan(2, Unit::kNone), (List{{}, {}})); }

TEST_F(Binding, ToCores) { EXPECT_EQ(plan(3, Unit::kCore), (List{{0, 1}, {2, 3}, {4, 5}})); }

TEST_F(Binding, ToHardwareThreads) { EXPECT_EQ(plan(3, Unit::kHwThread), (List{{0}, {1}, {2}})); }

TEST_F(Binding, CoresRoundRobinOverSockets) {
  EXPECT_EQ(plan(4, Unit::kCore, Unit::kSocket), (List{{0, 1}, {8, 9}, {2, 3}, {10, 11}}));
}

TEST_F(Binding, NumaNodesRoundRobin) {
  EXPECT_EQ(plan(5, Unit::kNuma, Unit::kNuma),
            (List{range(0, 4), range(4, 8), range(8, 12), range(12, 16), range(0, 4)}));
}

TEST_F(Binding, ToSockets) {
  const List all = plan(8, Unit::kSocket);
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(all[3], range(0, 8));
  EXPECT_EQ(all[4], range(8, 16));
}

TEST_F(Binding, OnlyWhatWasInherited) {
  EXPECT_EQ(plan(2, Unit::kCore, Unit::kNone, {3, 10, 11}), (List{{3}, {10, 11}}));
  EXPECT_EQ(plan(2, Unit::kSocket, Unit::kSocket, {3, 5, 10, 11}), (List{{3, 5}, {10, 11}}));
  EXPECT_EQ(plan(3, Unit::kHwThread, Unit::kNone, {3, 10, 11}), (List{{3}, {10}, {11}}));
}

TEST_F(Binding, TooMany) {
  EXPECT_TRUE(plan(9, Unit::kCore).empty());
  EXPECT_NE(std::string(last_error_detail()).find("9 ranks to bind, and only 8 core(s)"), std::string::npos)
      << last_error_detail();
  EXPECT_EQ(plan(16, Unit::kHwThread).size(), 16u);
  EXPECT_TRUE(plan(17, Unit::kHwThread).empty());
  options_.oversubscribe = true;
  EXPECT_EQ(plan(9, Unit::kCore)[8], (Cpus{0, 1}));
}

TEST_F(Binding, AMachineThatShowsNoSockets) {
  setenv("HWLOC_SYNTHETIC", "core:2 pu:1", 1);
  EXPECT_EQ(plan(2, Unit::kSocket, Unit::kSocket, {0, 1}), (List{{0, 1}, {0, 1}}));
}

}  // namespace
}  // namespace heddle::launcher
