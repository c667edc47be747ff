// Long operands that are combined.
#include <algorithm>
#include <vector>

#include "coll/board_long.hpp"
#include "coll/straight.hpp"

namespace heddle::coll {
namespace {

// Items are combined in chunks of so many bytes, which stay in a core's cache: two operands and the result.
constexpr std::size_t kChunk = 128 << 10;
// Bytes of a rank's part from which it is read rather than sent, and rather than taken from cells (docs/decisions/collectives.md).
constexpr std::size_t kThanMessages = 16 << 10, kThanCells = 64 << 10;

bool is_worth_it(mpi::Comm& comm, wire::Board& board, std::size_t bytes, std::size_t shortest) noexcept {
  return board.reaches_all() && bytes / size_of(comm.size) >= shortest;
}

// The items of a vector that rank r combines: its part.
struct Parts {
  MPI_Count count;
  int ranks;
  MPI_Count begin(int rank) const noexcept { return count / ranks * rank + std::min<MPI_Count>(count % ranks, rank); }
  MPI_Count length(int rank) const noexcept { return begin(rank + 1) - begin(rank); }
};

class Combining {
 public:
  Combining(mpi::Comm& comm, wire::Board& board, Straight& operands, Buffer own, const Op& op) noexcept
      : comm_(comm),
        operands_(operands),
        own_(own),
        op_(op),
        item_(raw_bytes(*own.type)),
        spare_(board.spare(3 * kChunk)) {}

  // The items of all operands from `first` on, as many as `to` has, combined from the highest rank downwards. Returns how many
  // there are: fewer where an operand could not be read. `to` may be where the own operand's items lie.
  MPI_Count into(MPI_Count first, Buffer to) noexcept {
    // A chunk may be made where the own operand lies only if that is needed once, and then item by item.
    const bool aside = own_.part(first, 0).data == to.data && (comm_.size > 2 || op_.id == mpi::OpId::kUser);
    auto* const out = static_cast<std::byte*>(to.data);
    return run(first, to.count, aside ? nullptr : out, [&](std::size_t at, const std::byte* chunk, std::size_t bytes) {
      if (aside) std::memcpy(out + at, chunk, bytes);
      return true;
    });
  }
  // The same of `count` items, into those of a rank's result. What could not be written there, or only a part of it, is kept.
  MPI_Count to_rank(int rank, MPI_Count first, MPI_Count count) noexcept {
    return run(first, count, nullptr, [&](std::size_t at, const std::byte* chunk, std::size_t bytes) {
      if (operands_.write(rank, size_of(first) * item_ + at, chunk, bytes)) return true;
      kept_ = chunk;
      return false;
    });
  }
  const std::byte* kept() const noexcept { return kept_; }
  static MPI_Count chunk(std::size_t item) noexcept { return static_cast<MPI_Count>(kChunk / item); }

 private:
  // deliver(at, chunk, bytes) takes the bytes after the first `at`. `out`: where they are made; null: in a place apart.
  template <class Deliver>
  MPI_Count run(MPI_Count first, MPI_Count count, std::byte* out, Deliver&& deliver) noexcept {
    MPI_Count done = 0;
    while (spare_ != nullptr && done < count) {
      const MPI_Count n = std::min(chunk(item_), count - done);
      const std::size_t at = size_of(done) * item_;
      std::byte* const made = out == nullptr ? spare_ + 2 * kChunk : out + at;
      if (!combine(first + done, n, made) || !deliver(at, made, size_of(n) * item_)) break;
      done += n;
    }
    return done;
  }

