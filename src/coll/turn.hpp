// One operation of a communicator's board: what this rank shows, whom it waits for, what it takes from them.
//
// Threads: one at a time, as the collective's.
#pragma once

#include <cstring>
#include <optional>

#include "base/status.hpp"
#include "coll/board.hpp"
#include "coll/buffer.hpp"
#include "mpi/comm.hpp"
#include "mpi/op.hpp"
#include "mpi/pack.hpp"
#include "p2p/loss.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"
#include "wire/board.hpp"

namespace heddle::coll {

inline std::size_t size_of(MPI_Count bytes) noexcept { return static_cast<std::size_t>(bytes); }

// Bytes of an item that lies in memory as it is combined: without gaps, or a predefined pair with them. 0: of any other.
inline std::size_t raw_bytes(const Datatype& type) noexcept {
  const bool is_raw = type.contiguous || (type.predefined && type.true_lb == 0 && type.extent > 0);
  return is_raw ? size_of(type.extent) : 0;
}

class Turn {
 public:
  // Whom a rank wakes when it has shown: somebody who may sleep until it has come, whom nobody else wakes. Or a rank.
  enum Wakes : int { kNobody = -2, kAll = -1 };

  using Shows = wire::Board::Shows;

  // `bytes`: of what each rank brings, as this rank's arguments say.
  Turn(mpi::Comm& comm, wire::Board& board, std::size_t bytes, Shows shows) noexcept
      : comm_(comm), board_(board), bytes_(bytes), op_(board.begin()), shows_(shows) {}
  // Of an operation apart, number `op`.
  Turn(mpi::Comm& comm, wire::Board& board, std::size_t bytes, Shows shows, std::uint64_t op) noexcept
      : comm_(comm), board_(board), bytes_(bytes), op_(op), shows_(shows), is_apart_(true) {}

  std::size_t bytes() const noexcept { return bytes_; }
  // Its number on the board, the same at each rank.
  std::uint64_t op() const noexcept { return op_; }
  // `write` writes what this rank shows, `bytes` of it; `claim`: the bytes of all that it brings; `wakes`: Wakes, or a rank.
  template <class Write>
  void show(std::size_t claim, int wakes, std::size_t bytes, Write&& write) noexcept {
    if (!has_room(bytes)) return;
    if (!board_.has_memory(bytes, shows_)) [[unlikely]]
      return tell_of_no_memory(wakes);
    if (bytes != 0) write(place(comm_.rank, bytes));
    tell(claim, wakes);
  }
  // Packed. Of data that are not as long as the arguments say only the claim.
  void show(Buffer data, int wakes) noexcept {
    const std::size_t claim = size_of(data.bytes());
    show(claim, wakes, claim == bytes_ ? claim : 0, [&](std::byte* to) { copy_out(data, to); });
  }
  void show_nothing(int wakes) noexcept {
    show(bytes_, wakes, 0, [](std::byte*) {});
  }

  // Waits for ranks [first, last]. False: this rank does not agree with one of them; or some are lost.
  bool await(int first, int last) noexcept {
    if (first > last) return !has_failed();
    auto next = static_cast<std::uint32_t>(first);
    const auto all_there = [&] { return have_come(first, last, &next); };
    if (!all_there()) {
      std::optional<wire::Board::Sleeps> sleeps;
      wait(all_there, [&] {
        if (!sleeps) sleeps.emplace(board_);
      });
    }
    return !is_broken_ && accept(first, last);
  }
  bool await_all() noexcept { return await(0, comm_.size - 1); }

  // The same without waiting. `*next`: the first that has not come, as far as an earlier look has found; at first `first`.
  bool may_show(std::size_t bytes) noexcept { return board_.is_free(op_, bytes, shows_); }
  void between_show_and_look_again() noexcept { board_.between_show_and_look_again(); }
  bool has_come(std::uint32_t rank) noexcept { return board_.has_shown(op_, rank); }
  bool have_come(int first, int last, std::uint32_t* next) noexcept {
    if (last - first + 1 == comm_.size) return board_.all_have_shown(op_, next);
    while (static_cast<int>(*next) <= last && board_.has_shown(op_, *next)) ++*next;
    return static_cast<int>(*next) > last;
  }
  // Whoever sees that all are there wakes those that sleep for it: the last one to come does not sleep. REQUIRES: they have come.
  bool accept(int first, int last) noexcept {
    if (last - first + 1 == comm_.size) board_.ring_once(op_);
    for (int rank = first; rank <= last; ++rank) check(rank);
    return !has_failed();
  }
  bool has_lost_member() const noexcept { return p2p::has_losses(comm_) && p2p::has_lost_member(comm_); }
  // Some are lost.
  void give_up() noexcept { is_broken_ = true; }

