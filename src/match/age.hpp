// Nodes that were collected from several bins, put in order of age.
//
// Problem: `purge` and `drain_in_order` hand receives over oldest first, and an engine with bins knows the order of each
//          bin only.
// Method:  merge sort of an intrusive queue by the sequence, bottom up: nothing is allocated, links alone move.
// Threads: as the engine that the nodes come from.
// Cost:    n log n, in the cold operations of an engine alone.
#pragma once

#include <array>
#include <cstddef>

#include "match/node.hpp"

namespace heddle::match {

// Moves all of `from` into its places in `into`; both are sorted.
template <class Node, class Tag>
void merge_by_age(Queue<Node, Tag>& into, Queue<Node, Tag>& from) noexcept {
  Queue<Node, Tag> merged;
  while (!into.empty() && !from.empty()) {
    merged.push_back(into.front()->sequence < from.front()->sequence ? *into.pop_front() : *from.pop_front());
  }
  merged.append(into);
  merged.append(from);
  into.append(merged);
}

template <class Node, class Tag>
void sort_by_age(Queue<Node, Tag>& nodes) noexcept {
  std::array<Queue<Node, Tag>, 48> runs;  // [i]: a sorted run of 2^i nodes, or nothing
  std::size_t used = 0;
  while (Node* node = nodes.pop_front()) {
    Queue<Node, Tag> run;
    run.push_back(*node);
    std::size_t i = 0;
    for (; !runs[i].empty(); ++i) merge_by_age(run, runs[i]);
    runs[i].append(run);
    if (i == used) ++used;
  }
  for (std::size_t i = 0; i < used; ++i) merge_by_age(nodes, runs[i]);
}

}  // namespace heddle::match
