// What the tool interface (MPI 5.0, 15.3) remembers: who uses it, and which handles and sessions there are.
//
// Problem: a tool may come before MPI_Init and stay after MPI_Finalize; a stale handle must be recognised, not followed.
// Method:  a handle is a number that is never used again, and a key of a map. Everything ends with the last
//          MPI_T_finalize, except the values of control variables (mpi/control.hpp).
// Threads: whoever holds `lock`, which is the frame of each procedure (bindings/call_tool.hpp). It is the outermost lock.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "base/lock.hpp"
#include "mpi.h"
#include "mpi/comm.hpp"
#include "vci/event_log.hpp"

namespace heddle::tool {

// A performance variable within a session, pinned to the number of VCIs that there was. A variable that can be started has a
// value for each VCI: `sum`, and while it runs what was counted since `base`. Of a highest value `sum` is what was read.
struct PvarHandle {
  std::uintptr_t session = 0;
  int variable = 0;
  mpi::Comm* comm = nullptr;  // that it is bound to, with a reference, so that no other takes its place
  bool running = false;
  std::vector<unsigned long> base;
  std::vector<unsigned long> sum;
};

// The interest in one type of event, and the functions to call, by the safety that they promise.
struct Registration {
  struct Callback {
    MPI_T_event_cb_function* function = nullptr;
    void* user_data = nullptr;
  };
  static constexpr std::size_t kLevels = 4;

  int type = 0;
  std::int64_t since = 0;  // what happened before is not for it
  std::array<Callback, kLevels> callbacks;
  MPI_T_event_dropped_cb_function* on_dropped = nullptr;
  unsigned calls = 0;  // of its functions, that have not returned
  bool freed = false;  // by the user; it goes when `calls` is 0
  MPI_T_event_free_cb_function* on_free = nullptr;
  void* free_data = nullptr;
};

struct State {
  Lock lock;
  int users = 0;  // calls of MPI_T_init_thread without their MPI_T_finalize
  std::uintptr_t next = kFirst;
  std::map<std::uintptr_t, int> cvar_handles;  // to the index of the variable
  std::map<std::uintptr_t, PvarHandle> pvar_handles;
  std::set<std::uintptr_t> sessions;
  std::map<std::uintptr_t, Registration> registrations;
  // While a callback runs: the instance that it was given.
  std::uintptr_t instance = 0;
  vci::Occurrence occurrence;

  static constexpr std::uintptr_t kFirst = 16;  // above the constants, such as MPI_T_PVAR_ALL_HANDLES
};

// Never destroyed: a tool may call from the last destructor of the program.
State& state() noexcept;

template <class Handle>
Handle to_handle(std::uintptr_t number) noexcept {
  return reinterpret_cast<Handle>(number);
}
template <class Handle>
std::uintptr_t number_of(Handle handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

}  // namespace heddle::tool
