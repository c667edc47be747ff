// What a member of a window has for the others of its node to see: its lock, the locks of its atomic operations, and which
// memory it has attached.
//
// Threads: any of any process of the node; it lies in the segment, zeroed before it is used.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/cpu.hpp"
#include "rma/lock_word.hpp"
#include "rma/robust_lock.hpp"
#include "rma/sleepers.hpp"
#include "rma/updates.hpp"

namespace heddle::rma {

struct Range {
  std::uint64_t first = 0, bytes = 0;
  bool holds(std::uint64_t at, std::uint64_t n) const noexcept {
    return at >= first && n <= bytes && at - first <= bytes - n;
  }
};

struct alignas(kCacheLine) Block {
  static constexpr std::uint32_t kStripes = 16, kRanges = 32;
  static constexpr std::uint64_t kStripeBytes = 64 << 10;  // a lock takes as long as 1 KiB (docs/decisions/windows.md)

  LockWord lock;
  Sleepers sleepers;  // who waits for it

  alignas(kCacheLine) Updates updates;     // of the words of this member's memory
  alignas(kCacheLine) Updates::Busy busy;  // with those of any member: this process

  // Of the elements that begin in the same kStripeBytes of the window.
  struct alignas(kCacheLine) Stripe {
    RobustLock lock;
  };
  Stripe stripes[kStripes];
  RobustLock& stripe_of(std::uint64_t at) noexcept { return stripes[at / kStripeBytes % kStripes].lock; }

  // The attached memory of a dynamic window, while it is at most kRanges pieces; more are not checked.
  struct Attached {
    RobustLock lock;
    std::uint32_t count = 0;
    Range ranges[kRanges];
  };
  alignas(kCacheLine) Attached attached;
};
inline constexpr std::size_t kBlockBytes = (sizeof(Block) + kCacheLine - 1) & ~(kCacheLine - 1);

}  // namespace heddle::rma
