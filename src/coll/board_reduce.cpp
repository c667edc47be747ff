// Reductions, by a board.
#include "coll/board.hpp"
#include "coll/board_long.hpp"
#include "coll/course.hpp"
#include "coll/started.hpp"

namespace heddle::coll {
namespace {

std::size_t raw_bytes(Buffer items) noexcept { return size_of(items.count) * coll::raw_bytes(*items.type); }

// All show their operands, raw.
Round round_of(Buffer own) noexcept { return {.bytes = raw_bytes(own), .shows = own, .raw = true}; }

// All operands, combined.
Round allreduce_round(const mpi::Comm& comm, Buffer own, void* result, const Op& op) noexcept {
  Round round = round_of(own);
  round.last = comm.size - 1;
  round.to = Buffer(result, own.count, *own.type);
  round.op = &op;
  return round;
}

Round reduce_round(const mpi::Comm& comm, Buffer own, void* result, const Op& op, int root) noexcept {
  return to_root(comm, allreduce_round(comm, own, result, op), root);
}

// The items of this rank, of all operands.
Round share_round(const mpi::Comm& comm, Buffer all, void* result, MPI_Count count, const Op& op) noexcept {
  Round round = allreduce_round(comm, all, result, op);
  round.at = round.bytes / size_of(comm.size) * size_of(comm.rank);
  round.to.count = count;
  return round;
}

Round scan_round(const mpi::Comm& comm, Buffer own, void* result, const Op& op, bool inclusive) noexcept {
  Round round = allreduce_round(comm, own, result, op);
  round.all_wait = false;
  round.wakes = Turn::kAll;
  round.last = inclusive ? comm.rank : comm.rank - 1;
  if (round.last < 0) round.to = {};
  return round;
}

// Null: by messages.
wire::Board* board_for(mpi::Comm& comm, const Datatype& type) noexcept {
  wire::Board* board = board_of(comm, Uses::kReduces);
  return coll::raw_bytes(type) != 0 ? board : nullptr;
}

Way way_of(const mpi::Comm& comm, const wire::Board& board, const Round& round, Does does) noexcept {
  return coll::way_of(comm, board, round.bytes, does, coll::raw_bytes(*round.shows.type));
}

}  // namespace

Status allreduce_cell(mpi::Comm& comm, wire::Board& board, std::size_t all, Buffer own, void* result, const Op& op) {
  const Round round = allreduce_round(comm, own, result, op);
  const Way way = comm.size == 2 || round.bytes <= kAlone ? Way::kCell : Way::kParts;
  return *go_through(comm, board, {round, way}, all);
}

Outcome board_reduce(mpi::Comm& comm, const Start* start, Buffer own, void* result, Op& op, int root) {
  if (comm.plans.is_reproducible()) return {};
  const Round round = reduce_round(comm, own, result, op, root);
  const std::size_t item = coll::raw_bytes(*own.type);
  if (start != nullptr) return set_up(comm, *start, {.round = round, .root = root}, Does::kReduces, item);
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round, Does::kReduces);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  if (way == Way::kReduce) return long_reduce(comm, *board, own, result, op, root);
  return go_through(comm, *board, {round, way}, round.bytes);
}

Outcome board_allreduce(mpi::Comm& comm, const Start* start, Buffer own, void* result, Op& op) {
  if (comm.plans.is_reproducible()) return {};
  const Round round = allreduce_round(comm, own, result, op);
  if (start != nullptr) {
    return set_up(comm, *start, {.round = round}, Does::kAllreduces, coll::raw_bytes(*own.type));
  }
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round, Does::kAllreduces);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  if (way == Way::kParts) return go_through(comm, *board, {round, way}, round.bytes);
  if (way == Way::kPieces) {
    return go_through(comm, *board, by_root(comm, round, piece_of(round.bytes, room_of(*board))), round.bytes);
  }
  return long_allreduce(comm, *board, round);
}

Outcome board_reduce_scatter_block(mpi::Comm& comm, const Start* start, const void* own, void* result, MPI_Count count,
                                   Datatype& type, Op& op) {
  if (comm.plans.is_reproducible()) return {};
  const Round round = share_round(comm, Buffer(own, comm.size * count, type), result, count, op);
  if (start != nullptr) return set_up(comm, *start, {.round = round}, Does::kShares, coll::raw_bytes(type));
  wire::Board* board = board_for(comm, type);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round, Does::kShares);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  return go_through(comm, *board, {round, way}, round.bytes);
}

Outcome board_scan(mpi::Comm& comm, const Start* start, Buffer own, void* result, Op& op, bool inclusive) {
  if (comm.plans.is_reproducible()) return {};
  const Round round = scan_round(comm, own, result, op, inclusive);
  if (start != nullptr) return set_up(comm, *start, {.round = round}, Does::kShows, 0);
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  const Way way = way_of(comm, *board, round, Does::kShows);
  if (way == Way::kCell) return carry_out(comm, *board, round);
  return go_through(comm, *board, {round, way}, round.bytes);
}

}  // namespace heddle::coll
