// A tree of a team (tree.cpp), and what goes along it.
//
// Threads: one at a time.
#pragma once

#include <algorithm>
#include <vector>

#include "plan/builder.hpp"

namespace heddle::plan {

class Tree {
 public:
  // `root`: a member.
  Tree(Team team, std::uint32_t root, std::uint64_t radix)
      : team_(team), ranks_(team.size), root_(root), me_((team.me + ranks_ - root) % ranks_) {
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
    return team_.rank(static_cast<std::uint32_t>((std::uint64_t{relative} + root_) % ranks_));
  }
  // Subtrees of the children, counted from the root; nearest first.
  const std::vector<std::vector<Interval>>& levels() const { return levels_; }
  // The blocks of a subtree; of a team of neighbours.
  Slice blocks(std::uint8_t buffer, Interval subtree) const { return {buffer, rank(subtree.first), subtree.length}; }
  Interval subtree() const { return {me_, static_cast<std::uint32_t>(std::min<std::uint64_t>(span_, ranks_ - me_))}; }
  template <class Visit>
  void farthest_first(Visit visit) const {
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      for (const Interval& child : *level) visit(child);
    }
  }

 private:
  Team team_;
  std::uint32_t ranks_, root_, me_, parent_ = 0;
  std::uint64_t span_ = 1;
  std::vector<std::vector<Interval>> levels_;
};

// All of the output, from the root.
void pass_down(Builder& b, const Tree& tree);
// What the subtree has, this rank's own being in `at`: to `sum`, unless it is in one place already. Gives that place.
std::uint8_t combine(Builder& b, const Tree& tree, std::uint8_t at, std::uint8_t sum);
// To `result` at the root; elsewhere to scratch, and on to the parent.
void sum_up(Builder& b, const Tree& tree, std::uint8_t result, std::uint8_t at = kInput);

}  // namespace heddle::plan