  bool combine(MPI_Count first, MPI_Count count, std::byte* out) noexcept {
    const std::size_t at = size_of(first) * item_, bytes = size_of(count) * item_;
    const auto operand = [&](int rank, std::byte* place) -> const std::byte* {
      if (rank == comm_.rank) return static_cast<const std::byte*>(own_.data) + at;
      return operands_.read(rank, at, place, bytes) ? place : nullptr;
    };
    const std::byte* right = operand(comm_.size - 1, spare_);
    const std::byte* left = operand(comm_.size - 2, spare_ + kChunk);
    if (right == nullptr || left == nullptr) return false;
    mpi::reduce_into(op_, left, right, out, count, *own_.type);
    for (int rank = comm_.size - 3; rank >= 0; --rank) {
      left = operand(rank, spare_);
      if (left == nullptr) return false;
      mpi::reduce(op_, left, out, count, *own_.type);
    }
    return true;
  }

  mpi::Comm& comm_;
  Straight& operands_;
  const Buffer own_;
  const Op& op_;
  const std::size_t item_;
  std::byte* const spare_;
  const std::byte* kept_ = nullptr;
};

// Calls piece(first, count) for what a cell holds of the items [first, end).
template <class Piece>
Status in_pieces(std::size_t cell, std::size_t item, MPI_Count first, MPI_Count end, Piece&& piece) {
  const auto most = static_cast<MPI_Count>(cell / item);
  for (; first < end; first += most) HEDDLE_TRY(piece(first, std::min(most, end - first)));
  return Status::ok();
}

// Of the items [first, end).
Status allreduce_in_cells(mpi::Comm& comm, wire::Board& board, Buffer own, Buffer to, const Op& op, MPI_Count first,
                          MPI_Count end) {
  const std::size_t item = raw_bytes(*own.type), all = size_of(own.count) * item;
  return in_pieces(board.cell_bytes(), item, first, end, [&](MPI_Count at, MPI_Count count) {
    return allreduce_cell(comm, board, all, own.part(at, count), to.part(at, count), op);
  });
}

// The first done[r] items of part r are at rank r; the rest of the operands is as it was.
[[gnu::cold]] Status finish_in_cells(mpi::Comm& comm, wire::Board& board, Buffer own, Buffer to, const Op& op,
                                     const std::vector<MPI_Count>& done) {
  const Parts parts{own.count, comm.size};
  const std::size_t item = raw_bytes(*own.type);
  for (int rank = 0; rank < comm.size; ++rank) {
    const MPI_Count begin = parts.begin(rank), end = parts.begin(rank + 1), middle = begin + done[size_of(rank)];
    HEDDLE_TRY(allreduce_in_cells(comm, board, own, to, op, middle, end));
    HEDDLE_TRY(in_pieces(board.cell_bytes(), item, begin, middle, [&](MPI_Count first, MPI_Count count) {
      const Buffer piece(to.part(first, 0).data, count * static_cast<MPI_Count>(item), mpi::byte_type());
      return bcast_cell(comm, board, piece, rank);
    }));
  }
  return Status::ok();
}

}  // namespace

Outcome long_allreduce(mpi::Comm& comm, wire::Board& board, Buffer own, void* result, const Op& op) {
  const std::size_t item = raw_bytes(*own.type), bytes = size_of(own.count) * item;
  const Parts parts{own.count, comm.size};
  const Buffer to(result, own.count, *own.type);
  if (!is_worth_it(comm, board, bytes, kThanCells)) return allreduce_in_cells(comm, board, own, to, op, 0, own.count);
  const auto part = [&](int rank) { return to.part(parts.begin(rank), parts.length(rank)); };

  MPI_Count done;
  {
    Straight operands(comm, board, bytes, {.data = own.data});
    if (!operands.is_good()) return operands.status();
    done = Combining(comm, board, operands, own, op).into(parts.begin(comm.rank), part(comm.rank));
  }
  std::vector<MPI_Count> all_done;
  bool has_all = true;
  {
    Straight results(comm, board, bytes, {.data = result, .good = done});
    if (!results.is_good()) return results.status();
    for (int rank = 0; rank < comm.size; ++rank) all_done.push_back(results.of(rank).good);
    for (int i = 1; i < comm.size && has_all; ++i) {
      const int rank = (comm.rank + i) % comm.size;
      const std::size_t at = size_of(parts.begin(rank)) * item;
      has_all = results.read(rank, at, part(rank).data, size_of(all_done[size_of(rank)]) * item);
    }
  }
  Straight end(comm, board, bytes, {.good = has_all});
  if (!end.is_good()) return end.status();
  const auto is_whole = [&](int rank, Place place) {
    return place.good != 0 && all_done[size_of(rank)] == parts.length(rank);
  };
  return end.all(is_whole) ? Status::ok() : finish_in_cells(comm, board, own, to, op, all_done);
}

// What of each part is not in the root's result: the chunk that its rank has kept goes there through the cells, and of the rest
// the operands, which nothing has been written over.
[[gnu::cold]] static Status finish_reduce(mpi::Comm& comm, wire::Board& board, Buffer own, Buffer to, Op& op, int root,
                                          const std::byte* kept, const std::vector<Place>& places) {
  const Parts parts{own.count, comm.size};
  const std::size_t item = raw_bytes(*own.type);
  for (int rank = 0; rank < comm.size; ++rank) {
    const Place& there = places[size_of(rank)];
    const MPI_Count end = parts.begin(rank + 1), begin = parts.begin(rank) + there.good;
    const MPI_Count middle = there.data == nullptr ? begin : std::min(end, begin + Combining::chunk(item));
    HEDDLE_TRY(in_pieces(board.cell_bytes(), item, begin, middle, [&](MPI_Count first, MPI_Count count) {
      const void* data = comm.rank == rank   ? kept + size_of(first - begin) * item
                         : comm.rank == root ? to.part(first, 0).data
                                             : board.spare(3 * kChunk);
      return bcast_cell(comm, board, Buffer(data, count * static_cast<MPI_Count>(item), mpi::byte_type()), rank);
    }));
    HEDDLE_TRY(in_pieces(board.cell_bytes(), item, middle, end, [&](MPI_Count first, MPI_Count count) {
      return *board_reduce(comm, {}, own.part(first, count), to.part(first, 0).data, op, root);
    }));
  }
  return Status::ok();
}

Outcome long_reduce(mpi::Comm& comm, wire::Board& board, Buffer own, void* result, Op& op, int root) {
  const std::size_t item = raw_bytes(*own.type), bytes = size_of(own.count) * item;
  if (!is_worth_it(comm, board, bytes, kThanMessages)) return agree(comm, board, bytes);
  const Parts parts{own.count, comm.size};
  const Buffer to(result, own.count, *own.type);
  const MPI_Count begin = parts.begin(comm.rank), length = parts.length(comm.rank);
  Place done;
  {
    Straight operands(comm, board, bytes, {.data = own.data, .result = result});
    if (!operands.is_good()) return operands.status();
    Combining combining(comm, board, operands, own, op);
    done.good =
        comm.rank == root ? combining.into(begin, to.part(begin, length)) : combining.to_rank(root, begin, length);
    done.data = combining.kept();
  }
  std::vector<Place> places;
  {
    Straight end(comm, board, bytes, done);
    if (!end.is_good()) return end.status();
    if (end.all([&](int rank, Place place) { return place.good == parts.length(rank); })) return Status::ok();
    for (int rank = 0; rank < comm.size; ++rank) places.push_back(end.of(rank));
  }
  return finish_reduce(comm, board, own, to, op, root, static_cast<const std::byte*>(done.data), places);
}

Outcome long_reduce_scatter_block(mpi::Comm& comm, wire::Board& board, Buffer own, Buffer result, const Op& op) {
  const std::size_t bytes = size_of(own.count) * raw_bytes(*own.type);
  if (!is_worth_it(comm, board, bytes, kThanMessages)) return agree(comm, board, bytes);
  const bool in_place = own.data == result.data;  // there a result would be where another's operand is
  return take(comm, board, bytes, in_place ? nullptr : own.data, [&](Straight& operands) {
    return Combining(comm, board, operands, own, op).into(comm.rank * result.count, result) == result.count;
  });
}

}  // namespace heddle::coll
