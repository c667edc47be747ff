// The lines of a board (board.hpp): who has come in which operation, and which places may be written again.
//
// Problem: ranks show each other data in places that are used in turns, and nobody may write one that somebody has still to read.
// Method:  for each operation a rank has a line, of op % lines, which it alone writes: its data, or those of its cell, then `shown` = op.
//          And it tells how far it has read: all operations through this one. A place of a kind of which there are `depth` is free
//          for op when all have read op - depth.
//
//            head | how far each has read [ranks] | lines [lines][ranks]
//
//          Operations follow each other, so whoever shows op has read through op - 1, and whoever has seen all show it need not look how
//          far they are. With those apart it is not so: then a rank has read through what is before the oldest of them.
//
//          Sleepers are woken by few: of hundreds of ranks that each call the kernel for each sleeper, most would do so for one that has
//          been woken and has no core yet. So of those who see that all have come one wakes the others, and who reads on wakes
//          somebody only when somebody waits for a place. And whom of all to wake is looked up only while somebody is counted who
//          sleeps until others have shown. All three stand in the head.
// Threads: operations begin, and those that are not apart are shown and awaited, one at a time; each apart by one thread at a time, which
//          may be another. end_apart() by any.
// Order:   `shown` and `through` are published with release, after what was written and what was read. Who publishes reads the counts
//          of the head behind light_fence(); who counts itself there runs heavy_fence() before its last look: so one sees the other.
//          Who shows, looks in vain and goes on, while somebody is counted, has a fence before another look. Looks at `through` are
//          sequentially consistent, as is begin_to_wait(). `apart_` is counted down with release: who sees none publishes also what
//          those apart have read.
// Cost:    to show: three stores, a load of its own and one of the head; to look: a line of each.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

#include "base/atomics.hpp"
#include "base/cpu.hpp"

namespace heddle::wire {

// `Mutex` guards what is rare: operations that are apart.
template <class Atomics = StdAtomics, class Mutex = std::mutex>
class BasicBoardLines {
 public:
  static constexpr std::size_t kInline = 48;  // bytes that a line has room for

  // `memory`: zeroed at first, and of all ranks the same; so many bytes(). `lines`: a power of two.
  BasicBoardLines(std::byte* memory, std::uint32_t ranks, std::uint32_t lines, std::uint32_t rank) noexcept
      : head_(*reinterpret_cast<Head*>(memory)),
        readings_(reinterpret_cast<Reading*>(memory + sizeof(Head))),
        lines_(reinterpret_cast<Line*>(readings_ + ranks)),
        ranks_(ranks),
        last_line_(lines - 1),
        rank_(rank) {}
  BasicBoardLines(const BasicBoardLines&) = delete;
  BasicBoardLines& operator=(const BasicBoardLines&) = delete;
  static constexpr std::size_t bytes(std::size_t ranks, std::size_t lines) noexcept {
    return sizeof(Head) + ranks * (sizeof(Reading) + lines * sizeof(Line));
  }

  std::uint32_t ranks() const noexcept { return ranks_; }
  std::uint32_t rank() const noexcept { return rank_; }

  // The number of the next operation.
  std::uint64_t begin() noexcept { return ++last_; }

  // An operation apart: what follows goes on while it is under way. REQUIRES: it has fewer numbers than there are places of a kind that it
  // uses. Else it may wait for itself: its last place may be one of an operation of which only the next tells that it was read.
  struct Apart {
    std::uint64_t first = 0;  // of its numbers
    Apart *before = nullptr, *after = nullptr;
  };
  void begin_apart(Apart& apart, unsigned numbers) noexcept;
  // Nothing of it will be read any more.
  void end_apart(Apart& apart) noexcept;

  // Whether this rank may write its place for `op`, of which there are `depth`.
  bool is_free(std::uint64_t op, std::uint32_t depth) noexcept {
    return op <= known_.load(std::memory_order_acquire) + depth || all_have_read(op - depth);
  }
  // In a line. REQUIRES: as Board::place().
  std::byte* data(std::uint64_t op, std::uint32_t rank) noexcept { return line(op, rank).data; }

