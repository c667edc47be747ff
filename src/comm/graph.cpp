// Graph topologies: every rank knows all edges.
#include <algorithm>

#include "coll/operation.hpp"
#include "comm/api_topology.hpp"
#include "comm/with_topology.hpp"

namespace heddle::api {
namespace {

using comm::Creation;
using comm::Digest;
using mpi::Graph;

Status read_graph(const Comm& comm, MPI_Count nnodes, const int* index, const int* edges, Graph* graph) {
  if (nnodes < 0) return error(MPI_ERR_ARG, "nnodes is %lld; it must not be negative", static_cast<long long>(nnodes));
  if (nnodes > comm.size) {
    return error(MPI_ERR_ARG, "the graph has %lld nodes, and the communicator %d processes",
                 static_cast<long long>(nnodes), comm.size);
  }
  const int nodes = static_cast<int>(nnodes);
  int end = 0;
  for (int i = 0; i < nodes; ++i) {
    if (index[i] < end) {
      return error(MPI_ERR_ARG, "index[%d] is %d after %d; it says where the edges of node %d end, so it never falls",
                   i, index[i], end, i);
    }
    end = index[i];
  }
  if (end > 0 && edges == nullptr) {
    return error(MPI_ERR_ARG, "edges is a null pointer, but index tells of %d edges", end);
  }
  for (int i = 0; i < end; ++i) {
    if (edges[i] < 0 || edges[i] >= nodes) {
      return error(MPI_ERR_ARG, "edges[%d] is %d; the graph has nodes 0 to %d", i, edges[i], nodes - 1);
    }
  }
  graph->index.assign(index, index + nodes);
  graph->edges.assign(edges, edges + end);
  return Status::ok();
}

Status find_graph(const Comm& comm, const Graph** graph) {
  HEDDLE_TRY(mpi::check_topology(comm, MPI_GRAPH));
  *graph = &comm.topology->graph;
  return Status::ok();
}

Status find_node(const Comm& comm, int rank, const Graph** graph) {
  HEDDLE_TRY(find_graph(comm, graph));
  if (rank >= 0 && rank < comm.size) return Status::ok();
  return error(MPI_ERR_RANK, "rank is %d; the graph has ranks 0 to %d", rank, comm.size - 1);
}

Status check_room(const char* parameter, MPI_Count room, std::size_t needed, const char* ask) {
  if (room >= static_cast<MPI_Count>(needed)) return Status::ok();
  return error(MPI_ERR_ARG, "%s is %lld, but there are %zu (%s)", parameter, static_cast<long long>(room), needed, ask);
}

}  // namespace

Status graph_create(Comm& comm, int nnodes, const int* index, const int* edges, int, MPI_Comm* comm_graph) {
  HEDDLE_TRY(coll::check_intra(comm));
  *comm_graph = MPI_COMM_NULL;
  Graph graph;
  const Status judged = read_graph(comm, nnodes, index, edges, &graph);
  Digest digest;
  digest.add(graph.index);
  digest.add(graph.edges);
  const bool member = comm.rank < nnodes;
  Creation creation(comm);
  HEDDLE_TRY(comm::agree(comm, creation, judged, digest, member));
  if (!member) return Status::ok();
  return comm::make_with_topology(creation, comm::first_ranks(nnodes), mpi::make_graph(std::move(graph), comm.rank),
                                  comm_graph);
}

Status graph_map(Comm& comm, MPI_Count nnodes, const int* index, const int* edges, int* newrank) {
  Graph graph;
  HEDDLE_TRY(read_graph(comm, nnodes, index, edges, &graph));
  *newrank = comm.rank < nnodes ? comm.rank : MPI_UNDEFINED;
  return Status::ok();
}

Status graphdims_get(Comm& comm, int* nnodes, int* nedges) {
  const Graph* graph = nullptr;
  HEDDLE_TRY(find_graph(comm, &graph));
  *nnodes = comm.size;
  *nedges = static_cast<int>(graph->edges.size());
  return Status::ok();
}

Status graph_get(Comm& comm, MPI_Count maxindex, MPI_Count maxedges, int* index, int* edges) {
  const Graph* graph = nullptr;
  HEDDLE_TRY(find_graph(comm, &graph));
  HEDDLE_TRY(check_room("maxindex", maxindex, graph->index.size(), "MPI_Graphdims_get"));
  HEDDLE_TRY(check_room("maxedges", maxedges, graph->edges.size(), "MPI_Graphdims_get"));
  std::copy(graph->index.begin(), graph->index.end(), index);
  std::copy(graph->edges.begin(), graph->edges.end(), edges);
  return Status::ok();
}

Status graph_neighbors_count(Comm& comm, int rank, int* nneighbors) {
  const Graph* graph = nullptr;
  HEDDLE_TRY(find_node(comm, rank, &graph));
  *nneighbors = graph->degree(rank);
  return Status::ok();
}

Status graph_neighbors(Comm& comm, int rank, MPI_Count maxneighbors, int* neighbors) {
  const Graph* graph = nullptr;
  HEDDLE_TRY(find_node(comm, rank, &graph));
  const int degree = graph->degree(rank);
  HEDDLE_TRY(check_room("maxneighbors", maxneighbors, static_cast<std::size_t>(degree), "MPI_Graph_neighbors_count"));
  std::copy_n(graph->edges.begin() + graph->first(rank), degree, neighbors);
  return Status::ok();
}

}  // namespace heddle::api
