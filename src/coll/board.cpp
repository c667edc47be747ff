// Collectives that move data, by a board.
#include "coll/board.hpp"

#include "coll/board_long.hpp"
#include "coll/course.hpp"
#include "coll/started.hpp"

namespace heddle::coll {
namespace {

// `block`: bytes from one rank to one other.
[[gnu::hot]] Outcome by_board(mpi::Comm& comm, const Start* start, const Round& round, Does does, std::size_t block) {
  if (start != nullptr) return set_up(comm, *start, {.round = round}, does, block);
  wire::Board* board = board_of(comm, Uses::kMoves);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round.bytes, does, block);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  const std::size_t piece = piece_of(round.bytes, room_of(*board));
  return go_through(comm, *board, {.round = round, .way = way, .piece = piece}, round.bytes);
}

}  // namespace

[[gnu::hot]] Outcome board_barrier(mpi::Comm& comm, const Start* start) {
  return by_board(comm, start, barrier_round(member_of(comm)), Does::kShows, 0);
}

Status bcast_cell(mpi::Comm& comm, wire::Board& board, Buffer data, int root) {
  return carry_out(comm, board, bcast_round(member_of(comm), data, root));
}

[[gnu::hot]] Outcome board_bcast(mpi::Comm& comm, const Start* start, Buffer data, int root) {
  const Round round = bcast_round(member_of(comm), data, root);
  return by_board(comm, start, round, Does::kSpreads, round.bytes);
}

Outcome board_gather(mpi::Comm& comm, const Start* start, Buffer send, Buffer recv_each, int root) {
  return by_board(comm, start, gather_round(member_of(comm), send, recv_each, root), Does::kShows, 0);
}

[[gnu::hot]] Outcome board_allgather(mpi::Comm& comm, const Start* start, Buffer send, Buffer recv_each) {
  const Round round = allgather_round(member_of(comm), send, recv_each);
  return by_board(comm, start, round, Does::kGathers, round.bytes);
}

Outcome board_scatter(mpi::Comm& comm, const Start* start, Buffer send_each, Buffer recv, int root) {
  const Round round = scatter_round(member_of(comm), send_each, recv, root);
  return by_board(comm, start, round, Does::kShows, 0);
}

[[gnu::hot]] Outcome board_alltoall(mpi::Comm& comm, const Start* start, Buffer send_each, Buffer recv_each) {
  const Round round = alltoall_round(member_of(comm), send_each, recv_each);
  return by_board(comm, start, round, Does::kExchanges, round.each);
}

}  // namespace heddle::coll
