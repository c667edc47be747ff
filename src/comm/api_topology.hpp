// Process topologies (MPI 5.0, 8), for the generated bindings. What makes a communicator is collective over the parent;
// all else is local.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/info.hpp"

namespace heddle::api {

// For what MPI_Cart_create and the other constructors find wrong before they are asked (comm/with_topology.hpp).
Status refuse_topology(mpi::Comm& comm, Status refusal);

using mpi::Comm;
using mpi::Info;

Status dims_create(int nnodes, int ndims, int* dims);

// `reorder` is permission, not a request: ranks stay as they are.
Status cart_create(Comm& comm, int ndims, const int* dims, const int* periods, int reorder, MPI_Comm* comm_cart);
Status cart_sub(Comm& comm, const int* remain_dims, MPI_Comm* newcomm);
Status cart_map(Comm& comm, int ndims, const int* dims, const int* periods, int* newrank);
Status cartdim_get(Comm& comm, int* ndims);
Status cart_get(Comm& comm, MPI_Count maxdims, int* dims, int* periods, int* coords);
Status cart_rank(Comm& comm, const int* coords, int* rank);
Status cart_coords(Comm& comm, int rank, MPI_Count maxdims, int* coords);
Status cart_shift(Comm& comm, int direction, int disp, int* rank_source, int* rank_dest);

Status graph_create(Comm& comm, int nnodes, const int* index, const int* edges, int reorder, MPI_Comm* comm_graph);
Status graph_map(Comm& comm, MPI_Count nnodes, const int* index, const int* edges, int* newrank);
Status graphdims_get(Comm& comm, int* nnodes, int* nedges);
Status graph_get(Comm& comm, MPI_Count maxindex, MPI_Count maxedges, int* index, int* edges);
Status graph_neighbors_count(Comm& comm, int rank, int* nneighbors);
Status graph_neighbors(Comm& comm, int rank, MPI_Count maxneighbors, int* neighbors);

Status dist_graph_create(Comm& comm, MPI_Count n, const int* sources, const int* degrees, const int* destinations,
                         const int* weights, Info* info, int reorder, MPI_Comm* comm_dist_graph);
Status dist_graph_create_adjacent(Comm& comm, int indegree, const int* sources, const int* sourceweights, int outdegree,
                                  const int* destinations, const int* destweights, Info* info, int reorder,
                                  MPI_Comm* comm_dist_graph);
Status dist_graph_neighbors_count(Comm& comm, int* indegree, int* outdegree, int* weighted);
Status dist_graph_neighbors(Comm& comm, MPI_Count maxindegree, int* sources, int* sourceweights, MPI_Count maxoutdegree,
                            int* destinations, int* destweights);

}  // namespace heddle::api
