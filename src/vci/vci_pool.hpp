// Which VCIs of a process have a user of their own.
//
// Method:  a bit for each. The lowest free one is given out, so that who makes and frees communicators for ever gets the same ones
//          again, with the rings that they have (docs/decisions/vcis.md). The first is the fallback: it always has users.
// Threads: any.
// Order:   give_back() releases to who takes the same one next.
// Cost:    a compare-and-swap for a communicator.
#pragma once

#include <bit>
#include <cstdint>

#include "base/atomics.hpp"

namespace heddle::vci {

template <class Atomics = StdAtomics>
class BasicVciPool {
 public:
  // Of so many, at most 32. 0: others have all of them.
  std::uint32_t take(std::uint32_t count) noexcept {
    std::uint32_t taken = taken_.load(std::memory_order_relaxed), index = 0;
    do {
      index = static_cast<std::uint32_t>(std::countr_one(taken));
      if (index >= count) return 0;
    } while (!taken_.compare_exchange_weak(taken, taken | 1u << index, std::memory_order_acquire,
                                           std::memory_order_relaxed));
    use(1u << index);
    return index;
  }
  void give_back(std::uint32_t index) noexcept {
    if (index != 0) taken_.fetch_and(~(1u << index), std::memory_order_release);
  }

  // Bit i: VCI i was ever given out, or named here, so messages may come for it.
  void use(std::uint32_t bits) noexcept { used_.fetch_or(bits, std::memory_order_release); }
  std::uint32_t used() const noexcept { return used_.load(std::memory_order_acquire); }

 private:
  typename Atomics::template atomic<std::uint32_t> taken_{1}, used_{1};
};
using VciPool = BasicVciPool<>;

}  // namespace heddle::vci
