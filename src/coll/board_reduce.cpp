// Reductions, by a board.
#include "coll/board.hpp"
#include "coll/board_long.hpp"
#include "coll/course.hpp"
#include "coll/started.hpp"

namespace heddle::coll {
namespace {

// Null: by messages.
wire::Board* board_for(mpi::Comm& comm, const Datatype& type) noexcept {
  wire::Board* board = board_of(comm, Uses::kReduces);
  return raw_bytes(type) != 0 ? board : nullptr;
}

Way way_of(const mpi::Comm& comm, const wire::Board& board, const Round& round, Does does) noexcept {
  return coll::way_of(comm, board, round.bytes, does, raw_bytes(*round.shows.type));
}

}  // namespace

Status allreduce_cell(mpi::Comm& comm, wire::Board& board, std::size_t all, Buffer own, void* result, const Op& op) {
  const Round round = allreduce_round(member_of(comm), own, result, op);
  const Way way = comm.size == 2 || round.bytes <= kAlone ? Way::kCell : Way::kParts;
  return *go_through(comm, board, {round, way}, all);
}

[[gnu::hot]] Outcome board_reduce(mpi::Comm& comm, const Start* start, Buffer own, void* result, Op& op, int root) {
  if (comm.plans.is_reproducible()) return {};
  const Round round = reduce_round(member_of(comm), own, result, op, root);
  const std::size_t item = raw_bytes(*own.type);
  if (start != nullptr) return set_up(comm, *start, {.round = round, .root = root}, Does::kReduces, item);
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round, Does::kReduces);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  if (way == Way::kReduce) return long_reduce(comm, *board, own, result, op, root);
  return go_through(comm, *board, {round, way}, round.bytes);
}

[[gnu::hot]] Outcome board_allreduce(mpi::Comm& comm, const Start* start, Buffer own, void* result, Op& op) {
  if (comm.plans.is_reproducible()) return {};
  const Round round = allreduce_round(member_of(comm), own, result, op);
  if (start != nullptr) {
    return set_up(comm, *start, {.round = round}, Does::kAllreduces, raw_bytes(*own.type));
  }
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round, Does::kAllreduces);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  if (way == Way::kParts) return go_through(comm, *board, {round, way}, round.bytes);
  if (way == Way::kPieces) {
    return go_through(comm, *board, by_root(member_of(comm), round, piece_of(round.bytes, room_of(*board))),
                      round.bytes);
  }
  return long_allreduce(comm, *board, round);
}

[[gnu::hot]] Outcome board_reduce_scatter_block(mpi::Comm& comm, const Start* start, const void* own, void* result,
                                                MPI_Count count, Datatype& type, Op& op) {
  if (comm.plans.is_reproducible()) return {};
  const Round round = share_round(member_of(comm), Buffer(own, comm.size * count, type), result, count, op);
  if (start != nullptr) return set_up(comm, *start, {.round = round}, Does::kShares, raw_bytes(type));
  wire::Board* board = board_for(comm, type);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round, Does::kShares);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  return go_through(comm, *board, {round, way}, round.bytes);
}

Outcome board_scan(mpi::Comm& comm, const Start* start, Buffer own, void* result, Op& op, bool inclusive) {
  if (comm.plans.is_reproducible()) return {};
  const Round round = scan_round(member_of(comm), own, result, op, inclusive);
  if (start != nullptr) return set_up(comm, *start, {.round = round}, Does::kShows, 0);
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round, Does::kShows);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  return go_through(comm, *board, {round, way}, round.bytes);
}

}  // namespace heddle::coll
