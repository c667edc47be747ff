// Generalized requests: operations of the program's own behind MPI_Wait, MPI_Test and their kin (MPI 5.0, 13.2).
//
// Problem: the program says when such a request is complete, from any thread; what came of it only its query_fn knows,
//          which is to be asked whenever a status is reported; and its free_fn must run exactly once, in whichever call
//          is the last to have to do with the request.
// Method:  query_fn fills in a status of ours, from which the request takes its outcome: then it is reported like any
//          other. A completing call settles a request before it consumes it: query_fn, then free_fn. MPI_Request_free
//          and MPI_Grequest_complete agree by p2p/ownership.hpp on who comes last.
// Errors:  a callback's code is that of the procedure that called it; where both are called, free_fn's, being the last.
// Threads: any may complete one. No lock is held while a callback runs.
#pragma once

#include "base/status.hpp"
#include "mpi/request.hpp"

namespace heddle::p2p {

extern const mpi::RequestType kGeneralizedType;
inline bool is_generalized(const mpi::Request& request) noexcept { return request.type == &kGeneralizedType; }

Status query_generalized(mpi::Request& request);
void settle_generalized(mpi::Request& request);
// MPI_Request_free and MPI_Cancel of one.
Status free_generalized(mpi::Request& request);
Status cancel_generalized(mpi::Request& request);

// Before a complete request of any kind is reported, and stays: its outcome is known afterwards. The code of query_fn.
inline Status ask(mpi::Request& request) { return is_generalized(request) ? query_generalized(request) : Status::ok(); }
// The same before it is consumed. A code of free_fn is its outcome.
inline void settle(mpi::Request& request) {
  if (is_generalized(request)) [[unlikely]]
    settle_generalized(request);
}

}  // namespace heddle::p2p
