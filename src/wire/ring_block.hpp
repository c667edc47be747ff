// A ring as it lies in the segment, and how its sender learns that there is room again.
//
//     offset   0                     sizeof(RingMemory)   +8           +12
//              +-------- - - --------+--------------------+------------+---------------+
//              | RingMemory          | next 64            | sender 32  | wants_room 32 |   (own cache line)
//              +-------- - - --------+--------------------+------------+---------------+
//
// Problem: a sender that found no room sleeps; the receiver must not ring a bell for each packet that it takes.
// Method:  a sender without room raises `wants_room`, and tries once more after the fence of its doorbell before it
//          sleeps (base/doorbell.hpp). A receiver that has taken something looks at the flag, and if it is up returns all
//          credit, lowers it and rings. So either it sees the flag, or the sender's last try sees the room.
// Limits:  what is returned is what one poll took, and a packet may need two slots. A sender without room has at least
//          192 slots on their way, so it is more, unless the receiver's core shows the flag before the packets (x86 does
//          not); the bound on a sleep while something is queued (vci/domain.hpp) covers that.
// Threads: those of the ring.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/doorbell.hpp"
#include "wire/ring.hpp"

namespace heddle::wire {

template <class Atomics = StdAtomics>
struct BasicRingBlock {
  RingMemory<Atomics> ring;
  alignas(kCacheLine) std::uint64_t next = 0;                      // in the list of new rings
  std::uint32_t sender = 0;                                        // whose bell to ring when there is room again
  typename Atomics::template atomic<std::uint32_t> wants_room{0};  // the sender found no room and may sleep

  // The sender's, after it found no room.
  void ask_for_room() noexcept { wants_room.store(1, std::memory_order_relaxed); }

  // The receiver's, after it has taken something.
  bool room_is_wanted() const noexcept { return wants_room.load(std::memory_order_relaxed) != 0; }
  // `bell` is the sender's.
  void announce_room(RingConsumer<Atomics>& consumer, BasicDoorbell<Atomics>& bell) noexcept {
    consumer.return_credit();
    wants_room.store(0, std::memory_order_relaxed);
    bell.ring();
  }
};
using RingBlock = BasicRingBlock<>;
static_assert(offsetof(RingBlock, next) == sizeof(RingMemory<>));
static_assert(offsetof(RingBlock, wants_room) == offsetof(RingBlock, next) + 12);

}  // namespace heddle::wire
