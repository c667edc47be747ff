// Which partitions of a send are ready, whether the receiver is, and who sends them (request.hpp).
//
// Problem: MPI_Pready in any number of threads meets the receiver's start, in another one. Each group of partitions is to leave
//          once, after all of them are ready, by the first that can; none may be forgotten, and no lock be met at.
// Method:  each partition has a word: 2 * epoch when it is ready in that epoch, and 1 more when somebody has taken it. mark() writes it
//          and is_clear() then looks at the receiver's epoch; clear() writes that and then looks at the words. Whoever sees both
//          takes the partition; who takes the last of a group sends it; who sends the last group completes the send, unless it
//          has been ended before.
// Threads: any, but clear(), start() and link(): one at a time.
// Order:   what is written and then looked at is in one order with the other side's (seq_cst). Taking acquires a partition's bytes, and
//          the count of a group passes them to its last.
// Cost:    two compare-and-swaps and a load for each partition; one more step where there are groups.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "base/atomics.hpp"

namespace heddle::part {

template <class Atomics = StdAtomics>
class BasicReadiness {
 public:
  using Word = typename Atomics::template atomic<std::uint32_t>;
  using Words = std::unique_ptr<Word[]>;

  // Of a group: how many of it have been taken in this epoch.
  class Count {
   public:
    void start() noexcept { taken_.store(0, std::memory_order_relaxed); }
    // One more. True: it was the last, and the bytes of all may be read.
    bool is_last(std::uint32_t of) noexcept {
      return of == 1 || taken_.fetch_add(1, std::memory_order_acq_rel) + 1 == of;
    }

   private:
    Word taken_{0};
  };

  // Null when memory ran out.
  static Words make(std::uint32_t partitions) noexcept { return Words(new (std::nothrow) Word[partitions]()); }
  void adopt(Words words) noexcept { words_ = std::move(words); }
  void drop() noexcept { words_.reset(); }

  // --- partitions ---

  // MPI_Pready. False: it has been before, in this epoch.
  bool mark(std::uint32_t partition, std::uint32_t epoch) noexcept {
    Word& word = words_[partition];
    std::uint32_t before = word.load(std::memory_order_relaxed);
    return before / 2 != epoch &&
           word.compare_exchange_strong(before, 2 * epoch, std::memory_order_seq_cst, std::memory_order_seq_cst);
  }
  // Ready in this epoch, and not taken.
  bool is_marked(std::uint32_t partition, std::uint32_t epoch) const noexcept {
    return words_[partition].load(std::memory_order_seq_cst) == 2 * epoch;
  }
  // True: it is the caller's. REQUIRES: the epoch is clear.
  bool take(std::uint32_t partition, std::uint32_t epoch) noexcept {
    std::uint32_t mine = 2 * epoch;
    return words_[partition].compare_exchange_strong(mine, 2 * epoch + 1, std::memory_order_acq_rel,
                                                     std::memory_order_acquire);
  }

  // --- the receiver's epoch ---

  void clear(std::uint32_t epoch) noexcept { cleared_.store(epoch, std::memory_order_seq_cst); }
  bool is_clear(std::uint32_t epoch) const noexcept {
    return static_cast<std::int32_t>(cleared_.load(std::memory_order_seq_cst) - epoch) >= 0;
  }
  std::uint32_t cleared(std::memory_order order) const noexcept { return cleared_.load(order); }

  // --- groups that are not sent ---

  // 1 before the receiver is linked: how many there are is not known yet.
  void start(std::uint32_t groups) noexcept { left_.store(groups, std::memory_order_relaxed); }
  // So many of a send that was started before it was linked; nothing when it has been ended meanwhile.
  void link(std::uint32_t groups) noexcept {
    std::uint32_t unknown = 1;
    left_.compare_exchange_strong(unknown, groups, std::memory_order_relaxed, std::memory_order_relaxed);
  }
  // One is sent. True: it was the last, and the caller completes the send.
  bool is_last_sent() noexcept {
    std::uint32_t n = left_.load(std::memory_order_relaxed);
    do {
      if (n == 0) return false;  // given up
    } while (!left_.compare_exchange_weak(n, n - 1, std::memory_order_acq_rel, std::memory_order_relaxed));
    return n == 1;
  }
  // Nothing more is to be sent. True: the caller completes the send; false: it is or is being completed.
  bool end() noexcept { return left_.exchange(0, std::memory_order_acq_rel) != 0; }

 private:
  Words words_;
  Word cleared_{0};
  Word left_{0};
};
using Readiness = BasicReadiness<>;

}  // namespace heddle::part
