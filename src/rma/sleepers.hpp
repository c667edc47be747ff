// Which processes of the node sleep until a lock is given back, in one word beside the lock.
//
// Method:  who is about to sleep puts up the bit of its region and looks at the lock once more; who gives the lock back takes
//          all bits down after that, and rings. So one of the two sees the other. A process that was woken in vain puts
//          its bit up again.
//
// Threads: any of any process that has it mapped.
// Order:   sequentially consistent, as the lock's own release is: a release and then a look here, against a bit and then a
//          look at the lock.
#pragma once

#include <cstdint>

#include "base/atomics.hpp"

namespace heddle::rma {

template <class Atomics = StdAtomics>
class BasicSleepers {
 public:
  // True: the bit was down until now, so the caller must look at the lock again before it sleeps.
  bool put_up(std::uint32_t region) noexcept {
    const std::uint64_t bit = bit_of(region);
    if ((bits_.load(std::memory_order_seq_cst) & bit) != 0) return false;
    bits_.fetch_or(bit, std::memory_order_seq_cst);
    return true;
  }
  // ring(region) for each of `regions` that may sleep. REQUIRES: the lock was given back.
  template <class Ring>
  void wake(std::uint32_t regions, Ring ring) noexcept {
    if (bits_.load(std::memory_order_seq_cst) == 0) return;
    const std::uint64_t bits = bits_.exchange(0, std::memory_order_seq_cst);
    for (std::uint32_t region = 0; region < regions; ++region) {
      if ((bits & bit_of(region)) != 0) ring(region);
    }
  }

 private:
  // Of the regions i, i + 64, ...
  static constexpr std::uint64_t bit_of(std::uint32_t region) noexcept { return std::uint64_t{1} << (region % 64); }

  typename Atomics::template atomic<std::uint64_t> bits_{0};
};
using Sleepers = BasicSleepers<>;

}  // namespace heddle::rma
