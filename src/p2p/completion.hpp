// Completing requests behind handles: what MPI_Wait, MPI_Test and their kin share.
#pragma once

#include "base/status.hpp"
#include "mpi/request.hpp"

namespace heddle::p2p {

// What MPI_Status reports for a request without an operation (MPI 4.1, 3.7.3 "empty status").
void set_empty(MPI_Status* status) noexcept;
// The outcome of a complete request. Null is MPI_STATUS_IGNORE. MPI_ERROR is left alone (MPI 4.1, 3.2.5).
void fill_status(const mpi::Request& request, MPI_Status* status) noexcept;

// A handle that may be completed: not null, not an inactive persistent request.
inline bool is_active(const mpi::Request* request) noexcept { return request != nullptr && request->active; }

// Consumes a complete request: reports it in *status, then destroys it and sets *handle to MPI_REQUEST_NULL, or, if it
// is persistent, makes it inactive. Returns the MPI error class of the operation.
int consume(MPI_Request* handle, mpi::Request& request, MPI_Status* status) noexcept;

// For procedures on several requests, whose statuses each have an MPI_ERROR of their own (MPI 5.0, 3.7.5).
inline MPI_Status* at(MPI_Status* statuses, MPI_Count i) noexcept {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}
inline void set_error(MPI_Status* status, int error_class) noexcept {
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error_class;
}
// Makes `all` MPI_ERR_IN_STATUS, told by the first failure, if the complete `request`, number `index` of `count`, failed.
void note_failure(Status& all, const mpi::Request& request, int index, int count) noexcept;

}  // namespace heddle::p2p
