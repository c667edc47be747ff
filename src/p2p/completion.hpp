// Completing requests behind handles: what MPI_Wait, MPI_Test and their kin share.
#pragma once

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

}  // namespace heddle::p2p
