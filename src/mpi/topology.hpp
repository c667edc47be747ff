// The topology of a communicator: who its members' neighbours are (MPI 5.0, 8).
//
// Problem: three kinds of topology must look alike to neighbourhood collectives, which know only lists of neighbours.
// Method:  what the program said is kept for the enquiry functions; beside it stand this rank's neighbours in the order
//          of the blocks in its buffers. Both lists hold MPI_PROC_NULL where a grid ends.
//          Messages between two ranks match in the order in which they were posted, so where two ranks are neighbours
//          more than once, the order decides which block goes where (plan/neighbors.hpp). Blocks are sent in the order of
//          `destinations`, and received in that of received(): in a grid, what goes in the negative direction arrives from the
//          positive one, also when a period of 1 or 2 makes both directions lead to the same rank.
//
//              period of 2: rank 0 sends          -   +      in this order: -, +
//                                                  \ /
//                                                   X
//                                                  / \       .
//                           rank 1 receives into  -   +      in this order: +, -
//
// Threads: immutable; a duplicated communicator shares it with its parent.
#pragma once

#include <memory>
#include <vector>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/comm.hpp"
#include "plan/neighbors.hpp"

namespace heddle::mpi {

// A Cartesian grid; ranks are in row-major order.
struct Grid {
  std::vector<int> dims;
  std::vector<int> periods;  // 0 or 1

  int ndims() const noexcept { return static_cast<int>(dims.size()); }
  std::vector<int> coords(int rank) const;
  // REQUIRES: every coordinate lies in the grid.
  int rank(const std::vector<int>& coords) const;
  // The rank `disp` steps along `direction`; MPI_PROC_NULL when that leads out of the grid.
  int shifted(int rank, int direction, MPI_Count disp) const;
};

// What MPI_Graph_create was given: every rank's neighbours, and where each rank's end.
struct Graph {
  std::vector<int> index, edges;

  int first(int rank) const noexcept { return rank == 0 ? 0 : index[static_cast<std::size_t>(rank) - 1]; }
  int degree(int rank) const noexcept { return index[static_cast<std::size_t>(rank)] - first(rank); }
};

struct Topology {
  int kind;  // MPI_CART, MPI_GRAPH or MPI_DIST_GRAPH
  Grid grid;
  Graph graph;
  bool weighted = false;
  std::vector<int> source_weights, destination_weights;  // of a weighted MPI_DIST_GRAPH

  int rank = 0;                       // in the communicator
  plan::Neighborhoods neighborhoods;  // this rank's at least

  void set_own(int self, plan::Neighbors own) {
    rank = self;
    neighborhoods = plan::Neighborhoods(static_cast<std::uint32_t>(self), std::move(own));
  }
  const plan::Neighbors& own() const noexcept { return *neighborhoods.of(static_cast<std::uint32_t>(rank)); }
  int indegree() const noexcept { return static_cast<int>(own().indegree()); }
  int outdegree() const noexcept { return static_cast<int>(own().outdegree()); }
};

std::shared_ptr<Topology> make_grid(Grid grid, int rank);
std::shared_ptr<Topology> make_graph(Graph graph, int rank);

// The communicator has a topology (of this kind), or MPI_ERR_TOPOLOGY.
Status check_topology(const Comm& comm);
Status check_topology(const Comm& comm, int kind);

}  // namespace heddle::mpi
