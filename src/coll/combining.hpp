// Combines long operands where they lie, each rank a part of the vector, in chunks that stay in its cache.
//
// Threads: one at a time for an object.
#pragma once

#include <algorithm>

#include "base/spare_memory.hpp"
#include "coll/rounds.hpp"
#include "coll/straight.hpp"

namespace heddle::coll {

// The items of a vector that rank r combines: its part.
struct Parts {
  MPI_Count count;
  int ranks;
  MPI_Count begin(int rank) const noexcept { return count / ranks * rank + std::min<MPI_Count>(count % ranks, rank); }
  MPI_Count length(int rank) const noexcept { return begin(rank + 1) - begin(rank); }
  Buffer of(Buffer whole, int rank) const noexcept { return whole.part(begin(rank), length(rank)); }
};

class Combining {
 public:
  // Items are combined in chunks of so many bytes, which stay in a core's cache: two operands and the result.
  static constexpr std::size_t kChunk = 128 << 10;

  Combining(mpi::Comm& comm, Places& operands, Buffer own, const Op& op) noexcept
      : comm_(comm),
        operands_(operands),
        own_(own),
        op_(op),
        item_(raw_bytes(*own.type)),
        spare_(spare_memory(3 * kChunk)) {}
  Combining(const Combining&) = delete;
  Combining& operator=(const Combining&) = delete;

  // The items of all operands from `first` on, as many as `to` has, combined from the highest rank downwards. Returns how many
  // there are: fewer where an operand could not be read. `to` may be where the own operand's items lie.
  MPI_Count into(MPI_Count first, Buffer to) noexcept {
    const bool aside = must_be_aside(comm_.size, own_.part(first, 0).data, to.data, op_);
    auto* const out = static_cast<std::byte*>(to.data);
    return run(first, to.count, aside ? nullptr : out, [&](std::size_t at, const std::byte* chunk, std::size_t bytes) {
      if (aside) std::memcpy(out + at, chunk, bytes);
      return true;
    });
  }
  // The same of `count` items, into those of a rank's result. What could not be written there, or only a part of it, is
  // kept as long as this is.
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
      std::byte* const made = out == nullptr ? spare_.get() + 2 * kChunk : out + at;
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
    const std::byte* right = operand(comm_.size - 1, spare_.get());
    const std::byte* left = operand(comm_.size - 2, spare_.get() + kChunk);
    if (right == nullptr || left == nullptr) return false;
    mpi::reduce_into(op_, left, right, out, count, *own_.type);
    for (int rank = comm_.size - 3; rank >= 0; --rank) {
      left = operand(rank, spare_.get());
      if (left == nullptr) return false;
      mpi::reduce(op_, left, out, count, *own_.type);
    }
    return true;
  }

  mpi::Comm& comm_;
  Places& operands_;
  const Buffer own_;
  const Op& op_;
  const std::size_t item_;
  const SpareMemory spare_;
  const std::byte* kept_ = nullptr;
};

}  // namespace heddle::coll
