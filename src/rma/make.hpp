// A window is made of what the program asks for, whatever its flavor.
//
// Threads: a collective call, as those that ask.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/info.hpp"

namespace heddle::rma {

// What the program asks for.
struct Wish {
  int flavor;
  void* base = nullptr;  // of a window over memory that is there
  MPI_Aint size = 0;
  int disp_unit = 1;
  mpi::Info* info = nullptr;
  bool contiguous = false;  // one piece for all
};

// Collective over the parent. *win is MPI_WIN_NULL after an error, which all members meet.
Status make_window(mpi::Comm& parent, const Wish& wish, MPI_Win* win);

}  // namespace heddle::rma
