// Short blocking collectives through shared memory, where all ranks of a communicator are on one node.
//
// Problem: two ranks of a node talk in a cache line's time, and a message of the host takes several of those, or, where ranks outnumber cores, a
//          time slice of the scheduler.
// Method:  a rank has two cells, used by turns, and the number of the collective that it has come to. It writes what it shows into the
//          cell of this collective's parity and then the number; who needs it waits for that number, and reads. Who has come to
//          a collective has read all of those before, so a cell is written again when all have come to the one between.
//          Who waits asks the host for progress and gives its core away.
//
//     rank   0            64                64 + kCell          64 + 2 kCell
//            +------------+-----------------+-------------------+
//            | number 32  | even collectives | odd collectives  |
//            +------------+-----------------+-------------------+
//
// Threads: one at a time for a rank.
// Order:   the number is written with release and read with acquire.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "coll_kinds.hpp"
#include "coll_run.hpp"

namespace heddle::overlay {

class Board {
 public:
  static constexpr std::size_t kCell = 8 << 10;
  static constexpr int kMostRanks = 128;

  // Collective over `own`, all on one node. Takes steps while it waits for the others. Null at all ranks where one has no memory for it.
  static std::unique_ptr<Board> open(MPI_Comm own, int rank, int size);
  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  // Whether what a rank shows fits. `bytes`: of the vector, or of a rank's block.
  bool takes(CollKind kind, std::uint64_t bytes) const noexcept;
  void run(CollKind kind, const Call& call, int root, std::size_t bytes);
  // Of a collective that this rank cannot do: the others don't wait for it, and get anything.
  void skip() noexcept { show_nothing(); }

 private:
  struct Place {
    alignas(64) std::atomic<std::uint32_t> number;
    alignas(64) std::byte cells[2][kCell];
  };
  static_assert(offsetof(Place, cells) == 64 && sizeof(Place) == 64 + 2 * kCell);

  Board(Place* places, MPI_Comm own, int rank, int size) noexcept
      : places_(places), own_(own), rank_(rank), size_(size) {}
  void show(const std::byte* data, std::size_t bytes);
  void show_nothing() noexcept;
  void await(int rank, std::uint32_t number);
  void await_all(std::uint32_t number);
  const std::byte* shown(int rank) const noexcept { return places_[rank].cells[number_ % 2]; }
  void combine_all(const Call& call, std::size_t at, std::size_t bytes);

  Place* places_;
  MPI_Comm own_;
  int rank_, size_;
  std::uint32_t number_ = 0;
};

}  // namespace heddle::overlay