  void show(std::uint64_t op, std::uint64_t claim) noexcept {
    if (apart_.load(std::memory_order_acquire) == 0) {
      reading(rank_).store(op - 1, std::memory_order_release);
    } else {
      have_read(op - 1);
    }
    show_apart(op, claim);
  }
  void show_apart(std::uint64_t op, std::uint64_t claim) noexcept {
    Line& own = line(op, rank_);
    Atomics::writes(&own.claim, sizeof own.claim);
    own.claim = claim;
    own.shown.store(op, std::memory_order_release);
  }
  // For ranks that show at the same time, look in vain, and then do not wait. If somebody sleeps until all have shown: in another look
  // after this one of them sees that all have, or the sleeper does in its last look, as its heavy fence shows it what those did who did
  // not see it here. An exchange of the line would do the same as the fence, and take it from those who read it.
  void between_show_and_look_again() noexcept {
    if (has_sleeping()) Atomics::fence(std::memory_order_seq_cst);
  }

  bool has_shown(std::uint64_t op, std::uint32_t rank) noexcept {
    return line(op, rank).shown.load(std::memory_order_acquire) >= op;
  }
  // `*next`: the first rank that has not, as far as an earlier look has found; at first 0.
  bool all_have_shown(std::uint64_t op, std::uint32_t* next) noexcept {
    while (*next < ranks_ && has_shown(op, *next)) ++*next;
    if (*next < ranks_) return false;
    Atomics::reads(&in_order_, sizeof in_order_);
    if (in_order_) know(op - 1);
    return true;
  }
  // wake(rank) for each of the others with sleeps(rank), unless another rank does so for `op`. When ranks do so for another meanwhile,
  // some are woken twice. REQUIRES: all have shown it, and this rank has seen that.
  template <class Sleeps, class Wake>
  void wake_once(std::uint64_t op, Sleeps&& sleeps, Wake&& wake) noexcept {
    bool is_first = false;
    for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
      if (rank == rank_ || !sleeps(rank)) continue;
      if (!is_first && head_.woken_for.exchange(op, std::memory_order_relaxed) == op) return;
      is_first = true;
      wake(rank);
    }
  }
  // From before the first sleep of a wait for is_free() to the end of that wait. After begin_to_wait() comes a heavy fence, that of the
  // sleep (doorbell.hpp) or another, and then the last look.
  void begin_to_wait() noexcept { head_.waiting.fetch_add(1, std::memory_order_seq_cst); }
  void end_wait() noexcept { head_.waiting.fetch_sub(1, std::memory_order_relaxed); }
  // After show() and end_apart(): whether sleepers are to be woken, as what they wait for may be free.
  bool has_waiting() const noexcept {
    Atomics::light_fence();
    return head_.waiting.load(std::memory_order_relaxed) != 0;
  }
  // The same for what others show.
  void begin_to_sleep() noexcept { head_.sleeping.fetch_add(1, std::memory_order_seq_cst); }
  void end_sleep() noexcept { head_.sleeping.fetch_sub(1, std::memory_order_relaxed); }
  // After show(), or once all_have_shown(): whether some may have to be woken.
  bool has_sleeping() const noexcept {
    Atomics::light_fence();
    return head_.sleeping.load(std::memory_order_relaxed) != 0;
  }
  std::uint64_t claim_of(std::uint64_t op, std::uint32_t rank) noexcept {
    Line& shown = line(op, rank);
    Atomics::reads(&shown.claim, sizeof shown.claim);
    return shown.claim;
  }

 private:
  template <class T>
  using Atomic = typename Atomics::template atomic<T>;

