// What lock-free code needs from the machine, as a policy: a test puts a deterministic scheduler in its place.
//
// Problem: a handshake that misses one fence works on the developer's machine and hangs on a busy node.
// Method:  lock-free classes are templates on `Atomics` and touch shared memory only through it: atomics, fences, a
//          hint in a spinning loop, and a note before each access to plain memory that the atomics are meant to
//          protect. StdAtomics is the machine and costs nothing. tests/base/model/model_atomics.hpp is the other one:
//          it runs the same code under every interleaving up to a bound, shows stale values, and reports data races.
//          ModelAtomics::atomic<T> has the size and alignment of T, so formats keep their offsets under both.
// Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/cpu.hpp"
#include "base/futex.hpp"

namespace heddle {

struct StdAtomics {
  template <class T>
  using atomic = std::atomic<T>;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wpragmas"
#pragma GCC diagnostic ignored "-Wtsan"  // the race detector does not model fences; what relies on one is model-tested
#endif
  static void fence(std::memory_order order) noexcept { __atomic_thread_fence(static_cast<int>(order)); }
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

  // A fence in every thread of every process that registered for it (futex.hpp), so that the others' frequent side
  // needs none in the machine; light_fence() is that side's, and only keeps the compiler from reordering.
  static void heavy_fence() noexcept { heddle::heavy_fence(); }
  static void light_fence() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }

  static void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t ns) noexcept {
    heddle::futex_wait(word, expected, ns);
  }
  static void futex_wake(const std::atomic<std::uint32_t>& word, int how_many) noexcept {
    heddle::futex_wake(word, how_many);
  }

  // In a loop that waits for another thread's store.
  static void pause() noexcept { cpu_relax(); }
  // The same, after some of those were in vain: others may want this core.
  static void yield() noexcept { yield_core(); }

  // Notes that this thread reads or writes `bytes` of plain memory now: place before a memcpy of a payload.
  static void reads(const void*, std::size_t) noexcept {}
  static void writes(const void*, std::size_t) noexcept {}
};

}  // namespace heddle
