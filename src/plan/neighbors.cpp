// Each edge is a message, or a copy where it leads back to where it began: one round.
#include "plan/neighbors.hpp"

#include <algorithm>

#include "mpi.h"
#include "plan/algorithms.hpp"

namespace heddle::plan {

std::optional<std::uint32_t> Neighborhoods::source_block(std::uint32_t rank, std::uint32_t block) const noexcept {
  const Neighbors& here = *of(rank);
  const int source = here.sources[block], self = static_cast<int>(rank);
  if (source < 0) return std::nullopt;
  std::uint32_t edges = 0;  // from there to here, up to this one
  for (std::uint32_t i = 0; i <= here.received(block); ++i) edges += here.sources[here.received(i)] == source ? 1u : 0u;
  const std::vector<int>& sent = of(static_cast<std::uint32_t>(source))->destinations;
  for (std::uint32_t i = 0; i < sent.size(); ++i) {
    if (sent[i] == self && --edges == 0) return i;
  }
  return std::nullopt;
}

Status check_ends(const Neighborhoods& neighborhoods, std::uint32_t ranks) {
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const Neighbors* n = neighborhoods.of(r);
    if (n == nullptr) return error(MPI_ERR_TOPOLOGY, "the neighbours of rank %u are not known", r);
    const auto is_rank = [&](int other) { return other < static_cast<int>(ranks); };
    if (!std::ranges::all_of(n->sources, is_rank) || !std::ranges::all_of(n->destinations, is_rank)) {
      return error(MPI_ERR_TOPOLOGY, "rank %u has a neighbour that is none of the %u ranks", r, ranks);
    }
  }
  const auto edges = [&](const std::vector<int>& ends, std::uint32_t rank) {
    return std::ranges::count(ends, static_cast<int>(rank));
  };
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const Neighbors& here = *neighborhoods.of(r);
    for (const std::vector<int>* ends : {&here.sources, &here.destinations}) {
      const bool is_source = ends == &here.sources;
      for (const int end : *ends) {
        if (end < 0) continue;
        const auto other = static_cast<std::uint32_t>(end);
        const Neighbors& there = *neighborhoods.of(other);
        const auto named = edges(*ends, other), back = edges(is_source ? there.destinations : there.sources, r);
        if (named == back) continue;
        return error(
            MPI_ERR_TOPOLOGY,
            "rank %u names rank %u %lld times as a %s, and that names rank %u %lld times as a %s; both ends of an edge "
            "have to name it",
            r, other, static_cast<long long>(named), is_source ? "source" : "destination", r,
            static_cast<long long>(back), is_source ? "destination" : "source");
      }
    }
  }
  return Status::ok();
}

void build_edges(Builder& b) {
  const Neighbors* own = b.spec().neighborhoods != nullptr ? b.spec().neighborhoods->of(b.rank()) : nullptr;
  const Neighbors nobody;
  const Neighbors& n = own != nullptr ? *own : nobody;
  b.lay_out(Partition::kEdges, std::max({n.indegree(), n.outdegree(), 1u}));
  const auto input = [&](std::uint32_t i) {
    return Slice{kInput, b.spec().collective == Collective::kNeighborAllgather ? 0 : i, 1};
  };
  const auto other = [](int rank) { return static_cast<std::uint32_t>(rank); };
  // An edge from this rank to itself that has only one end here is left out: nobody else could be its other end.
  for (std::uint32_t i = 0; i < n.indegree(); ++i) {
    const std::uint32_t block = n.received(i);
    const int source = n.sources[block];
    if (source < 0) continue;
    if (other(source) != b.rank()) {
      b.recv({kOutput, block, 1}, other(source));
    } else if (const auto from = b.spec().neighborhoods->source_block(b.rank(), block)) {
      b.copy(input(*from), {kOutput, block, 1});
    }
  }
  for (std::uint32_t i = 0; i < n.outdegree(); ++i) {
    const int destination = n.destinations[i];
    if (destination >= 0 && other(destination) != b.rank()) b.send(input(i), other(destination));
  }
}

}  // namespace heddle::plan
