// The beginning and the end of MPI in a program (MPI 4.1, 11.2 to 11.6), for the generated bindings.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"

namespace heddle::api {

Status init(int* argc, char*** argv);
Status init_thread(int* argc, char*** argv, int required, int* provided);
Status finalize();
Status initialized(int* flag);
Status finalized(int* flag);
Status query_thread(int* provided);
Status is_thread_main(int* flag);
Status abort(mpi::Comm& comm, int errorcode);

}  // namespace heddle::api
