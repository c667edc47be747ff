// Which targets this process may access now, and where in a target's memory (MPI 5.0, 12.5).
#pragma once

#include "base/status.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

// Some epoch lets this process access the target.
inline bool may_access(const Window& window, const Target& target) noexcept {
  return target.held.load(std::memory_order_relaxed) != kNothing || window.all.load(std::memory_order_relaxed) ||
         window.fenced.load(std::memory_order_relaxed);
}
[[gnu::cold]] Status no_epoch(int rank);

// `bytes` from `first` on, counted from the displacement, lie in the target's memory. Gives where the displacement is, as
// Memory wants it.
Status locate(Window& window, Target& target, MPI_Aint disp, MPI_Count first, MPI_Count bytes, std::uint64_t* at);

}  // namespace heddle::rma
