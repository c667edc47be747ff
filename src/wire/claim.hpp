// How two processes share out one message between them: each takes the next units of it for itself.
//
// Problem: the bytes of a long message can be pushed by the sender or pulled by the receiver. Whoever has time should,
//          so neither may wait for the other's word; each unit must be moved once; and the block in which this is
//          agreed serves one message after the other, while a receiver may still look at it for an old one.
// Method:  one word: the message's generation and the next unit that nobody has. A claim moves it on by
//          compare-and-swap, which fails under another generation, so who is late gets nothing. Only the owner opens a
//          block, and only when its last message is through, or when nobody was told of it.
//
//     0                    8                    16                                                                 64
//     +----------+---------+--------------------+------------------------------------------------------------------+
//     | gen. 32  | next 32 | address            | unused                                                           |
//     +----------+---------+--------------------+------------------------------------------------------------------+
//
// Threads: any of both processes may claim. One at a time opens.
// Order:   opening releases, a claim acquires: who has claimed something may read the address, until it has said that
//          the message is through.
// Cost:    one compare-and-swap a claim, on a line that stays with the sender until the receiver wants a part. It waits
//          for the stores before it, so a sender that claims each packet by itself loses a tenth of its speed.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/atomics.hpp"
#include "base/cpu.hpp"

namespace heddle::wire {

struct Units {
  std::uint32_t first = 0;
  std::uint32_t count = 0;  // 0: nothing
};

template <class Atomics = StdAtomics>
struct alignas(kCacheLine) ClaimBlock {
  typename Atomics::template atomic<std::uint64_t> word{0};
  std::uint64_t address = 0;  // of the message's first byte (single_copy.hpp)

  static constexpr std::uint32_t kGenerations = 1 << 22;

  static constexpr std::uint64_t pack(std::uint32_t generation, std::uint32_t next) noexcept {
    return std::uint64_t{generation} << 32 | next;
  }
  static constexpr std::uint32_t generation_of(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word >> 32);
  }
  static constexpr std::uint32_t next_of(std::uint64_t word) noexcept { return static_cast<std::uint32_t>(word); }

  // Begins a message of which the first `taken` units have an owner already. Returns its generation.
  std::uint32_t open(std::uint32_t taken) noexcept {
    const std::uint32_t last = generation_of(word.load(std::memory_order_relaxed));
    const std::uint32_t generation = (last + 1) % kGenerations;
    word.store(pack(generation, taken), std::memory_order_release);
    return generation;
  }
};

// One side's view of one message.
template <class Atomics = StdAtomics>
class Claims {
 public:
  Claims() noexcept = default;
  Claims(ClaimBlock<Atomics>& block, std::uint32_t generation, std::uint32_t units) noexcept
      : block_(&block), units_(units), generation_(generation) {}

  explicit operator bool() const noexcept { return block_ != nullptr; }
  // REQUIRES: something of it is claimed by the caller, and the message is not through.
  std::uint64_t address() const noexcept { return block_->address; }

  // The next units, at most `most`; none when all have an owner.
  Units claim(std::uint32_t most) noexcept {
    using Block = ClaimBlock<Atomics>;
    std::uint64_t seen = block_->word.load(std::memory_order_relaxed);
    for (;;) {
      const std::uint32_t next = Block::next_of(seen);
      if (Block::generation_of(seen) != generation_ || next >= units_) return {};
      const std::uint32_t n = std::min(most, units_ - next);
      if (block_->word.compare_exchange_weak(seen, Block::pack(generation_, next + n), std::memory_order_acq_rel,
                                             std::memory_order_relaxed)) {
        return {next, n};
      }
    }
  }

  // How many units each of two sides that copy at once should claim, at most `most`: an even number of claims is all of it.
  std::uint32_t fair(std::uint32_t most) const noexcept {
    const std::uint64_t pairs = (std::uint64_t{units_} + 2 * most - 1) / (2 * most);
    return static_cast<std::uint32_t>((units_ + 2 * pairs - 1) / (2 * pairs));
  }

  // Gives a claim back, unless something was claimed since. False: it stays the caller's.
  bool give_back(Units claimed) noexcept {
    using Block = ClaimBlock<Atomics>;
    std::uint64_t mine = Block::pack(generation_, claimed.first + claimed.count);
    return block_->word.compare_exchange_strong(mine, Block::pack(generation_, claimed.first),
                                                std::memory_order_acq_rel, std::memory_order_relaxed);
  }

 private:
  ClaimBlock<Atomics>* block_ = nullptr;
  std::uint32_t units_ = 0;
  std::uint32_t generation_ = 0;
};

using PlainClaimBlock = ClaimBlock<StdAtomics>;
static_assert(sizeof(PlainClaimBlock) == kCacheLine);
static_assert(offsetof(PlainClaimBlock, address) == 8);

}  // namespace heddle::wire
