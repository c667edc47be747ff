// k-nomial trees, from any root.
//
// Method:  ranks count from the root. A rank's children are 1..k-1 times w further, for each power w of k below its own
//          lowest digit that is not zero; the subtree of a child at distance jw is the next w ranks. So a subtree is an
//          interval, and a rank that takes its children in order combines neighbours.
//          An operation that does not commute is rooted at rank 0, which passes the result on.
// Cost:    log_k(p) levels. With k at least p: everyone straight with the root.
#include <algorithm>

#include "plan/algorithms.hpp"

namespace heddle::plan {
namespace {

class Tree {
 public:
  Tree(const Builder& b, std::uint32_t root)
      : ranks_(b.ranks()), root_(root), me_((b.rank() + b.ranks() - root) % b.ranks()) {
    const std::uint64_t radix = static_cast<std::uint64_t>(b.numbers()[0]);
    while (span_ < ranks_ && me_ % (span_ * radix) == 0) span_ *= radix;
    for (std::uint64_t w = 1; w < span_; w *= radix) {
      levels_.emplace_back();
      for (std::uint64_t j = 1; j < radix && me_ + j * w < ranks_; ++j) {
        const auto child = static_cast<std::uint32_t>(me_ + j * w);
        levels_.back().push_back({child, static_cast<std::uint32_t>(std::min<std::uint64_t>(w, ranks_ - child))});
      }
    }
    parent_ = static_cast<std::uint32_t>(me_ - me_ % (span_ * radix));
  }
  bool is_root() const { return me_ == 0; }
  bool is_leaf() const { return levels_.empty() || levels_[0].empty(); }
  std::uint32_t parent() const { return rank(parent_); }
  std::uint32_t rank(std::uint32_t relative) const {
    return static_cast<std::uint32_t>((std::uint64_t{relative} + root_) % ranks_);
  }
  // Subtrees of the children, counted from the root; nearest first.
  const std::vector<std::vector<Interval>>& levels() const { return levels_; }
  // The blocks of a subtree.
  Slice blocks(std::uint8_t buffer, Interval subtree) const { return {buffer, rank(subtree.first), subtree.length}; }
  Interval subtree() const { return {me_, static_cast<std::uint32_t>(std::min<std::uint64_t>(span_, ranks_ - me_))}; }
  template <class Visit>
  void farthest_first(Visit visit) const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      for (const Interval& child : *level) visit(child);
    }
  }

 private:
  std::uint32_t ranks_, root_, me_, parent_ = 0;
  std::uint64_t span_ = 1;
  std::vector<std::vector<Interval>> levels_;
};

void pass_down(Builder& b, const Tree& tree) {
  if (!tree.is_root()) b.recv(b.all(kOutput), tree.parent());
  tree.farthest_first([&](Interval child) { b.send(b.all(kOutput), tree.rank(child.first)); });
}

// To `result` at the tree's root; elsewhere to scratch, and on to the parent.
void sum_up(Builder& b, const Tree& tree, std::uint8_t result) {
  const std::uint8_t sum = tree.is_root() ? result : Builder::scratch(0);
  std::uint8_t at = kInput;
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
  if (!tree.is_root()) return b.send(b.all(at), tree.parent());
  if (at == kInput) b.copy(b.all(kInput), b.all(result));
}

}  // namespace

void build_bcast_tree(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  pass_down(b, Tree(b, b.spec().root));
}

void build_reduce_tree(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  const std::uint32_t root = b.spec().root, top = b.spec().ordered ? 0 : root;
  const bool passes_on = top != root;
  sum_up(b, Tree(b, top), passes_on ? Builder::scratch(0) : kOutput);
  if (passes_on && b.rank() == top) b.send(b.all(Builder::scratch(0)), root);
  if (passes_on && b.rank() == root) b.recv(b.all(kOutput), top);
}

void build_allreduce_tree(Builder& b) {
  b.lay_out(Partition::kShares, 1);
  const Tree tree(b, 0);
  sum_up(b, tree, kOutput);
  pass_down(b, tree);
}

void build_gather_tree(Builder& b) {
  b.lay_out(Partition::kPerRank, b.ranks());
  const Tree tree(b, b.spec().root);
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
  const Tree tree(b, b.spec().root);
  const Slice own{kOutput, b.rank(), 1};
  if (!tree.is_root() && tree.is_leaf()) return b.recv(own, tree.parent());
  const std::uint8_t all = tree.is_root() ? kInput : Builder::scratch(0);
  if (!tree.is_root()) b.recv(tree.blocks(all, tree.subtree()), tree.parent());
  tree.farthest_first([&](Interval child) { b.send(tree.blocks(all, child), tree.rank(child.first)); });
  b.copy({all, b.rank(), 1}, own);
}

}  // namespace heddle::plan
