// call.hpp, and what the procedures of files need beside it.
//
// Problem: what fails on a file goes to the file's error handler, and what concerns no file, or none that is open, to
//          MPI_FILE_NULL's (MPI 5.0, 14.7), never to MPI_COMM_SELF's.
// Method:  the frame of call.hpp for a file.
// Threads: any.
#pragma once

#include "bindings/call.hpp"
#include "mpi/file.hpp"

namespace heddle::bindings {

[[gnu::cold]] Status bad_handle(const char* parameter, MPI_File handle);
// Files are not implemented; MPI_FILE_NULL's error handler hears of it.
[[gnu::cold]] int missing_of_files(const char* procedure);

// Handlers may be set and asked for of MPI_FILE_NULL too.
struct OnFile {
  const char* parameter;
  MPI_File handle;
};

template <Phase phase, class Body>
int call(const char* procedure, OnFile on, Body body) {
  if (!allowed<phase>()) return not_running(procedure);
  mpi::File* file = mpi::from_handle(on.handle);
  if (file == nullptr) return fail(procedure, &mpi::no_file(), bad_handle(on.parameter, on.handle));
  return finish(procedure, file, body, *file);
}

}  // namespace heddle::bindings
