// What a collective means, block by block: the one place that says which operands have to arrive where.
#pragma once

#include <cstdint>

#include "plan/neighbors.hpp"
#include "plan/plan.hpp"

namespace heddle::plan {

inline bool reduces(Collective c) {
  return c == Collective::kReduce || c == Collective::kAllreduce || c == Collective::kReduceScatter ||
         c == Collective::kScan || c == Collective::kExscan;
}

inline bool is_among_neighbors(Collective c) {
  return c == Collective::kNeighborAllgather || c == Collective::kNeighborAlltoall;
}

// REQUIRES: they are known, as of all that follows.
inline const Neighbors& neighbors_of(const Spec& spec, std::uint32_t rank) {
  static const Neighbors nobody;
  return spec.neighborhoods != nullptr ? *spec.neighborhoods->of(rank) : nobody;
}

// Whether a rank has an operand in this block of its input. (The root of a broadcast has it in its output.)
inline bool has_input(const Spec& spec, std::uint32_t rank, std::uint32_t block) {
  switch (spec.collective) {
    case Collective::kBarrier:
    case Collective::kBcast:
      return false;
    case Collective::kAllgather:
    case Collective::kGather:
      return block == rank;
    case Collective::kScatter:
      return rank == spec.root;
    case Collective::kNeighborAllgather:
      return block == 0;
    case Collective::kNeighborAlltoall:
      return block < neighbors_of(spec, rank).outdegree();
    default:
      return true;
  }
}

// Whether a rank's output has this block, so that the plan may write it.
inline bool has_output(const Spec& spec, std::uint32_t rank, std::uint32_t block) {
  switch (spec.collective) {
    case Collective::kBarrier:
      return false;
    case Collective::kBcast:
      return rank != spec.root;
    case Collective::kReduce:
    case Collective::kGather:
      return rank == spec.root;
    case Collective::kReduceScatter:
    case Collective::kScatter:
      return block == rank;
    case Collective::kExscan:
      return rank != 0;
    case Collective::kNeighborAllgather:
    case Collective::kNeighborAlltoall: {
      const Neighbors& n = neighbors_of(spec, rank);
      return block < n.indegree() && n.sources[block] >= 0;
    }
    default:
      return true;
  }
}

// The operands of an output block: block `block` of the ranks from `first` to before `end`. No ranks: none can be right.
struct Operands {
  std::uint32_t first, end, block;
};
inline Operands operands(const Spec& spec, std::uint32_t rank, std::uint32_t block) {
  switch (spec.collective) {
    case Collective::kAllgather:
    case Collective::kGather:
      return {block, block + 1, block};
    case Collective::kAlltoall:
      return {block, block + 1, rank};
    case Collective::kBcast:
    case Collective::kScatter:
      return {spec.root, spec.root + 1, block};
    case Collective::kScan:
      return {0, rank + 1, block};
    case Collective::kExscan:
      return {0, rank, block};
    case Collective::kNeighborAllgather:
    case Collective::kNeighborAlltoall: {
      const auto source = static_cast<std::uint32_t>(neighbors_of(spec, rank).sources[block]);
      const auto from = spec.neighborhoods->source_block(rank, block);
      if (!from) return {source, source, 0};
      return {source, source + 1, spec.collective == Collective::kNeighborAllgather ? 0 : *from};
    }
    default:
      return {0, spec.ranks, block};
  }
}

}  // namespace heddle::plan
