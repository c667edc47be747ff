// The lock of a window's memory at one member: many shared or one exclusive, in one word.
//
// Problem: origins lock without the target's help. A release must not lose a reader that came at the same moment, and writers
//          must not starve while readers come and go (the Portals paper's lock does both).
// Method:  each change is one atomic operation on its own part of the word. Who wants it exclusively stands in a count of
//          waiting writers; a reader that sees one waits, but not after kTurns writers have passed it.
//
//     63          62        32               0
//     +-----------+----------+---------------+
//     | exclusive | waiting  | readers       |        and a count of the times that it was taken exclusively
//     +-----------+----------+---------------+
//
// Threads: any of any process that has it mapped. A waiter asks again and again; how it waits is the caller's affair.
// Order:   taking acquires, giving back releases. A look is sequentially consistent, because one that comes after a
//          sleeper's bit (sleepers.hpp) must not miss a release that came before the bit was looked for.
#pragma once

#include <cstdint>

#include "base/atomics.hpp"

namespace heddle::rma {

template <class Atomics = StdAtomics>
class BasicLockWord {
 public:
  static constexpr std::uint32_t kTurns = 8;

  // One reader's wait.
  struct Reader {
    std::uint32_t since;
  };
  Reader come() const noexcept { return {turns_.load(std::memory_order_relaxed)}; }
  bool try_shared(const Reader& reader) noexcept {
    std::uint64_t seen = word_.load(std::memory_order_seq_cst);
    for (;;) {
      if ((seen & kExclusive) != 0) return false;
      const std::uint32_t turns = turns_.load(std::memory_order_relaxed);
      if ((seen & kWaiting) != 0 && turns - reader.since < kTurns) return false;
      if (word_.compare_exchange_weak(seen, seen + kReader, std::memory_order_seq_cst, std::memory_order_seq_cst)) {
        return true;
      }
    }
  }
  // False: others have it. Also for one that wait_for_it() has counted, who then says so.
  bool try_exclusive(bool waits) noexcept {
    std::uint64_t seen = word_.load(std::memory_order_seq_cst);
    do {
      if ((seen & (kExclusive | kReaders)) != 0) return false;
    } while (!word_.compare_exchange_weak(seen, (seen | kExclusive) - (waits ? kWriter : 0), std::memory_order_seq_cst,
                                          std::memory_order_seq_cst));
    turns_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  void wait_for_it() noexcept { word_.fetch_add(kWriter, std::memory_order_relaxed); }
  // A writer that gives up.
  void leave() noexcept { word_.fetch_sub(kWriter, std::memory_order_seq_cst); }

  void unlock_shared() noexcept { word_.fetch_sub(kReader, std::memory_order_seq_cst); }
  void unlock_exclusive() noexcept { word_.fetch_and(~kExclusive, std::memory_order_seq_cst); }

  // Somebody has it so that nobody else may.
  bool is_against(bool exclusive) const noexcept {
    return (word_.load(std::memory_order_relaxed) & (exclusive ? kExclusive | kReaders : kExclusive)) != 0;
  }
  // Nobody has it or waits to have it exclusively.
  bool is_idle() const noexcept { return word_.load(std::memory_order_relaxed) == 0; }

 private:
  static constexpr std::uint64_t kReader = 1, kWriter = std::uint64_t{1} << 32, kExclusive = std::uint64_t{1} << 63;
  static constexpr std::uint64_t kReaders = kWriter - 1, kWaiting = kExclusive - kWriter;

  typename Atomics::template atomic<std::uint64_t> word_{0};
  typename Atomics::template atomic<std::uint32_t> turns_{0};
};
using LockWord = BasicLockWord<>;

}  // namespace heddle::rma
