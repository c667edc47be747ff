// Each edge is a message, or a copy where it leads back to where it began: one round.
#include "plan/neighbors.hpp"

#include <algorithm>

#include "mpi.h"
#include "plan/algorithms.hpp"
#include "plan/meaning.hpp"

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

Neighbors grid_neighbors(std::span<const int> dims, std::span<const int> periods, int rank) {
  Neighbors n;
  n.crossed = true;
  int stride = 1;
  for (const int length : dims) stride *= length;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const int length = dims[i];
    stride /= length;
    const int at = rank / stride % length;
    const auto at_place = [&](int place) { return rank + (place - at) * stride; };
    const bool leads_back = periods[i] != 0;
    n.sources.push_back(at > 0 || leads_back ? at_place((at + length - 1) % length) : -1);
    n.sources.push_back(at < length - 1 || leads_back ? at_place((at + 1) % length) : -1);
  }
  n.destinations = n.sources;
  return n;
}

Status check_ends(const Neighborhoods& neighborhoods, std::uint32_t ranks) {
  struct Sorted {
    std::vector<int> ends[2];  // sources, destinations
  };
  std::vector<Sorted> all(ranks);
  for (std::uint32_t r = 0; r < ranks; ++r) {
    const Neighbors* n = neighborhoods.of(r);
    if (n == nullptr) return error(MPI_ERR_TOPOLOGY, "the neighbours of rank %u are not known", r);
    all[r] = {{n->sources, n->destinations}};
    for (std::vector<int>& ends : all[r].ends) {
      std::ranges::sort(ends);
      if (ends.empty() || ends.back() < static_cast<int>(ranks)) continue;
      return error(MPI_ERR_TOPOLOGY, "rank %u has a neighbour that is none of the %u ranks", r, ranks);
    }
  }
  const auto times = [](std::span<const int> sorted, int rank) {
    const auto [begin, end] = std::equal_range(sorted.begin(), sorted.end(), rank);
    return static_cast<std::size_t>(end - begin);
  };
  constexpr const char* kNames[] = {"source", "destination"};
  for (std::uint32_t r = 0; r < ranks; ++r) {
    for (const std::size_t kind : {0, 1}) {
      for (auto rest = std::span<const int>(all[r].ends[kind]); !rest.empty();) {
        const int other = rest.front();
        const std::size_t named = times(rest, other);
        rest = rest.subspan(named);
        if (other < 0) continue;
        const std::vector<int>& there = all[static_cast<std::size_t>(other)].ends[1 - kind];
        const std::size_t back = times(there, static_cast<int>(r));
        if (named == back) continue;
        return error(
            MPI_ERR_TOPOLOGY,
            "rank %u names rank %d %zu times as a %s, and that names rank %u %zu times as a %s; both ends of an "
            "edge have to name it",
            r, other, named, kNames[kind], r, back, kNames[1 - kind]);
      }
    }
  }
  return Status::ok();
}

void build_edges(Builder& b) {
  const Neighbors& n = neighbors_of(b.spec(), b.rank());
  b.lay_out(Partition::kEdges, std::max({n.indegree(), n.outdegree(), 1u}));
  const auto input = [&](std::uint32_t i) {
    return Slice{kInput, b.spec().collective == Collective::kNeighborAllgather ? 0 : i, 1};
  };
  const int self = static_cast<int>(b.rank());
  std::vector<std::uint32_t> to_self;  // blocks of the input
  for (std::uint32_t i = 0; i < n.outdegree(); ++i) {
    if (n.destinations[i] == self) to_self.push_back(i);
  }
  for (std::uint32_t i = 0, copied = 0; i < n.indegree(); ++i) {
    const std::uint32_t block = n.received(i);
    const int source = n.sources[block];
    if (source >= 0 && source != self) {
      b.recv({kOutput, block, 1}, static_cast<std::uint32_t>(source));
    } else if (source == self) {  // there are as many, as the compiler has checked
      b.copy(input(to_self[copied++]), {kOutput, block, 1});
    }
  }
  for (std::uint32_t i = 0; i < n.outdegree(); ++i) {
    const int destination = n.destinations[i];
    if (destination >= 0 && destination != self) b.send(input(i), static_cast<std::uint32_t>(destination));
  }
}

}  // namespace heddle::plan
