// What Heddle keeps in the reserved part of MPI_Status.
//
//     word   0            1         2           3..4                            5           6..7
//            MPI_SOURCE | MPI_TAG | MPI_ERROR | bytes, 64 bit (internal[0..1]) | cancelled | unused
//
// Threads: a status belongs to its caller.
#pragma once

#include <cstddef>
#include <cstring>

#include "mpi.h"

namespace heddle::mpi {

static_assert(sizeof(MPI_Status) == 32 && offsetof(MPI_Status, MPI_internal) == 12, "the ABI's layout");

inline MPI_Count status_bytes(const MPI_Status& status) noexcept {
  MPI_Count bytes;
  std::memcpy(&bytes, status.MPI_internal, sizeof bytes);  // not aligned to 8
  return bytes;
}
inline void set_status_bytes(MPI_Status& status, MPI_Count bytes) noexcept {
  std::memcpy(status.MPI_internal, &bytes, sizeof bytes);
}

inline bool status_cancelled(const MPI_Status& status) noexcept { return status.MPI_internal[2] != 0; }
inline void set_status_cancelled(MPI_Status& status, bool cancelled) noexcept {
  status.MPI_internal[2] = cancelled ? 1 : 0;
}

}  // namespace heddle::mpi
