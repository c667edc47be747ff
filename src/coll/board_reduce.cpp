// Reductions, by a board.
#include "coll/board.hpp"
#include "coll/board_long.hpp"
#include "coll/persistent.hpp"
#include "coll/round.hpp"

namespace heddle::coll {
namespace {

// Up to here each rank combines all operands by itself; beyond that each combines a part, and shows it.
constexpr std::size_t kAlone = 1024;

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
  Round round = comm.rank == root ? allreduce_round(comm, own, result, op) : round_of(own);
  round.rings = true;
  return round;
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
  round.rings = true;
  round.last = inclusive ? comm.rank : comm.rank - 1;
  if (round.last < 0) round.to = {};
  return round;
}

bool combines_alone(const mpi::Comm& comm, std::size_t bytes) noexcept { return comm.size == 2 || bytes <= kAlone; }

// Null: by messages.
wire::Board* board_for(mpi::Comm& comm, const Datatype& type) noexcept {
  wire::Board* board = board_of(comm, Uses::kReduces);
  return coll::raw_bytes(type) != 0 ? board : nullptr;
}

}  // namespace

Status allreduce_cell(mpi::Comm& comm, wire::Board& board, std::size_t all, Buffer own, Buffer result, const Op& op) {
  const std::size_t bytes = raw_bytes(own);
  Turn turn(comm, board, all);
  turn.show(all, false, bytes, [&](std::byte* to) { std::memcpy(to, own.data, bytes); });
  if (!turn.await_all()) return turn.status();
  if (combines_alone(comm, bytes)) {
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

Outcome board_reduce(mpi::Comm& comm, Form form, Buffer own, void* result, Op& op, int root) {
  const Round round = reduce_round(comm, own, result, op, root);
  if (form.kind != Form::kBlocking) return set_up(comm, form, round);
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  if (coll::raw_bytes(*own.type) > board->cell_bytes()) return agree(comm, *board, round.bytes);
  if (round.bytes > board->cell_bytes()) return long_reduce(comm, *board, own, result, op, root);
  return carry_out(comm, *board, round);
}

Outcome board_allreduce(mpi::Comm& comm, Form form, Buffer own, void* result, Op& op) {
  const std::size_t bytes = raw_bytes(own);
  if (form.kind != Form::kBlocking) {
    return set_up(comm, form, allreduce_round(comm, own, result, op), combines_alone(comm, bytes));
  }
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  if (coll::raw_bytes(*own.type) > board->cell_bytes()) return agree(comm, *board, bytes);
  if (bytes > board->cell_bytes()) return long_allreduce(comm, *board, own, result, op);
  return allreduce_cell(comm, *board, bytes, own, Buffer(result, own.count, *own.type), op);
}

Outcome board_reduce_scatter_block(mpi::Comm& comm, Form form, const void* own, void* result, MPI_Count count,
                                   Datatype& type, Op& op) {
  const Buffer all(own, comm.size * count, type);
  const Round round = share_round(comm, all, result, count, op);
  if (form.kind != Form::kBlocking) return set_up(comm, form, round);
  wire::Board* board = board_for(comm, type);
  if (board == nullptr) return {};
  if (coll::raw_bytes(type) > board->cell_bytes()) return agree(comm, *board, round.bytes);
  if (round.bytes > board->cell_bytes()) {
    return long_reduce_scatter_block(comm, *board, all, Buffer(result, count, type), op);
  }
  return carry_out(comm, *board, round);
}

Outcome board_scan(mpi::Comm& comm, Form form, Buffer own, void* result, Op& op, bool inclusive) {
  const Round round = scan_round(comm, own, result, op, inclusive);
  if (form.kind != Form::kBlocking) return set_up(comm, form, round);
  wire::Board* board = board_for(comm, *own.type);
  if (board == nullptr) return {};
  if (round.bytes > board->cell_bytes()) return agree(comm, *board, round.bytes);
  return carry_out(comm, *board, round);
}

}  // namespace heddle::coll
