// Where ranks share nodes: within a node, then between nodes by leaders, then within a node.
//
// Problem: between nodes a message takes 10 to 100 times as long as within one, and all ranks of a node share its way out.
//          A plan that does not know of nodes sends the same data over it once for each rank.
// Method:  ranks are consecutive in nodes of one size. What a node has is combined, or gathered, by a tree at its leader; leaders do
//          the same among themselves as ranks with a node each would; what comes goes down the node's tree. The leader is
//          the root in its own node, and in the others the rank in the root's place.
//          A long vector of an allreduce is scattered among several leaders of each node, and each exchanges its share with those of
//          its place. So all ports are busy, and the node's memory combines most.
//          Neighbours merge first, so the order of operands is kept.
// Cost:    2 log2(ranks of a node) short steps within, with several leaders 2; between nodes f - 1 messages for each leader and
//          step of factor f.
#include "plan/algorithms.hpp"
#include "plan/exchange.hpp"
#include "plan/tree.hpp"

namespace heddle::plan {
namespace {

// Factors up to 7, so that none of the leaders has to speak for another; for other numbers of nodes twos.
std::vector<std::uint32_t> radices(std::uint32_t nodes) {
  std::vector<std::uint32_t> all;
  std::uint32_t rest = nodes;
  for (std::uint32_t f = 2; f <= 7; ++f) {
    for (; rest % f == 0; rest /= f) all.push_back(f);
  }
  return rest == 1 ? all : twos(nodes);
}

// Of each node the ranks with one place in it lead: the root's.
struct Nodes {
  Nodes(const Builder& b, std::uint32_t root)
      : ppn(static_cast<std::uint32_t>(b.numbers()[0])),
        leads(b.rank() % ppn == root % ppn),
        within({b.rank() / ppn * ppn, 1, ppn, b.rank() % ppn}, root % ppn, 2),
        between({root % ppn, ppn, b.ranks() / ppn, b.rank() / ppn}, root / ppn, 2) {}
  // As an exchange, of those that have this rank's place in their nodes.
  Places leaders(const Builder& b) const {
    const std::uint32_t nodes = b.ranks() / ppn;
    return Places({b.rank() % ppn, ppn, nodes, b.rank() / ppn}, radices(nodes));
  }
  std::uint32_t ppn;
  bool leads;
  Tree within, between;  // `between`: of leaders
};

// A message that says no more than that its sender has come so far.
constexpr Slice kNothing{kInput, 0, 0}, kNothingCame{kOutput, 0, 0};

}  // namespace

// Leaders tell each other by dissemination: log2(nodes) steps instead of a tree up and down.
void build_barrier_nodes(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  const Nodes nodes(b, 0);
  for (const std::vector<Interval>& level : nodes.within.levels()) {
    for (const Interval& child : level) b.recv(kNothingCame, nodes.within.rank(child.first));
  }
  b.join();
  if (nodes.leads) {
    const std::uint32_t node = b.rank() / nodes.ppn, count = b.ranks() / nodes.ppn;
    for (std::uint32_t width = 1; width < count; width *= 2) {
      b.send(kNothing, (node + width) % count * nodes.ppn);
      b.recv(kNothingCame, (node + count - width) % count * nodes.ppn);
      b.join();
    }
  } else {
    b.send(kNothing, nodes.within.parent());
    b.recv(kNothingCame, nodes.within.parent());
    b.join();
  }
  nodes.within.farthest_first([&](Interval child) { b.send(kNothing, nodes.within.rank(child.first)); });
}

void build_bcast_nodes(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  const Nodes nodes(b, b.spec().root);
  if (nodes.leads) pass_down(b, nodes.between);
  pass_down(b, nodes.within);
}

void build_reduce_nodes(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  const std::uint32_t root = b.spec().root, top = b.spec().ordered ? 0 : root;
  const bool passes_on = top != root;
  const Nodes nodes(b, top);
  const std::uint8_t result = b.rank() == top && !passes_on ? kOutput : Builder::scratch(0);
  const std::uint8_t at = combine(b, nodes.within, kInput, result);
  if (nodes.leads) {
    sum_up(b, nodes.between, result, at);
  } else {
    b.send(b.all(at), nodes.within.parent());
  }
  if (passes_on && b.rank() == top) b.send(b.all(result), root);
  if (passes_on && b.rank() == root) b.recv(b.all(kOutput), top);
}

namespace {

void allreduce_whole(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  const Nodes nodes(b, 0);
  const std::uint8_t at = combine(b, nodes.within, kInput, nodes.leads ? kOutput : Builder::scratch(0));
  if (nodes.leads) {
    Reduction reduction(b, kOutput, 1, at);
    exchange(reduction, nodes.leaders(b), 0);
  } else {
    b.send(b.all(at), nodes.within.parent());
  }
  pass_down(b, nodes.within);
}

}  // namespace

void build_allreduce_nodes(Builder& b) {
  const auto leaders = static_cast<std::uint32_t>(b.numbers()[1]);
  if (leaders == 1) return allreduce_whole(b);
  const Nodes nodes(b, 0);
  const std::uint32_t node = b.rank() / nodes.ppn * nodes.ppn;
  const Places within({node, 1, nodes.ppn, b.rank() - node}, {leaders}), between = nodes.leaders(b);
  const std::uint32_t parts = leaders * between.count();
  b.lay_out(Partition::kShares, parts);
  Reduction reduction(b, kOutput, parts);
  if (reduction.fold(within)) {
    reduction.step(within, within.steps()[0], true);
    exchange(reduction, between, between.steps().size());
    reduction.gather(within, within.steps()[0]);
  }
  reduction.unfold(within);
}

void build_allgather_nodes(Builder& b) {
  b.lay_out(Partition::kPerRank, b.ranks());
  const Nodes nodes(b, 0);
  const Slice own{kInput, b.rank(), 1};
  // Its own block comes back to it with all the others.
  if (!nodes.leads && nodes.within.is_leaf()) {
    b.send(own, nodes.within.parent());
    return pass_down(b, nodes.within);
  }
  b.copy(own, {kOutput, b.rank(), 1});
  for (const std::vector<Interval>& level : nodes.within.levels()) {
    for (const Interval& child : level) b.recv(nodes.within.blocks(kOutput, child), nodes.within.rank(child.first));
  }
  if (nodes.leads) {
    gather_all(b, nodes.leaders(b), nodes.ppn, {kOutput, b.rank(), nodes.ppn});
  } else {
    b.send(nodes.within.blocks(kOutput, nodes.within.subtree()), nodes.within.parent());
  }
  pass_down(b, nodes.within);
}

}  // namespace heddle::plan
