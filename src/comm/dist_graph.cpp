// Distributed graph topologies: every rank knows its own neighbours.
//
// Method:  with MPI_Dist_graph_create_adjacent that is what it was given. With MPI_Dist_graph_create anyone may name any
//          edge: each goes to its two ends. Both ends get their edges by the rank that named them and then by their
//          place in its arrays, so the edges between two ranks stand in the same order at both, and a block that takes
//          the k-th of them arrives through the k-th.
// Cost:    MPI_Dist_graph_create: an alltoall, and 12 bytes to each end of an edge.
#include <algorithm>
#include <numeric>

#include "coll/api.hpp"
#include "coll/operation.hpp"
#include "comm/api_topology.hpp"
#include "comm/with_topology.hpp"

namespace heddle::api {
namespace {

using comm::Creation;
using mpi::Topology;

// An edge as one of its ends hears of it.
struct End {
  int outgoing;  // 1: it begins here
  int peer;
  int weight;
};
static_assert(sizeof(End) == 12);

Status check_rank(const Comm& comm, const char* parameter, MPI_Count i, int rank) {
  if (rank >= 0 && rank < comm.size) return Status::ok();
  return error(MPI_ERR_RANK, "%s[%lld] is %d; the communicator has ranks 0 to %d", parameter, static_cast<long long>(i),
               rank, comm.size - 1);
}

Status check_weights(const char* parameter, const int* weights, MPI_Count n) {
  if (weights == MPI_UNWEIGHTED || n == 0) return Status::ok();
  if (weights == nullptr || weights == MPI_WEIGHTS_EMPTY) {
    return error(MPI_ERR_ARG, "%s is %s, but there are %lld edges; pass their weights, or MPI_UNWEIGHTED everywhere",
                 parameter, weights == nullptr ? "a null pointer" : "MPI_WEIGHTS_EMPTY", static_cast<long long>(n));
  }
  for (MPI_Count i = 0; i < n; ++i) {
    if (weights[i] < 0) {
      return error(MPI_ERR_ARG, "%s[%lld] is %d; a weight must not be negative", parameter, static_cast<long long>(i),
                   weights[i]);
    }
  }
  return Status::ok();
}

// The arguments of one side of MPI_Dist_graph_create_adjacent.
Status check_side(const Comm& comm, const char* ranks_name, const int* ranks, const char* weights_name,
                  const int* weights, int n) {
  if (n < 0) return error(MPI_ERR_ARG, "there are %d %s; the degree must not be negative", n, ranks_name);
  for (int i = 0; i < n; ++i) HEDDLE_TRY(check_rank(comm, ranks_name, i, ranks[i]));
  return check_weights(weights_name, weights, n);
}

Status check_sides_agree(const int* sourceweights, int indegree, const int* destweights, int outdegree) {
  if (indegree == 0 || outdegree == 0) return Status::ok();
  if ((sourceweights == MPI_UNWEIGHTED) == (destweights == MPI_UNWEIGHTED)) return Status::ok();
  return error(MPI_ERR_ARG, "only one of sourceweights and destweights is MPI_UNWEIGHTED; a graph has weights or none");
}

// Edges that MPI_Dist_graph_create was given here, or an error.
Status count_edges(const Comm& comm, MPI_Count n, const int* sources, const int* degrees, const int* destinations,
                   const int* weights, MPI_Count* edges) {
  *edges = 0;
  for (MPI_Count i = 0; i < n; ++i) {
    HEDDLE_TRY(check_rank(comm, "sources", i, sources[i]));
    if (degrees[i] < 0) {
      return error(MPI_ERR_ARG, "degrees[%lld] is %d; it must not be negative", static_cast<long long>(i), degrees[i]);
    }
    *edges += degrees[i];
  }
  if (*edges > 0 && destinations == nullptr) {
    return error(MPI_ERR_ARG, "destinations is a null pointer, but degrees tells of %lld edges",
                 static_cast<long long>(*edges));
  }
  for (MPI_Count i = 0; i < *edges; ++i) HEDDLE_TRY(check_rank(comm, "destinations", i, destinations[i]));
  return check_weights("weights", weights, *edges);
}

// All ranks agree that they can go on, and whether the graph is weighted: that is for those with edges to say, so that
// one without may pass anything for the weights of none.
Status agree(Creation& creation, Status judged, bool has_edges, bool* weighted) {
  creation.refuse(judged);
  creation.set(*weighted, has_edges);
  if (judged) creation.join();
  HEDDLE_TRY(creation.agree());
  const std::vector<comm::Proposal>& all = creation.proposals();
  const auto says = [](const comm::Proposal& p) { return p.key != 0; };
  auto first = std::find_if(all.begin(), all.end(), says);
  if (first == all.end()) first = all.begin();
  *weighted = first->color != 0;
  for (const comm::Proposal& other : all) {
    if (!says(other) || other.color == first->color) continue;
    return error(MPI_ERR_ARG,
                 "ranks %d and %d disagree whether the graph has weights; pass MPI_UNWEIGHTED everywhere, "
                 "or nowhere",
                 static_cast<int>(first - all.begin()), static_cast<int>(&other - all.data()));
  }
  return Status::ok();
}

Status finish(Comm& comm, Creation& creation, Topology topology, MPI_Comm* newcomm) {
  topology.kind = MPI_DIST_GRAPH;
  if (!topology.weighted) {
    topology.source_weights.clear();
    topology.destination_weights.clear();
  }
  return comm::make_with_topology(creation, comm::first_ranks(comm.size),
                                  std::make_shared<Topology>(std::move(topology)), newcomm);
}

// Sends mine[r] to each rank r; what comes stands in the order of those who sent it.
Status deliver(Comm& comm, const std::vector<std::vector<End>>& mine, std::vector<End>* received) {
  const auto size = static_cast<std::size_t>(comm.size);
  std::vector<MPI_Count> out(size), in(size), out_at(size), in_at(size);
  std::vector<End> flat;
  for (std::size_t r = 0; r < size; ++r) {
    out[r] = static_cast<MPI_Count>(mine[r].size() * sizeof(End));
    out_at[r] = static_cast<MPI_Count>(flat.size() * sizeof(End));
    flat.insert(flat.end(), mine[r].begin(), mine[r].end());
  }
  mpi::Datatype& byte = mpi::byte_type();
  HEDDLE_TRY(alltoall(out.data(), sizeof(MPI_Count), byte, in.data(), sizeof(MPI_Count), byte, comm));
  std::exclusive_scan(in.begin(), in.end(), in_at.begin(), MPI_Count{0});
  received->resize(static_cast<std::size_t>(in_at.back() + in.back()) / sizeof(End));
  return alltoallv(flat.data(), mpi::IntArray(out.data()), mpi::IntArray(out_at.data()), byte, received->data(),
                   mpi::IntArray(in.data()), mpi::IntArray(in_at.data()), byte, comm);
}

// As much of a list as the caller has room for (MPI 5.0, 8.5.5); no weights into MPI_UNWEIGHTED.
void hand_over(const std::vector<int>& list, MPI_Count room, int* out) {
  if (out == MPI_UNWEIGHTED || out == MPI_WEIGHTS_EMPTY || out == nullptr) return;
  std::copy_n(list.begin(), std::min(static_cast<MPI_Count>(list.size()), room), out);
}

}  // namespace

Status dist_graph_create(Comm& comm, MPI_Count n, const int* sources, const int* degrees, const int* destinations,
                         const int* weights, Info*, int, MPI_Comm* comm_dist_graph) {
  HEDDLE_TRY(coll::check_intra(comm));
  *comm_dist_graph = MPI_COMM_NULL;
  MPI_Count edges = 0;
  const Status judged = count_edges(comm, n, sources, degrees, destinations, weights, &edges);
  Topology topology;
  topology.weighted = weights != MPI_UNWEIGHTED;
  Creation creation(comm);
  HEDDLE_TRY(agree(creation, judged, edges > 0, &topology.weighted));

  std::vector<std::vector<End>> ends(static_cast<std::size_t>(comm.size));
  MPI_Count edge = 0;
  for (MPI_Count i = 0; i < n; ++i) {
    for (int k = 0; k < degrees[i]; ++k, ++edge) {
      const int to = destinations[edge], weight = topology.weighted ? weights[edge] : 1;
      ends[static_cast<std::size_t>(sources[i])].push_back({1, to, weight});
      ends[static_cast<std::size_t>(to)].push_back({0, sources[i], weight});
    }
  }
  std::vector<End> mine;
  HEDDLE_TRY(deliver(comm, ends, &mine));
  plan::Neighbors own;
  for (const End& end : mine) {
    (end.outgoing != 0 ? own.destinations : own.sources).push_back(end.peer);
    (end.outgoing != 0 ? topology.destination_weights : topology.source_weights).push_back(end.weight);
  }
  topology.set_own(comm.rank, std::move(own));
  return finish(comm, creation, std::move(topology), comm_dist_graph);
}

Status dist_graph_create_adjacent(Comm& comm, int indegree, const int* sources, const int* sourceweights, int outdegree,
                                  const int* destinations, const int* destweights, Info*, int,
                                  MPI_Comm* comm_dist_graph) {
  HEDDLE_TRY(coll::check_intra(comm));
  *comm_dist_graph = MPI_COMM_NULL;
  Status judged = check_side(comm, "sources", sources, "sourceweights", sourceweights, indegree);
  if (judged) judged = check_side(comm, "destinations", destinations, "destweights", destweights, outdegree);
  if (judged) judged = check_sides_agree(sourceweights, indegree, destweights, outdegree);
  Topology topology;
  topology.weighted = (indegree > 0 ? sourceweights : destweights) != MPI_UNWEIGHTED;
  Creation creation(comm);
  HEDDLE_TRY(agree(creation, judged, indegree > 0 || outdegree > 0, &topology.weighted));
  topology.set_own(comm.rank, {{sources, sources + indegree}, {destinations, destinations + outdegree}});
  if (topology.weighted && indegree > 0) topology.source_weights.assign(sourceweights, sourceweights + indegree);
  if (topology.weighted && outdegree > 0) topology.destination_weights.assign(destweights, destweights + outdegree);
  return finish(comm, creation, std::move(topology), comm_dist_graph);
}

Status dist_graph_neighbors_count(Comm& comm, int* indegree, int* outdegree, int* weighted) {
  HEDDLE_TRY(mpi::check_topology(comm, MPI_DIST_GRAPH));
  *indegree = comm.topology->indegree();
  *outdegree = comm.topology->outdegree();
  *weighted = comm.topology->weighted;
  return Status::ok();
}

Status dist_graph_neighbors(Comm& comm, MPI_Count maxindegree, int* sources, int* sourceweights, MPI_Count maxoutdegree,
                            int* destinations, int* destweights) {
  HEDDLE_TRY(mpi::check_topology(comm, MPI_DIST_GRAPH));
  const Topology& topology = *comm.topology;
  const bool no_in = sourceweights == nullptr && maxindegree > 0 && topology.indegree() > 0;
  const bool no_out = destweights == nullptr && maxoutdegree > 0 && topology.outdegree() > 0;
  if (topology.weighted && (no_in || no_out)) {
    return error(MPI_ERR_ARG, "%s is a null pointer, but the graph has weights; pass an array, or MPI_UNWEIGHTED",
                 no_in ? "sourceweights" : "destweights");
  }
  hand_over(topology.own().sources, maxindegree, sources);
  hand_over(topology.own().destinations, maxoutdegree, destinations);
  hand_over(topology.source_weights, maxindegree, sourceweights);
  hand_over(topology.destination_weights, maxoutdegree, destweights);
  return Status::ok();
}

}  // namespace heddle::api