  // Of a rank that was awaited: what it shows, `bytes` of it.
  std::byte* place(int rank, std::size_t bytes) noexcept {
    return board_.place(op_, static_cast<std::uint32_t>(rank), bytes, shows_);
  }
  // `to` = the operands of ranks [first, last], combined, the highest first. Each shows `all` bytes, of which these items lie
  // at `at`; `own`: this rank's lie there, and it has not shown them; null: it has. REQUIRES: raw_bytes of the type.
  void fold(int first, int last, std::size_t all, std::size_t at, const mpi::Op& op, Buffer to,
            const void* own = nullptr) noexcept {
    if (to.count == 0) return;
    const auto operand = [&](int rank) {
      return (own != nullptr && rank == comm_.rank ? static_cast<const std::byte*>(own) : place(rank, all)) + at;
    };
    if (first == last) {
      std::memcpy(to.data, operand(last), size_of(to.count) * raw_bytes(*to.type));
      return;
    }
    mpi::reduce_into(op, operand(last - 1), operand(last), to.data, to.count, *to.type);
    for (int rank = last - 2; rank >= first; --rank) {
      mpi::reduce(op, operand(rank), to.data, to.count, *to.type);
    }
  }

  Status status() const noexcept {
    return is_broken_ ? p2p::loss_error(comm_, MPI_ANY_SOURCE) : Status::of_class(error_);
  }

  static void copy_out(Buffer from, std::byte* to) noexcept {
    const MPI_Count bytes = from.bytes();
    if (from.type->contiguous) {
      std::memcpy(to, from.data, size_of(bytes));
    } else {
      mpi::copy_typed(*from.type, from.count, from.data, mpi::byte_type(), bytes, to);
    }
  }
  static void copy_in(const std::byte* from, Buffer to) noexcept {
    const MPI_Count bytes = to.bytes();
    if (bytes == 0) return;
    if (to.type->contiguous) {
      std::memcpy(to.data, from, size_of(bytes));
    } else {
      mpi::copy_typed(mpi::byte_type(), bytes, from, *to.type, to.count, to.data);
    }
  }

 private:
  // `before_sleep` is called before this rank sleeps, which looks once more then.
  template <class Done, class BeforeSleep>
  [[gnu::hot]] void wait(Done&& done, BeforeSleep&& before_sleep) noexcept {
    if (is_broken_) return;
    comm_.vci->domain().wait(
        *comm_.vci, [&] { return done() || has_lost_member(); }, before_sleep);
    is_broken_ = !done();
  }
  // Waits for it. False: some are lost.
  [[gnu::hot]] bool has_room(std::size_t bytes) noexcept {
    if (!may_show(bytes)) [[unlikely]] {
      std::optional<wire::Board::WaitForRoom> sleeps;  // while it is known, whoever reads on looks whom to wake
      wait([&] { return may_show(bytes); },
           [&] {
             if (!sleeps) sleeps.emplace(board_);
           });
    }
    return !is_broken_;
  }
  [[gnu::hot]] void tell(std::size_t claim, int wakes) noexcept {
    is_apart_ ? board_.show_apart(op_, claim) : board_.show(op_, claim);
    if (wakes == kNobody) return;
    wakes == kAll ? board_.ring() : board_.ring_rank(static_cast<std::uint32_t>(wakes));
  }
  // All who wait for this rank hear of it.
  [[gnu::cold]] void tell_of_no_memory(int wakes) noexcept {
    fail(comm_.rank, kNoMemory);
    tell(kNoMemory, wakes);
  }
  bool has_failed() const noexcept { return is_broken_ || error_ != MPI_SUCCESS; }
  void check(int rank) noexcept {
    const std::uint64_t claim = board_.claim_of(op_, static_cast<std::uint32_t>(rank));
    if (claim != bytes_) [[unlikely]]
      fail(rank, claim);
  }
  [[gnu::cold]] void fail(int rank, std::uint64_t claim) noexcept {
    if (error_ != MPI_SUCCESS) return;
    if (claim == kNoMemory) {
      error_ = error(MPI_ERR_NO_MEM,
                     "rank %d has no shared memory for what it would show the others; free memory on its node, or "
                     "raise ulimit -f",
                     rank)
                   .error_class();
      return;
    }
    error_ = error(claim > bytes_ ? MPI_ERR_TRUNCATE : MPI_ERR_NOT_SAME,
                   "rank %d brought %llu bytes where this rank's arguments say %zu; the counts and datatypes of a "
                   "collective have to match",
                   rank, static_cast<unsigned long long>(claim), bytes_)
                 .error_class();
  }

  static constexpr std::uint64_t kNoMemory = ~std::uint64_t{0};  // in place of the claim

  mpi::Comm& comm_;
  wire::Board& board_;
  const std::size_t bytes_;
  const std::uint64_t op_;
  const Shows shows_;
  const bool is_apart_ = false;
  bool is_broken_ = false;
  int error_ = MPI_SUCCESS;
};

}  // namespace heddle::coll
