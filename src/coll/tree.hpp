// Ranks as a binomial tree sees them: counted from the root.
//
//     relative 0 is the root; the parent of r is r without its lowest bit; r's subtree is [r, r + lowest bit of r).
#pragma once

#include "coll/schedule.hpp"

namespace heddle::coll {

class Tree {
 public:
  Tree(const Schedule& s, int root) noexcept : size_(s.size()), root_(root) {
    me_ = s.rank() - root;
    if (me_ < 0) me_ += size_;
  }

  int me() const noexcept { return me_; }
  bool is_root() const noexcept { return me_ == 0; }
  int rank(int relative) const noexcept {
    return relative < size_ - root_ ? relative + root_ : relative - (size_ - root_);
  }
  int parent() const noexcept { return rank(me_ & (me_ - 1)); }
  // Distances to children are the powers of two below this.
  int reach() const noexcept { return is_root() ? size_ : me_ & -me_; }
  // The ranks of the subtree of `relative`, itself included, whose parent is `distance` below.
  int subtree(int relative, int distance) const noexcept {
    return relative + distance <= size_ ? distance : size_ - relative;
  }
  bool has_child(int distance) const noexcept { return distance < reach() && me_ + distance < size_; }

 private:
  int size_, root_, me_;
};

}  // namespace heddle::coll
