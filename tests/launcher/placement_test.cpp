// Which rank runs where: the same by mpiexec's account and by what it tells the ranks.
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <unordered_map>

#include "boot/mapping.hpp"
#include "hosts.hpp"

namespace heddle::launcher {
namespace {

HostList some_hosts() {
  HostList hosts;
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) hosts.push_back({"h", *rc::gen::inRange(1, 5), *rc::gen::arbitrary<bool>()});
  return hosts;
}

RC_GTEST_PROP(Placement, IsWhatTheMappingSays, ()) {
  const HostList hosts = some_hosts();
  const int ranks = *rc::gen::inRange(1, 80);
  Placement placement;
  RC_ASSERT(place(hosts, ranks, true, placement).is_ok());
  RC_ASSERT(placement.node_of_rank.size() == static_cast<std::size_t>(ranks));
  std::vector<int> told;
  RC_ASSERT(boot::parse_process_mapping(placement.mapping, ranks, told).is_ok());
  RC_ASSERT(told == placement.node_of_rank);
}

RC_GTEST_PROP(Placement, FillsSlotsInOrderAndThenStartsAgain, ()) {
  const HostList hosts = some_hosts();
  const int ranks = *rc::gen::inRange(1, 80), slots = slots_of(hosts);
  Placement placement;
  RC_ASSERT(place(hosts, ranks, true, placement).is_ok());
  std::unordered_map<int, int> on_node;
  for (int r = 0; r < ranks; ++r) {
    const int node = placement.node_of_rank[static_cast<std::size_t>(r)];
    ++on_node[node];
    RC_ASSERT(node < placement.nodes);
    if (r >= slots) RC_ASSERT(node == placement.node_of_rank[static_cast<std::size_t>(r - slots)]);
    if (r > 0 && r < slots) RC_ASSERT(node >= placement.node_of_rank[static_cast<std::size_t>(r - 1)]);
  }
  RC_ASSERT(static_cast<int>(on_node.size()) == placement.nodes);
  if (ranks <= slots) {
    for (const auto& [node, count] : on_node) RC_ASSERT(count <= hosts[static_cast<std::size_t>(node)].slots);
  }
}

TEST(Placement, MappingIsShort) {
  HostList hosts(1000, HostEntry{"h", 4, true});
  Placement placement;
  ASSERT_TRUE(place(hosts, 4000, false, placement));
  EXPECT_EQ(placement.mapping, "(vector,(0,1000,4))");
  for (std::size_t i = 0; i < hosts.size(); i += 2) hosts[i].slots = 3;
  EXPECT_FALSE(place(HostList(3000, hosts[0]), 9001, false, placement)) << "one rank too many";
  HostList irregular;
  for (int i = 0; i < 3000; ++i) irregular.push_back({"h", 1 + i % 2, false});
  EXPECT_FALSE(place(irregular, 4500, false, placement)) << "more than a rank could be told";
}

}  // namespace
}  // namespace heddle::launcher
