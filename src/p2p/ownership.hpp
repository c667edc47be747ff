// Who gives a request back: its owner or whoever completes it (MPI_Request_free of a request that is not complete).
//
// Problem: a request must be destroyed exactly once, and by then nobody may still write to it; the two sides meet at any
//          time, in two threads.
// Method:  the request's word goes from pending to complete, or by way of abandoned to complete, each by one atomic
//          step. Whoever comes second destroys.
// Threads: one completes, one other owns.
// Order:   each side releases what it did to the request before its step and acquires what the other did.
// Cost:    one exchange for a completion; a plain store where no second thread can be.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/atomics.hpp"

namespace heddle::p2p {

template <class Atomics = StdAtomics>
struct Ownership {
  using Word = typename Atomics::template atomic<std::uint32_t>;
  static constexpr std::uint32_t kPending = 0, kComplete = 1, kAbandoned = 2;

  // What the word was. kAbandoned: the caller destroys. Otherwise the request may be gone when this returns.
  static std::uint32_t complete(Word& word) noexcept { return word.exchange(kComplete, std::memory_order_acq_rel); }
  // The same where one thread both owns and completes.
  static std::uint32_t complete_alone(Word& word) noexcept {
    const std::uint32_t before = word.load(std::memory_order_relaxed);
    word.store(kComplete, std::memory_order_relaxed);
    return before;
  }
  // True: whoever completes the request destroys it. False: it is complete, the caller destroys.
  static bool abandon(Word& word) noexcept {
    std::uint32_t state = kPending;
    return word.compare_exchange_strong(state, kAbandoned, std::memory_order_acq_rel, std::memory_order_acquire);
  }
};

}  // namespace heddle::p2p
