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
  using Values = std::span<unsigned long>;

  const char* name;
  int var_class;  // MPI_T_PVAR_CLASS_*
  const char* category;
  int verbosity;
  const char* meaning;
  // One of these, by what it is of: each VCI, the process, or a communicator that the handle is bound to.
  std::uint64_t (*of_vci)(const vci::Counts& counts) noexcept = nullptr;
  void (*of_process)(Values values) noexcept = nullptr;
  void (*of_comm)(mpi::Comm& comm, Values values) noexcept = nullptr;
  int elements = 1;  // of the latter two
  // What a handle needs before it can be read, and when it is gone. The communicator is null where there is none.
  Status (*open)(mpi::Comm* comm) noexcept = nullptr;
  void (*close)() noexcept = nullptr;

  bool is_of_matching() const noexcept { return open != nullptr; }
  // Can be started, stopped, reset, written, and read and reset in one.
  bool is_counter() const noexcept {
    return var_class == MPI_T_PVAR_CLASS_COUNTER || var_class == MPI_T_PVAR_CLASS_TIMER;
  }
};

std::span<const Pvar> pvars() noexcept;

// Ends a handle, and lets go of the number of VCIs.
void drop(State& state, std::map<std::uintptr_t, PvarHandle>::iterator handle);

}  // namespace heddle::tool
