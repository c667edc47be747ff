// For the overlay's MPI procedures: a request of ours that is over is handed to the program.
#pragma once

#include "engine.hpp"

namespace heddle::overlay {

// No request has such a status.
void set_empty_status(MPI_Status* status);
// REQUIRES: the request is complete or inactive. It is inactive afterwards, and its error is returned, not yet handed to a handler.
int conclude(Operation& operation, MPI_Status* status);
// An error that `conclude` returned goes to its handler.
int tell(const char* procedure, const Operation& operation, int error_class);
bool is_over(Operation& operation);
// After that: a handle that stands for one run is gone.
void let_go(Operation& operation, MPI_Request* handle);

}  // namespace heddle::overlay
