// The procedures of short messages, for the bindings: what nearly every call of them does, without a further call.
#pragma once

#include "mpi/handle.hpp"
#include "p2p/completion.hpp"
#include "p2p/request.hpp"
#include "p2p/send.hpp"

namespace heddle::api {

using mpi::Comm;
using mpi::Datatype;

// The long ways, for what cannot be done at once.
Status send_in_time(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm);
Status isend_in_time(const void* buf, MPI_Count count, Datatype& type, int dest, int tag, Comm& comm,
                     MPI_Request* request);
Status wait_in_time(MPI_Request* request, MPI_Status* status);

[[gnu::always_inline]] inline Status send(const void* buf, MPI_Count count, Datatype& type, int dest, int tag,
                                          Comm& comm) {
  if (p2p::send_now(comm, buf, count, type, dest, tag, p2p::Mode::kStandard, mpi::Channel::kUser)) [[likely]]
    return Status::ok();
  return send_in_time(buf, count, type, dest, tag, comm);
}

[[gnu::always_inline]] inline Status isend(const void* buf, MPI_Count count, Datatype& type, int dest, int tag,
                                           Comm& comm, MPI_Request* request) {
  if (!p2p::send_now(comm, buf, count, type, dest, tag, p2p::Mode::kStandard, mpi::Channel::kUser)) [[unlikely]]
    return isend_in_time(buf, count, type, dest, tag, comm, request);
  *request = mpi::to_handle(&p2p::immortal());
  return Status::ok();
}

inline Status recv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, MPI_Status* status) {
  return p2p::recv(comm, buf, count, type, source, tag, mpi::Channel::kUser, status);
}

inline Status irecv(void* buf, MPI_Count count, Datatype& type, int source, int tag, Comm& comm, MPI_Request* request) {
  p2p::Request* made = nullptr;
  HEDDLE_TRY(p2p::irecv(comm, buf, count, type, source, tag, mpi::Channel::kUser, &made));
  *request = mpi::to_handle(made);
  return Status::ok();
}

[[gnu::always_inline]] inline Status wait(MPI_Request* request, MPI_Status* status) {
  if (mpi::from_handle(*request) != &p2p::immortal()) return wait_in_time(request, status);
  if (status != MPI_STATUS_IGNORE) p2p::fill_status(p2p::immortal(), status);
  *request = MPI_REQUEST_NULL;
  return Status::ok();
}

}  // namespace heddle::api
