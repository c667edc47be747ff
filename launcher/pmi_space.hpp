// The job's side of PMI: what all nodes have put, the barrier of all nodes, and who will never come to it.
//
// Problem: MPI_Init is a meeting of all ranks, and so is a barrier: when one has ended, the others wait for ever.
// Method:  a node says when the first of its ranks waits and when all do, so a barrier costs two messages a node and
//          a rank that waits in vain is known at once. Values stay here until someone asks: most ranks never talk to
//          most others.
// Threads: one.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "node_link.hpp"

namespace heddle::launcher {

class PmiSpace {
 public:
  void set_nodes(std::size_t nodes) { nodes_.resize(nodes); }

  void put(const std::string& key, const std::string& value) { values_[key] = value; }
  // Null: nobody has put it.
  const std::string* find(const std::string& key) const;

  void one_waits(int node, int rank) { nodes_[static_cast<std::size_t>(node)].waiting = rank; }
  // True: that was the last node, and the barrier is over. `other`: a rank there whose program is another one.
  bool all_wait(int node, const Witness& witness, std::optional<int>& other);
  // A rank of the node that is in the barrier.
  std::optional<int> waiting(int node) const { return nodes_[static_cast<std::size_t>(node)].waiting; }
  // The node has no rank left: barriers are for the others. True: that ends the one that they are in.
  bool leave(int node);
  void gone(int rank) { gone_ = gone_.value_or(rank); }

  struct Stuck {
    int waiting, gone;
  };
  // A rank that waits for one that has ended.
  std::optional<Stuck> stuck() const;

 private:
  struct Node {
    std::optional<int> waiting;
    bool complete = false, left = false;
    Witness witness;
  };

  std::vector<Node> nodes_;
  bool end_barrier_if_all_wait();

  std::size_t complete_ = 0, left_ = 0;
  std::optional<int> gone_;
  std::unordered_map<std::string, std::string> values_;
};

}  // namespace heddle::launcher
