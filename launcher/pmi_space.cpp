#include "pmi_space.hpp"

namespace heddle::launcher {

const std::string* PmiSpace::find(const std::string& key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

bool PmiSpace::all_wait(int node, const Witness& witness, std::optional<int>& other) {
  Node& n = nodes_[static_cast<std::size_t>(node)];
  if (n.complete || n.left) return false;
  for (const Node& before : nodes_) {
    if (!before.complete || before.witness.first_program < 0 || witness.first_program < 0) continue;
    if (before.witness.first_program != witness.first_program) other = before.witness.rank;
  }
  n.waiting = witness.rank;
  n.complete = true;
  n.witness = witness;
  ++complete_;
  return end_barrier_if_all_wait();
}

bool PmiSpace::end_barrier_if_all_wait() {
  if (complete_ == 0 || complete_ < nodes_.size() - left_) return false;
  complete_ = 0;
  for (Node& each : nodes_) each = {.left = each.left};
  return true;
}

bool PmiSpace::leave(int node) {
  Node& n = nodes_[static_cast<std::size_t>(node)];
  if (n.left) return false;
  complete_ -= n.complete;
  n = {.left = true};
  ++left_;
  return end_barrier_if_all_wait();
}

std::optional<PmiSpace::Stuck> PmiSpace::stuck() const {
  if (!gone_) return {};
  for (const Node& n : nodes_) {
    if (n.waiting) return Stuck{*n.waiting, *gone_};
  }
  return {};
}

}  // namespace heddle::launcher
