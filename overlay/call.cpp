#include "call.hpp"

namespace heddle::overlay {

void set_empty_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  const int error = status->MPI_ERROR;  // which only those for several requests set
  *status = MPI_Status{};
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  status->MPI_ERROR = error;
  PMPI_Status_set_elements_x(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
}

int conclude(Operation& operation, MPI_Status* status) {
  if (!operation.is_active()) {
    set_empty_status(status);
    return MPI_SUCCESS;
  }
  operation.describe(status);
  const int error = operation.error;
  operation.active.store(false, std::memory_order_release);
  return error;
}

int tell(const char* procedure, const Operation& operation, int error_class) {
  return error_class == MPI_SUCCESS ? MPI_SUCCESS : operation.raise(procedure, error_class);
}

void let_go(Operation& operation, MPI_Request* handle) {
  if (!operation.is_once) return;
  remove_request(*handle);
  *handle = MPI_REQUEST_NULL;
  operation.release();
}

bool is_over(Operation& operation) { return !operation.is_active() || operation.poll(); }

}  // namespace heddle::overlay
