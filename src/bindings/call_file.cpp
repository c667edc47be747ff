#include "bindings/call_file.hpp"

#include "mpi/errhandler.hpp"

namespace heddle::bindings {

int fail(const char* procedure, mpi::File* file, Status status) { return mpi::raise(*file, status, procedure); }

Status bad_handle(const char* parameter, MPI_File handle) {
  return error(MPI_ERR_FILE, "%s (%p) is not an open file: it was closed, or never was one", parameter,
               static_cast<void*>(handle));
}

int missing_of_files(const char* procedure) {
  if (!mpi::running()) return not_running(procedure);
  return fail(procedure, &mpi::no_file(), not_implemented(procedure));
}

}  // namespace heddle::bindings