  struct alignas(kCacheLine) Head {
    Atomic<std::uint64_t> woken_for;  // this operation, last
    Atomic<std::uint32_t> waiting;    // for a place
    Atomic<std::uint32_t> sleeping;   // for what others show
  };
  struct alignas(kCacheLine) Line {
    Atomic<std::uint64_t> shown;
    std::uint64_t claim;
    std::byte data[kInline];
  };
  static_assert(sizeof(Line) == kCacheLine);
  // How far a rank has read: all operations through this one.
  struct alignas(kCacheLine) Reading {
    Atomic<std::uint64_t> through;
  };

  Atomic<std::uint64_t>& reading(std::uint32_t rank) noexcept { return readings_[rank].through; }
  Line& line(std::uint64_t op, std::uint32_t rank) noexcept { return lines_[(op & last_line_) * ranks_ + rank]; }
  // Of two threads the later one may forget what the other knows; it is asked for again then.
  void know(std::uint64_t through) noexcept {
    if (through > known_.load(std::memory_order_relaxed)) known_.store(through, std::memory_order_release);
  }
  [[gnu::noinline]] bool all_have_read(std::uint64_t through) noexcept;
  // All through this one, but for those apart.
  [[gnu::noinline, gnu::cold]] void have_read(std::uint64_t through) noexcept;
  void publish() noexcept;  // REQUIRES: apart_mutex_

  Head& head_;
  Reading* const readings_;
  Line* const lines_;
  const std::uint32_t ranks_, last_line_, rank_;
  std::uint64_t last_ = 0;          // begun here
  Atomic<std::uint64_t> known_{0};  // read by all through this one, as far as this rank has seen
  // No operation apart has begun, here and so anywhere: whoever shows one has read all before. Of the thread that begins operations
  // until it is false.
  bool in_order_ = true;
  Mutex apart_mutex_;  // guards what follows, but for reading apart_
  Atomic<std::uint32_t> apart_{0};
  Apart *oldest_ = nullptr, *youngest_ = nullptr;
  std::uint64_t read_ = 0;  // what have_read() was told
};

template <class Atomics, class Mutex>
bool BasicBoardLines<Atomics, Mutex>::all_have_read(std::uint64_t through) noexcept {
  std::uint64_t least = ~std::uint64_t{0};
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    least = std::min(least, reading(rank).load(rank == rank_ ? std::memory_order_acquire : std::memory_order_seq_cst));
    if (least < through) return false;
  }
  know(least);
  return true;
}

template <class Atomics, class Mutex>
void BasicBoardLines<Atomics, Mutex>::publish() noexcept {
  Atomics::reads(&read_, sizeof read_);
  const std::uint64_t through = oldest_ != nullptr ? std::min(read_, oldest_->first - 1) : read_;
  reading(rank_).store(through, std::memory_order_release);
}

template <class Atomics, class Mutex>
void BasicBoardLines<Atomics, Mutex>::have_read(std::uint64_t through) noexcept {
  std::lock_guard lock(apart_mutex_);
  Atomics::writes(&read_, sizeof read_);
  read_ = through;
  publish();
}

template <class Atomics, class Mutex>
void BasicBoardLines<Atomics, Mutex>::begin_apart(Apart& apart, unsigned numbers) noexcept {
  std::lock_guard lock(apart_mutex_);
  if (in_order_) {
    Atomics::writes(&in_order_, sizeof in_order_);
    in_order_ = false;
  }
  apart = {last_ + 1, youngest_, nullptr};
  (youngest_ != nullptr ? youngest_->after : oldest_) = &apart;
  youngest_ = &apart;
  Atomics::writes(&read_, sizeof read_);
  read_ = last_ += numbers;
  apart_.fetch_add(1, std::memory_order_relaxed);
}

template <class Atomics, class Mutex>
void BasicBoardLines<Atomics, Mutex>::end_apart(Apart& apart) noexcept {
  std::lock_guard lock(apart_mutex_);
  (apart.before != nullptr ? apart.before->after : oldest_) = apart.after;
  (apart.after != nullptr ? apart.after->before : youngest_) = apart.before;
  publish();
  apart_.fetch_sub(1, std::memory_order_release);
}

using BoardLines = BasicBoardLines<>;

}  // namespace heddle::wire
