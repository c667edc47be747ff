// Which targets this process may access now, and where in a target's memory (MPI 5.0, 12.5).
#pragma once

#include "base/atomics.hpp"
#include "base/status.hpp"
#include "rma/rows.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

// Some epoch lets this process access the target. One that a fence began counts from now on.
inline bool may_access(Window& window, const Target& target) noexcept {
  if (target.held.load(std::memory_order_relaxed) != kNothing || window.all.load(std::memory_order_relaxed))
    return true;
  const Window::Fence fence = window.fence.load(std::memory_order_relaxed);
  if (fence == Window::kOpen) window.fence.store(Window::kUsed, std::memory_order_relaxed);
  return fence != Window::kClosed;
}
// MPI_Win_start, MPI_Win_post and locks end what a fence began, unless something was done in it.
Status leave_fence(Window& window);
// Between what this process did to memory that others see, and what it does next.
inline void full_fence() noexcept { StdAtomics::fence(std::memory_order_seq_cst); }

// By a lock: what request-based operations need (12.3.5).
inline bool is_locked(const Window& window, const Target& target) noexcept {
  const std::uint8_t held = target.held.load(std::memory_order_relaxed);
  return (held & (kShared | kExclusive | kUnchecked)) != 0 || window.all.load(std::memory_order_relaxed);
}
[[gnu::cold]] Status no_epoch(int rank);
[[gnu::cold]] Status no_lock(int rank);

// `bytes` from `first` on, counted from the displacement, lie in the target's memory. Gives where the displacement is, as
// Memory wants it.
Status locate(Window& window, Target& target, MPI_Aint disp, MPI_Count first, MPI_Count bytes, std::uint64_t* at);
// The same of rows in a dynamic window.
Status locate(Window& window, Target& target, const Rows& rows);

}  // namespace heddle::rma
