// The performance variables: one row each.
//
// Each has an element for each VCI of the process, or one for the whole of it, or one for a communicator that its handle is
// bound to. A counter counts within a session from when it is started; the length of a queue, and the longest that it was
// since MPI_Init, are there for anybody to read.
#pragma once

#include <cstdint>
#include <map>
#include <span>

#include "mpi.h"
#include "mpi/comm.hpp"
#include "tool/state.hpp"
#include "vci/counts.hpp"

namespace heddle::tool {

struct Pvar {
  const char* name;
  int var_class;  // MPI_T_PVAR_CLASS_*
  const char* category;
  std::uint64_t vci::Counts::*value;  // of a VCI; null: see `whole` and `of_comm`
  int verbosity;
  const char* meaning;
  std::uint64_t (*whole)() noexcept = nullptr;                   // of the process
  std::uint64_t (*of_comm)(mpi::Comm& comm) noexcept = nullptr;  // bound to a communicator

  // Can be started, stopped, reset, written, and read and reset in one.
  bool is_counter() const noexcept { return var_class == MPI_T_PVAR_CLASS_COUNTER; }
};

std::span<const Pvar> pvars() noexcept;

// Ends a handle, and lets go of the number of VCIs.
void drop(State& state, std::map<std::uintptr_t, PvarHandle>::iterator handle);

}  // namespace heddle::tool
