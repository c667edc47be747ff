// How a process that has nothing to do sleeps, and how its peers wake it.
//
// Problem: a sender must not pay a full fence for each message just because the receiver might be asleep; and no
//          wake-up may be lost.
// Method:  one Doorbell per process, in memory that its peers have mapped. A sender publishes, then reads `sleepers`
//          (no fence) and rings only if it is not zero. The sleeper raises `sleepers`, runs heavy_fence(), which is a
//          full fence on every core for it, looks at every source once more, and only then sleeps on `sequence`. So
//          either the sender sees the sleeper, or the sleeper's second look sees the message.
//
//     offset   0              4              64
//              +--------------+--------------+---- - -
//              | sequence 32  | sleepers 32  | (own cache line)
//              +--------------+--------------+---- - -
//
// Threads: any number on each side, in any process.
// Cost:    ring: one load of a line that rarely changes. Sleep: membarrier, about 1 us, and the futex.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/atomics.hpp"
#include "base/cpu.hpp"

namespace heddle {

template <class Atomics = StdAtomics>
struct alignas(kCacheLine) BasicDoorbell {
  typename Atomics::template atomic<std::uint32_t> sequence{0};
  typename Atomics::template atomic<std::uint32_t> sleepers{0};

  // Call after publishing what the owner should see.
  void ring() noexcept {
    if (heard()) [[unlikely]]
      wake();
  }
  // ring() in two steps, for a caller with something to do between them. True: somebody sleeps, call wake() soon.
  [[nodiscard]] bool heard() const noexcept {
    Atomics::light_fence();
    return sleepers.load(std::memory_order_relaxed) != 0;
  }
  [[gnu::noinline, gnu::cold]] void wake() noexcept {
    sequence.fetch_add(1, std::memory_order_seq_cst);
    Atomics::futex_wake(sequence, 1 << 30);
  }

  // Sleeps until rung, or `nanoseconds` passed. `look` runs after the fence; it returns true when there is something to
  // do, and then nobody sleeps.
  template <class Look>
  void sleep(std::int64_t nanoseconds, Look&& look) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t seen = sequence.load(std::memory_order_seq_cst);
    Atomics::heavy_fence();
    if (!look()) Atomics::futex_wait(sequence, seen, nanoseconds);
    sleepers.fetch_sub(1, std::memory_order_relaxed);
  }
};
using Doorbell = BasicDoorbell<>;
static_assert(sizeof(Doorbell) == kCacheLine);

}  // namespace heddle
