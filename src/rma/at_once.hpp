// The usual case of a communication call: data in a row at both ends, and memory of the target that is mapped here.
//
// Cost: of a put of 8 bytes, see docs/decisions/windows.md.
#pragma once

#include "mpi/datatype.hpp"
#include "rma/epoch.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

// Where `bytes` at the displacement lie. Null: it is not the usual case, or an error; nothing happened.
[[gnu::always_inline]] inline std::byte* address_at_once(Window& window, int rank, MPI_Aint disp,
                                                         MPI_Count bytes) noexcept {
  if (rank < 0) return nullptr;  // MPI_PROC_NULL
  Target& target = window.target(rank);
  std::byte* base = target.mapped.load(std::memory_order_acquire);
  MPI_Aint begin;
  if (base == nullptr || !may_access(window, target) ||
      __builtin_mul_overflow(disp, MPI_Aint{target.card.disp_unit}, &begin)) {
    return nullptr;
  }
  // A displacement is not negative, so neither sum wraps around.
  const auto end = static_cast<std::uint64_t>(begin) + static_cast<std::uint64_t>(bytes);
  return end <= target.card.size ? base + begin : nullptr;
}

// The same of `count` items of a type; null where they do not lie in a row.
[[gnu::always_inline]] inline std::byte* address_at_once(Window& window, int rank, MPI_Aint disp,
                                                         const mpi::Datatype& type, MPI_Count count) noexcept {
  return type.contiguous ? address_at_once(window, rank, disp, type.size * count) : nullptr;
}

}  // namespace heddle::rma
