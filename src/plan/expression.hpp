// Expressions over the operands of a collective, each with one number: equal trees have equal numbers.
//
// Threads: one at a time.
// Cost:    16 bytes an expression and the table that finds it.
#pragma once

#include <cstdint>
#include <vector>

namespace heddle::plan {

class Expressions {
 public:
  using Id = std::uint64_t;  // 0: nothing

  explicit Expressions(std::uint64_t leaves) : leaves_(leaves), table_(64, 0) {}

  // Leaves are numbered by whoever asks.
  static Id leaf(std::uint64_t number) { return number + 1; }
  Id merge(Id left, Id right) {
    if (2 * (nodes_.size() + 1) > table_.size()) grow();
    std::uint64_t& slot = find({left, right});
    if (slot == 0) {
      nodes_.push_back({left, right});
      slot = nodes_.size();
    }
    return leaves_ + slot;
  }
  // visit(number of the leaf) from left to right, until it returns false.
  template <class Visit>
  bool walk(Id id, Visit visit) {
    stack_.assign(1, id);
    while (!stack_.empty()) {
      const Id top = stack_.back();
      stack_.pop_back();
      if (top <= leaves_) {
        if (!visit(top - 1)) return false;
        continue;
      }
      const Node& node = nodes_[top - leaves_ - 1];
      stack_.push_back(node.right);
      stack_.push_back(node.left);
    }
    return true;
  }

 private:
  struct Node {
    Id left, right;
    bool operator==(const Node&) const = default;
  };

  std::uint64_t& find(const Node& node) {
    const std::uint64_t mask = table_.size() - 1;
    std::uint64_t at = (node.left * 0x9e3779b97f4a7c15u ^ (node.right + 0x7f4a7c15u) * 0xd6e8feb86659fd93u);
    at ^= at >> 32;
    while (table_[at & mask] != 0 && !(nodes_[table_[at & mask] - 1] == node)) ++at;
    return table_[at & mask];
  }
  void grow() {
    table_.assign(table_.size() * 2, 0);
    for (std::uint64_t i = 0; i < nodes_.size(); ++i) find(nodes_[i]) = i + 1;
  }

  std::uint64_t leaves_;
  std::vector<Node> nodes_;
  std::vector<std::uint64_t> table_;  // number of the node + 1; at most half full
  std::vector<Id> stack_;
};

}  // namespace heddle::plan
