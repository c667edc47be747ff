// The fields of a status (MPI 5.0, 3.2.5 and 13.3), for the generated bindings. Counts are api_datatype.hpp's.
#pragma once

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/status.hpp"

namespace heddle::api {

inline Status status_get_source(const MPI_Status* status, int* source) {
  *source = status->MPI_SOURCE;
  return Status::ok();
}
inline Status status_get_tag(const MPI_Status* status, int* tag) {
  *tag = status->MPI_TAG;
  return Status::ok();
}
inline Status status_get_error(const MPI_Status* status, int* err) {
  *err = status->MPI_ERROR;
  return Status::ok();
}
inline Status status_set_source(MPI_Status* status, int source) {
  status->MPI_SOURCE = source;
  return Status::ok();
}
inline Status status_set_tag(MPI_Status* status, int tag) {
  status->MPI_TAG = tag;
  return Status::ok();
}
inline Status status_set_error(MPI_Status* status, int err) {
  status->MPI_ERROR = err;
  return Status::ok();
}
inline Status status_set_cancelled(MPI_Status* status, int flag) {
  mpi::set_status_cancelled(*status, flag != 0);
  return Status::ok();
}

}  // namespace heddle::api
