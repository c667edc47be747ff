// The algorithms, and what each can do.
//
// Threads: any; no state.
#pragma once

#include <span>

#include "plan/builder.hpp"

namespace heddle::plan {

// What an algorithm's numbers are.
enum class Numbers : std::uint8_t {
  kNone,
  kOne,      // at least 1
  kRadix,    // at least 2
  kRadices,  // each at least 2, their product at most the number of ranks; none: as many 2s as fit
  kPhases,   // ports a step, as in "-7 1 7": negative: scatter; then the same number positive at the end: gather
  kNode,     // the ranks of a node, which divide the number of ranks
  kLeaders   // the same, and how many of them lead; 1
};

struct Algorithm {
  std::string_view name;
  Collective collective;
  bool keeps_order;  // also where the operation does not commute
  Numbers numbers;
  int usual;  // the number that is taken when none is given
  void (*build)(Builder&);
};

// Those of one collective stand together, the usual one first.
std::span<const Algorithm> algorithms();

// exchange.cpp: groups of radix ranks exchange with each other, step by step.
void build_allreduce_phases(Builder& b);
void build_allreduce_recursive(Builder& b);
void build_reduce_scatter_recursive(Builder& b);
void build_allgather_recursive(Builder& b);

// circulant.cpp: symmetric; every rank does the same, shifted.
void build_allgather_circulant(Builder& b);
void build_reduce_scatter_circulant(Builder& b);
void build_allreduce_circulant(Builder& b);
void build_barrier_dissemination(Builder& b);

// tree.cpp: k-nomial trees.
void build_bcast_tree(Builder& b);
void build_reduce_tree(Builder& b);
void build_allreduce_tree(Builder& b);
void build_gather_tree(Builder& b);
void build_scatter_tree(Builder& b);

// chain.cpp: pipelines, and scans.
void build_bcast_chain(Builder& b);
void build_reduce_chain(Builder& b);
void build_scan_doubling(Builder& b);
void build_exscan_doubling(Builder& b);

// nodes.cpp: within nodes and between them.
void build_barrier_nodes(Builder& b);
void build_bcast_nodes(Builder& b);
void build_reduce_nodes(Builder& b);
void build_allreduce_nodes(Builder& b);
void build_allgather_nodes(Builder& b);

// neighbors.cpp
void build_edges(Builder& b);

// alltoall.cpp
void build_alltoall_pairwise(Builder& b);
void build_alltoall_bruck(Builder& b);

}  // namespace heddle::plan
