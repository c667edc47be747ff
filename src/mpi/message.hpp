// A message that a matched probe has taken off the queue (MPI 4.1, 3.8.2).
#pragma once

#include "mpi/comm.hpp"
#include "mpi/object.hpp"

namespace heddle::portals {
struct UnexpectedHeader;
}

namespace heddle::mpi {

struct Message : Object {
  Message(Comm& c, portals::UnexpectedHeader* h) noexcept : Object(Kind::kMessage), comm(&c), header(h) { c.retain(); }
  ~Message() { mpi::release(*comm); }

  Comm* comm;                         // a reference is held
  portals::UnexpectedHeader* header;  // null: MPI_MESSAGE_NO_PROC's
};

}  // namespace heddle::mpi
