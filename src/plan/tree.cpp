// k-nomial trees, from any root.
//
// Method:  ranks count from the root. A rank's children are 1..k-1 times w further, for each power w of k below its own
//          lowest digit that is not zero; the subtree of a child at distance jw is the next w ranks. So a subtree is an
//          interval, and a rank that takes its children in order combines neighbours.
//          An operation that does not commute is rooted at rank 0, which passes the result on.
// Cost:    log_k(p) levels. With k at least p: everyone straight with the root.
#include "plan/tree.hpp"

#include "plan/algorithms.hpp"

namespace heddle::plan {

void pass_down(Builder& b, const Tree& tree) {
  if (!tree.is_root()) b.recv(b.all(kOutput), tree.parent());
  tree.farthest_first([&](Interval child) { b.send(b.all(kOutput), tree.rank(child.first)); });
}

std::uint8_t combine(Builder& b, const Tree& tree, std::uint8_t at, std::uint8_t sum) {
  for (const std::vector<Interval>& level : tree.levels()) {
    // The first operand of all comes to where the sum will be, if that is scratch: the output may be the input's memory.
    const bool lands = at == kInput && sum >= kScratch;
    const auto operand = [&](std::size_t i) { return lands && i == 0 ? sum : Builder::scratch(i + 1); };
    for (std::size_t i = 0; i < level.size(); ++i) b.recv(b.all(operand(i)), tree.rank(level[i].first));
    for (std::size_t i = 0; i < level.size(); ++i) {
      b.reduce(b.all(at), b.all(operand(i)), b.all(sum));
      at = sum;
    }
  }
  return at;
}

void sum_up(Builder& b, const Tree& tree, std::uint8_t result, std::uint8_t at) {
  at = combine(b, tree, at, tree.is_root() ? result : Builder::scratch(0));
  if (!tree.is_root()) return b.send(b.all(at), tree.parent());
  if (at == kInput) b.copy(b.all(kInput), b.all(result));
}

namespace {

Tree tree_of(const Builder& b, std::uint32_t root) {
  return Tree(b.everyone(), root, static_cast<std::uint64_t>(b.numbers()[0]));
}

}  // namespace

void build_bcast_tree(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  pass_down(b, tree_of(b, b.spec().root));
}

void build_reduce_tree(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  const std::uint32_t root = b.spec().root, top = b.spec().ordered ? 0 : root;
  const bool passes_on = top != root;
  sum_up(b, tree_of(b, top), passes_on ? Builder::scratch(0) : kOutput);
  if (passes_on && b.rank() == top) b.send(b.all(Builder::scratch(0)), root);
  if (passes_on && b.rank() == root) b.recv(b.all(kOutput), top);
}

void build_allreduce_tree(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  const Tree tree = tree_of(b, 0);
  sum_up(b, tree, kOutput);
  pass_down(b, tree);
}

void build_gather_tree(Builder& b) {
  b.lay_out(Partition::kPerRank, b.ranks());
  const Tree tree = tree_of(b, b.spec().root);
  const Slice own{kInput, b.rank(), 1};
  if (!tree.is_root() && tree.is_leaf()) return b.send(own, tree.parent());
  const std::uint8_t all = tree.is_root() ? kOutput : Builder::scratch(0);
  for (const std::vector<Interval>& level : tree.levels()) {
    for (const Interval& child : level) b.recv(tree.blocks(all, child), tree.rank(child.first));
  }
  b.copy(own, {all, b.rank(), 1});
  if (!tree.is_root()) b.send(tree.blocks(all, tree.subtree()), tree.parent());
}

void build_scatter_tree(Builder& b) {
  b.lay_out(Partition::kPerRank, b.ranks());
  const Tree tree = tree_of(b, b.spec().root);
  const Slice own{kOutput, b.rank(), 1};
  if (!tree.is_root() && tree.is_leaf()) return b.recv(own, tree.parent());
  const std::uint8_t all = tree.is_root() ? kInput : Builder::scratch(0);
  if (!tree.is_root()) b.recv(tree.blocks(all, tree.subtree()), tree.parent());
  tree.farthest_first([&](Interval child) { b.send(tree.blocks(all, child), tree.rank(child.first)); });
  b.copy({all, b.rank(), 1}, own);
}

}  // namespace heddle::plan
