// The end of a communicator.
#include "coll/api.hpp"
#include "comm/api_comm.hpp"
#include "mpi/attribute.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {
namespace {

Status check_freeable(const Comm& comm) {
  if (!comm.is_predefined()) return Status::ok();
  return error(MPI_ERR_COMM, "%s cannot be freed; it stays until MPI_Finalize", comm.name.c_str());
}

}  // namespace

// Local: nobody needs to know. Requests under way hold references, so the communicator lives until they are done.
Status comm_free(MPI_Comm* handle) {
  Comm& comm = *mpi::from_handle(*handle);
  HEDDLE_TRY(check_freeable(comm));
  HEDDLE_TRY(mpi::delete_all_attributes(comm));
  comm.mark_dead();
  *handle = MPI_COMM_NULL;
  mpi::release(comm);
  return Status::ok();
}

// Returns when all members have come here: what was sent before has been taken by then, or is kept by this process.
Status comm_disconnect(MPI_Comm* handle) {
  Comm& comm = *mpi::from_handle(*handle);
  HEDDLE_TRY(check_freeable(comm));
  HEDDLE_TRY(barrier(comm));
  return comm_free(handle);
}

}  // namespace heddle::api
