// Collectives that move data, by a board.
#include "coll/board.hpp"

#include "coll/board_long.hpp"
#include "coll/turn.hpp"

namespace heddle::coll {
namespace {

Buffer block_of(Buffer each, int rank) noexcept { return each.part(rank * each.count, each.count); }

Status error_of_own_block(std::size_t block, Buffer place) {
  return error(block > size_of(place.bytes()) ? MPI_ERR_TRUNCATE : MPI_ERR_NOT_SAME,
               "this rank's own block has %zu bytes, and the place for it %lld; they have to match", block,
               static_cast<long long>(place.bytes()));
}

}  // namespace

Outcome board_barrier(mpi::Comm& comm) {
  wire::Board* board = board_of(comm, Uses::kMoves);
  if (board == nullptr) return {};
  Turn turn(comm, *board, 0);
  turn.show_nothing(false);
  turn.await_all();
  return turn.status();
}

Status bcast_cell(mpi::Comm& comm, wire::Board& board, Buffer data, int root) {
  const std::size_t bytes = size_of(data.bytes());
  Turn turn(comm, board, bytes);
  if (comm.rank == root) {
    turn.show(data, true);
  } else {
    turn.show_nothing(true);
    if (turn.await(root)) turn.copy_in(turn.place(root, bytes), data);
  }
  return turn.status();
}

Outcome board_bcast(mpi::Comm& comm, Buffer data, int root) {
  wire::Board* board = board_of(comm, Uses::kMoves);
  const std::size_t bytes = size_of(data.bytes());
  if (board == nullptr) return {};
  if (bytes > board->cell_bytes()) return long_bcast(comm, *board, data, root);
  return bcast_cell(comm, *board, data, root);
}

Outcome board_gather(mpi::Comm& comm, Buffer send, Buffer recv_each, int root) {
  wire::Board* board = board_of(comm, Uses::kMoves);
  const std::size_t bytes = size_of(comm.rank == root ? recv_each.bytes() : send.bytes());
  if (board == nullptr) return {};
  if (bytes > board->cell_bytes()) return agree(comm, *board, bytes);
  Turn turn(comm, *board, bytes);
  if (send.in_place()) {
    turn.show_nothing(true);
  } else {
    turn.show(send, true);
  }
  if (comm.rank != root || !turn.await_all()) return turn.status();
  for (int rank = 0; rank < comm.size; ++rank) {
    if (rank == root && send.in_place()) continue;
    turn.copy_in(turn.place(rank, bytes), block_of(recv_each, rank));
  }
  return turn.status();
}

Outcome board_allgather(mpi::Comm& comm, Buffer send, Buffer recv_each) {
  wire::Board* board = board_of(comm, Uses::kMoves);
  const std::size_t bytes = size_of(recv_each.bytes());
  if (board == nullptr) return {};
  if (bytes > board->cell_bytes() || is_long(*board, bytes)) return long_allgather(comm, *board, send, recv_each);
  Turn turn(comm, *board, bytes);
  turn.show(send.in_place() ? block_of(recv_each, comm.rank) : send, false);
  if (!turn.await_all()) return turn.status();
  for (int rank = 0; rank < comm.size; ++rank) {
    if (rank == comm.rank && send.in_place()) continue;
    turn.copy_in(turn.place(rank, bytes), block_of(recv_each, rank));
  }
  return turn.status();
}

Outcome board_scatter(mpi::Comm& comm, Buffer send_each, Buffer recv, int root) {
  wire::Board* board = board_of(comm, Uses::kMoves);
  const std::size_t block = size_of(comm.rank == root ? send_each.bytes() : recv.bytes());
  const std::size_t bytes = block * size_of(comm.size);
  if (board == nullptr) return {};
  if (bytes > board->cell_bytes() || is_long(*board, block)) return long_scatter(comm, *board, send_each, recv, root);
  Turn turn(comm, *board, bytes);
  if (comm.rank == root) {
    turn.show(Buffer(send_each.data, comm.size * send_each.count, *send_each.type), true);
  } else {
    turn.show_nothing(true);
    if (!turn.await(root)) return turn.status();
  }
  if (recv.in_place()) return turn.status();
  if (size_of(recv.bytes()) != block) return error_of_own_block(block, recv);
  turn.copy_in(turn.place(root, bytes) + block * size_of(comm.rank), recv);
  return turn.status();
}

Outcome board_alltoall(mpi::Comm& comm, Buffer send_each, Buffer recv_each) {
  wire::Board* board = board_of(comm, Uses::kMoves);
  const std::size_t block = size_of(recv_each.bytes());
  const std::size_t bytes = block * size_of(comm.size);
  if (board == nullptr) return {};
  if (bytes > board->cell_bytes() || is_long(*board, block)) return long_alltoall(comm, *board, send_each, recv_each);
  Turn turn(comm, *board, bytes);
  const Buffer from = send_each.in_place() ? recv_each : send_each;
  turn.show(Buffer(from.data, comm.size * from.count, *from.type), false);
  if (!turn.await_all()) return turn.status();
  for (int rank = 0; rank < comm.size; ++rank) {
    turn.copy_in(turn.place(rank, bytes) + block * size_of(comm.rank), block_of(recv_each, rank));
  }
  return turn.status();
}

}  // namespace heddle::coll
