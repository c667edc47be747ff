// Rings that senders have made for one VCI and its owner has not yet seen.
//
// Problem: any process of the node may make a ring for this one at any time; its owner must find each exactly once, and
//          pay nearly nothing for looking at every poll.
// Method:  a stack, linked through the rings, of offsets in the segment (0: none). A sender pushes; the owner takes the
//          whole stack at once, so nothing is ever popped while others push, and a reused offset does no harm.
// Threads: any may push, in any process; one at a time takes.
// Order:   push() releases what its sender wrote into the ring; take_all() acquires it. empty() is a hint: a sender rings
//          the owner's bell after its first packet.
// Cost:    empty(): one load of a line that changes when a pair first talks.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/atomics.hpp"
#include "base/cpu.hpp"

namespace heddle::wire {

template <class Atomics = StdAtomics>
class alignas(kCacheLine) NewRings {
 public:
  bool empty() const noexcept { return head_.load(std::memory_order_relaxed) == 0; }

  // `next` is the ring's own link.
  void push(std::uint64_t offset, std::uint64_t& next) noexcept {
    std::uint64_t below = head_.load(std::memory_order_relaxed);
    do {
      Atomics::writes(&next, sizeof next);
      next = below;
    } while (!head_.compare_exchange_weak(below, offset, std::memory_order_release, std::memory_order_relaxed));
  }

  // Calls take(offset) for each, the newest first; it returns the ring's link.
  template <class Take>
  void take_all(Take&& take) noexcept {
    std::uint64_t offset = head_.exchange(0, std::memory_order_acquire);
    while (offset != 0) {
      const std::uint64_t& next = take(offset);
      Atomics::reads(&next, sizeof next);
      offset = next;
    }
  }

 private:
  typename Atomics::template atomic<std::uint64_t> head_{0};
};
static_assert(sizeof(NewRings<>) == kCacheLine);

}  // namespace heddle::wire
