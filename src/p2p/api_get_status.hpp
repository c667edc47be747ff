// Looking at requests without completing them, several at a time (MPI 5.0, 3.7.6), for the generated bindings.
#pragma once

#include "base/status.hpp"
#include "mpi.h"

namespace heddle::api {

Status request_get_status_any(MPI_Count count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status);
Status request_get_status_all(MPI_Count count, const MPI_Request requests[], int* flag, MPI_Status statuses[]);
Status request_get_status_some(MPI_Count incount, const MPI_Request requests[], int* outcount, int indices[],
                               MPI_Status statuses[]);

}  // namespace heddle::api
