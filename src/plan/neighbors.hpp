// Who the neighbours of ranks are: what the plan of a neighbourhood collective is made from.
//
// Method:  an edge has a block at each of its ends. Where several edges lead from one rank to another, the k-th of them in the order in
//          which the one sends is the k-th in the order in which the other receives.
// Threads: immutable once it is made.
// Cost:    of source_block(): the neighbours of two ranks, looked through.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/status.hpp"

namespace heddle::plan {

struct Neighbors {
  // Below 0: there is nobody.
  // Block i of the output comes from sources[i], block i of the input goes to destinations[i]; of an allgather its only one goes to all.
  std::vector<int> sources, destinations;
  bool crossed = false;  // of sources 2i and 2i + 1 the second is received from first, as in a grid (mpi/topology.hpp)

  std::uint32_t indegree() const noexcept { return static_cast<std::uint32_t>(sources.size()); }
  std::uint32_t outdegree() const noexcept { return static_cast<std::uint32_t>(destinations.size()); }
  // The block that is received i-th; the other way round it is the same.
  std::uint32_t received(std::uint32_t i) const noexcept { return crossed ? i ^ 1 : i; }
};

// Of a rank of a grid: in each dimension below and above it; in row-major order, as of MPI_Cart_create. periods[i]: 0, or dimension i
// leads back to its begin. REQUIRES: the rank lies in the grid.
Neighbors grid_neighbors(std::span<const int> dims, std::span<const int> periods, int rank);

// Of all ranks, or of one: a rank knows its own.
class Neighborhoods {
 public:
  Neighborhoods() = default;
  Neighborhoods(std::uint32_t rank, Neighbors own) : first_(rank) { known_.push_back(std::move(own)); }
  explicit Neighborhoods(std::vector<Neighbors> all) : known_(std::move(all)) {}

  // Null: not known.
  const Neighbors* of(std::uint32_t rank) const noexcept {
    return rank < first_ || rank - first_ >= known_.size() ? nullptr : &known_[rank - first_];
  }
  // The block of the input of sources[block] that comes as this block of `rank`'s output. Nothing: its source knows of no such edge,
  // or is nobody. REQUIRES: the neighbours of both are known, and there is such a block.
  std::optional<std::uint32_t> source_block(std::uint32_t rank, std::uint32_t block) const noexcept;

 private:
  std::uint32_t first_ = 0;
  std::vector<Neighbors> known_;
};

// Whether the neighbours of so many ranks are known, and each edge has both of its ends; an error says which rank names one that
// does not name it.
Status check_ends(const Neighborhoods& neighborhoods, std::uint32_t ranks);

}  // namespace heddle::plan
