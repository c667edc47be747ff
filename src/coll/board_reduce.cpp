// Reductions, by a board.
#include "coll/board.hpp"
#include "coll/board_long.hpp"
#include "coll/turn.hpp"

namespace heddle::coll {
namespace {

// Up to here each rank combines all operands by itself; beyond that each combines a part, and shows it.
constexpr std::size_t kAlone = 1024;

std::size_t raw_bytes(Buffer items) noexcept { return size_of(items.count) * coll::raw_bytes(*items.type); }

void show_raw(Turn& turn, std::size_t all, Buffer items, bool rings) noexcept {
  const std::size_t bytes = raw_bytes(items);
  turn.show(all, rings, bytes, [&](std::byte* to) { std::memcpy(to, items.data, bytes); });
}

// Null: by messages.
wire::Board* board_for(mpi::Comm& comm, const Datatype& type) noexcept {
  wire::Board* board = board_of(comm, Uses::kReduces);
  return coll::raw_bytes(type) != 0 ? board : nullptr;
}

}  // namespace

Status allreduce_cell(mpi::Comm& comm, wire::Board& board, std::size_t all, Buffer own, Buffer result, const Op& op) {
  const std::size_t bytes = raw_bytes(own);
  Turn turn(comm, board, all);
  show_raw(turn, all, own, false);
  if (!turn.await_all()) return turn.status();
  if (comm.size == 2 || bytes <= kAlone) {
    turn.fold(0, comm.size - 1, bytes, 0, op, result);
    return Status::ok();
  }
  const auto begin = [&](int rank) { return own.count * rank / comm.size; };
  const auto part = [&](int rank) { return result.part(begin(rank), begin(rank + 1) - begin(rank)); };
  Turn parts(comm, board, all);
  const Buffer mine = part(comm.rank);
  parts.show(all, false, raw_bytes(mine), [&](std::byte* to) {
    const std::size_t at = size_of(begin(comm.rank)) * coll::raw_bytes(*own.type);
    turn.fold(0, comm.size - 1, bytes, at, op, Buffer(to, mine.count, *mine.type));
  });
  if (!parts.await_all()) return parts.status();
  for (int rank = 0; rank < comm.size; ++rank) {
    const Buffer to = part(rank);
    if (to.count != 0) std::memcpy(to.data, parts.place(rank, raw_bytes(to)), raw_bytes(to));
  }
  return Status::ok();
}

Outcome board_reduce(mpi::Comm& comm, Buffer own, void* result, Op& op, int root) {
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  const std::size_t bytes = raw_bytes(own);
  if (coll::raw_bytes(*own.type) > board->cell_bytes()) return agree(comm, *board, bytes);
  if (bytes > board->cell_bytes()) return long_reduce(comm, *board, own, result, op, root);
  Turn turn(comm, *board, bytes);
  show_raw(turn, bytes, own, true);
  if (comm.rank == root && turn.await_all()) {
    turn.fold(0, comm.size - 1, bytes, 0, op, Buffer(result, own.count, *own.type));
  }
  return turn.status();
}

Outcome board_allreduce(mpi::Comm& comm, Buffer own, void* result, Op& op) {
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  const std::size_t bytes = raw_bytes(own);
  if (coll::raw_bytes(*own.type) > board->cell_bytes()) return agree(comm, *board, bytes);
  if (bytes > board->cell_bytes()) return long_allreduce(comm, *board, own, result, op);
  return allreduce_cell(comm, *board, bytes, own, Buffer(result, own.count, *own.type), op);
}

Outcome board_reduce_scatter_block(mpi::Comm& comm, const void* own, void* result, MPI_Count count, Datatype& type,
                                   Op& op) {
  const Buffer all(own, comm.size * count, type);
  wire::Board* board = board_for(comm, type);
  if (board == nullptr) return {};
  const std::size_t bytes = raw_bytes(all);
  if (coll::raw_bytes(type) > board->cell_bytes()) return agree(comm, *board, bytes);
  if (bytes > board->cell_bytes()) return long_reduce_scatter_block(comm, *board, all, Buffer(result, count, type), op);
  Turn turn(comm, *board, bytes);
  show_raw(turn, bytes, all, false);
  if (turn.await_all()) {
    const std::size_t at = bytes / size_of(comm.size) * size_of(comm.rank);
    turn.fold(0, comm.size - 1, bytes, at, op, Buffer(result, count, type));
  }
  return turn.status();
}

Outcome board_scan(mpi::Comm& comm, Buffer own, void* result, Op& op, bool inclusive) {
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  const std::size_t bytes = raw_bytes(own);
  if (bytes > board->cell_bytes()) return agree(comm, *board, bytes);
  Turn turn(comm, *board, bytes);
  show_raw(turn, bytes, own, true);
  const int last = inclusive ? comm.rank : comm.rank - 1;
  bool agree = true;
  for (int rank = 0; rank <= last && agree; ++rank) agree = turn.await(rank);
  if (agree && last >= 0) turn.fold(0, last, bytes, 0, op, Buffer(result, own.count, *own.type));
  return turn.status();
}

}  // namespace heddle::coll
