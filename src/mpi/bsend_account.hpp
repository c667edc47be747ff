// What MPI_Buffer_attach or its kin gave for buffered sends (MPI 5.0, 3.6), and how much of it is in use. The messages
// themselves lie elsewhere (p2p/buffer.hpp).
#pragma once

#include <mutex>

#include "mpi.h"

namespace heddle::mpi {

// One a process, one a session, and one for each communicator that was ever given a buffer.
struct BsendAccount {
  std::mutex mutex;
  void* buffer = nullptr;
  MPI_Count size = 0;
  MPI_Count charged = 0;
  bool attached = false;
  bool automatic = false;
};

}  // namespace heddle::mpi
