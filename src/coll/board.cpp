// Collectives that move data, by a board.
#include "coll/board.hpp"

#include "coll/board_long.hpp"
#include "coll/course.hpp"
#include "coll/started.hpp"

namespace heddle::coll {
namespace {

Buffer block_of(Buffer each, int rank) noexcept { return each.part(rank * each.count, each.count); }

// All show that they are there, or `shows`, and wait for all.
Round round_of_all(const mpi::Comm& comm, std::size_t bytes, Buffer shows) noexcept {
  Round round{.bytes = bytes, .shows = shows};
  round.last = comm.size - 1;
  return round;
}

// The root shows, the others wait for it.
Round round_from_root(const mpi::Comm& comm, std::size_t bytes, Buffer shows, int root) noexcept {
  Round round{.bytes = bytes, .all_wait = false};
  if (comm.rank == root) {
    round.shows = shows;
    round.wakes = Turn::kAll;
  } else {
    round.first = round.last = root;
  }
  return round;
}

Round bcast_round(const mpi::Comm& comm, Buffer data, int root) noexcept {
  Round round = round_from_root(comm, size_of(data.bytes()), data, root);
  if (comm.rank == root) return round;
  round.each = round.bytes;
  round.to = data;
  return round;
}

Round gather_round(const mpi::Comm& comm, Buffer send, Buffer recv_each, int root) noexcept {
  Round round{.bytes = size_of(comm.rank == root ? recv_each.bytes() : send.bytes()), .all_wait = false};
  if (!send.in_place()) round.shows = send;
  if (comm.rank != root) {
    round.wakes = root;
    return round;
  }
  round.last = comm.size - 1;
  round.each = round.bytes;
  round.to = recv_each;
  round.is_apart = true;
  if (send.in_place()) round.except = root;
  return round;
}

Round allgather_round(const mpi::Comm& comm, Buffer send, Buffer recv_each) noexcept {
  Round round = round_of_all(comm, size_of(recv_each.bytes()), send.in_place() ? block_of(recv_each, comm.rank) : send);
  round.each = round.bytes;
  round.to = recv_each;
  round.is_apart = true;
  if (send.in_place()) round.except = comm.rank;
  return round;
}

Round scatter_round(const mpi::Comm& comm, Buffer send_each, Buffer recv, int root) noexcept {
  const std::size_t block = size_of(comm.rank == root ? send_each.bytes() : recv.bytes());
  const Buffer all(send_each.data, comm.size * send_each.count, *send_each.type);
  Round round = round_from_root(comm, block * size_of(comm.size), all, root);
  if (recv.in_place()) return round;
  round.first = round.last = root;
  round.at = block * size_of(comm.rank);
  round.each = block;
  round.to = recv;
  return round;
}

Round alltoall_round(const mpi::Comm& comm, Buffer send_each, Buffer recv_each) noexcept {
  const std::size_t block = size_of(recv_each.bytes());
  const Buffer from = send_each.in_place() ? recv_each : send_each;
  Round round = round_of_all(comm, block * size_of(comm.size), Buffer(from.data, comm.size * from.count, *from.type));
  round.at = block * size_of(comm.rank);
  round.each = block;
  round.to = recv_each;
  round.is_apart = true;
  return round;
}

// `block`: bytes from one rank to one other.
Outcome by_board(mpi::Comm& comm, const Start* start, const Round& round, Does does, std::size_t block) {
  if (start != nullptr) return set_up(comm, *start, {.round = round}, does, block);
  wire::Board* board = board_of(comm, Uses::kMoves);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round.bytes, does, block);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  const std::size_t piece = piece_of(round.bytes, room_of(*board));
  return go_through(comm, *board, {.round = round, .way = way, .piece = piece}, round.bytes);
}

}  // namespace

Outcome board_barrier(mpi::Comm& comm, const Start* start) {
  return by_board(comm, start, round_of_all(comm, 0, {}), Does::kShows, 0);
}

Status bcast_cell(mpi::Comm& comm, wire::Board& board, Buffer data, int root) {
  return carry_out(comm, board, bcast_round(comm, data, root));
}

Outcome board_bcast(mpi::Comm& comm, const Start* start, Buffer data, int root) {
  const Round round = bcast_round(comm, data, root);
  return by_board(comm, start, round, Does::kSpreads, round.bytes);
}

Outcome board_gather(mpi::Comm& comm, const Start* start, Buffer send, Buffer recv_each, int root) {
  return by_board(comm, start, gather_round(comm, send, recv_each, root), Does::kShows, 0);
}

Outcome board_allgather(mpi::Comm& comm, const Start* start, Buffer send, Buffer recv_each) {
  const Round round = allgather_round(comm, send, recv_each);
  return by_board(comm, start, round, Does::kGathers, round.bytes);
}

Outcome board_scatter(mpi::Comm& comm, const Start* start, Buffer send_each, Buffer recv, int root) {
  const Round round = scatter_round(comm, send_each, recv, root);
  return by_board(comm, start, round, Does::kMoves, round.bytes / size_of(comm.size));
}

Outcome board_alltoall(mpi::Comm& comm, const Start* start, Buffer send_each, Buffer recv_each) {
  const Round round = alltoall_round(comm, send_each, recv_each);
  return by_board(comm, start, round, Does::kExchanges, round.each);
}

}  // namespace heddle::coll
