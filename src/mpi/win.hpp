// A window: memory of each member of a group that the others put into and get from (MPI 5.0, 12).
//
// Method:  what every window has, whatever its memory: a communicator of its own, which no handle names, and what the user
//          hangs on it. How its memory is reached is rma's affair (rma/window.hpp), whose windows are all that there are.
// Threads: immutable after creation, but what `mutex` guards.
#pragma once

#include <mutex>
#include <string>

#include "mpi.h"
#include "mpi/object.hpp"

namespace heddle::mpi {

struct Attributes;
struct Comm;
struct Errhandler;
struct Info;

struct Win : Object {
  // Takes over the reference to the communicator.
  explicit Win(Comm& c) noexcept : Object(Kind::kWin), comm(&c) {}
  ~Win();

  Comm* comm;
  // The predefined attributes (MPI 5.0, 12.2.6).
  void* base = nullptr;
  MPI_Aint size = 0;
  int disp_unit = 1;
  int flavor = MPI_WIN_FLAVOR_CREATE;
  int model = MPI_WIN_UNIFIED;

  std::mutex mutex;                  // guards what follows
  Errhandler* errhandler = nullptr;  // null: MPI_ERRORS_ARE_FATAL, as for every new window
  Info* info = nullptr;
  Attributes* attributes = nullptr;
  std::string name;
};

}  // namespace heddle::mpi
