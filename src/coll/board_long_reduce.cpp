// Long operands that are combined.
#include <algorithm>
#include <memory>
#include <vector>

#include "coll/board_long.hpp"
#include "coll/combining.hpp"
#include "coll/course.hpp"

namespace heddle::coll {
namespace {

// Bytes of a rank's part of an allreduce from which operands are read where they lie rather than taken from cells
// (docs/decisions/collectives.md).
constexpr std::size_t kThanCells = 64 << 10;

// Calls piece(first, count) for what a cell holds of the items [first, end).
template <class Piece>
Status in_pieces(std::size_t cell, std::size_t item, MPI_Count first, MPI_Count end, Piece&& piece) {
  const auto most = static_cast<MPI_Count>(cell / item);
  for (; first < end; first += most) HEDDLE_TRY(piece(first, std::min(most, end - first)));
  return Status::ok();
}

// What of each part is not in the root's result: the chunk that its rank has kept goes there through the cells, and of the rest
// the operands, which nothing has been written over.
[[gnu::cold]] Status finish_reduce(mpi::Comm& comm, wire::Board& board, Buffer own, Buffer to, Op& op, int root,
                                   const std::byte* kept, const std::vector<Place>& places) {
  const Parts parts{own.count, comm.size};
  const std::size_t item = raw_bytes(*own.type);
  const auto nobodys = std::make_unique<std::byte[]>(board.cell_bytes());
  for (int rank = 0; rank < comm.size; ++rank) {
    const Place& there = places[size_of(rank)];
    const MPI_Count end = parts.begin(rank + 1), begin = parts.begin(rank) + there.good;
    const MPI_Count middle = there.data == nullptr ? begin : std::min(end, begin + Combining::chunk(item));
    HEDDLE_TRY(in_pieces(board.cell_bytes(), item, begin, middle, [&](MPI_Count first, MPI_Count count) {
      const void* data = comm.rank == rank   ? kept + size_of(first - begin) * item
                         : comm.rank == root ? to.part(first, 0).data
                                             : nobodys.get();
      return bcast_cell(comm, board, Buffer(data, count * static_cast<MPI_Count>(item), mpi::byte_type()), rank);
    }));
    HEDDLE_TRY(in_pieces(board.cell_bytes(), item, middle, end, [&](MPI_Count first, MPI_Count count) {
      return *board_reduce(comm, nullptr, own.part(first, count), to.part(first, 0).data, op, root);
    }));
  }
  return Status::ok();
}

}  // namespace

Outcome long_allreduce(mpi::Comm& comm, wire::Board& board, const Round& round) {
  const std::size_t item = raw_bytes(*round.to.type);
  if (item > board.cell_bytes()) return go_through(comm, board, {round, Way::kMessages}, round.bytes);
  if (board.reaches_all() && round.bytes / size_of(comm.size) >= kThanCells) {
    return go_through(comm, board, {round, Way::kAllreduce}, round.bytes);
  }
  bool has_begun = false;
  const Status done = in_pieces(board.cell_bytes(), item, 0, round.to.count, [&](MPI_Count at, MPI_Count count) {
    HEDDLE_TRY(
        allreduce_cell(comm, board, round.bytes, round.shows.part(at, count), round.to.part(at, 0).data, *round.op));
    has_begun = true;
    return Status::ok();
  });
  // A rank without memory for its cells is seen by all, who wait for all.
  if (done.error_class() == MPI_ERR_NO_MEM && !has_begun) return {};
  return done;
}

Outcome long_reduce(mpi::Comm& comm, wire::Board& board, Buffer own, void* result, Op& op, int root) {
  const std::size_t item = raw_bytes(*own.type), bytes = size_of(own.count) * item;
  const Parts parts{own.count, comm.size};
  const Buffer to(result, own.count, *own.type);
  const MPI_Count begin = parts.begin(comm.rank), length = parts.length(comm.rank);
  // Cells are for what could not be written, but then it is too late to find that there is no memory behind them.
  const bool has_cells = board.has_memory_for_all(Turn::Shows::kOne);
  Straight operands(comm, board, bytes, {.data = has_cells ? own.data : nullptr, .result = result});
  if (!operands.is_good()) return operands.status();
  if (!operands.places().all([](int, Place place) { return place.data != nullptr; })) return {};
  Combining combining(comm, operands.places(), own, op);
  Place done;
  done.good =
      comm.rank == root ? combining.into(begin, to.part(begin, length)) : combining.to_rank(root, begin, length);
  done.data = combining.kept();
  std::vector<Place> places;
  {
    Straight end(comm, board, bytes, done);
    if (!end.is_good()) return end.status();
    if (end.places().all([&](int rank, Place place) { return place.good == parts.length(rank); })) return Status::ok();
    for (int rank = 0; rank < comm.size; ++rank) places.push_back(end.places().of(rank));
  }
  return finish_reduce(comm, board, own, to, op, root, static_cast<const std::byte*>(done.data), places);
}

}  // namespace heddle::coll
