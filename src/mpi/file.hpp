// What there is of files before there are files: MPI_FILE_NULL, and data representations by name (MPI 5.0, 14).
//
// Problem: MPI_FILE_NULL carries the error handler that new files get and that hears of what concerns no file
//          (14.7); a data representation may be registered before a file is opened that is read with it (14.5.3).
// Method:  MPI_FILE_NULL is an object like others, with a handler of its own, MPI_ERRORS_RETURN at first. Representations
//          are a table by name. Both are as at the start again when the last user of the library has left.
// Threads: any. What is behind a mutex is named beside it.
#pragma once

#include <mutex>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/object.hpp"

namespace heddle::mpi {

struct Errhandler;

struct File : Object {
  explicit File(std::int32_t constant) noexcept : Object(Kind::kFile, constant) {}

  std::mutex mutex;                  // guards what follows
  Errhandler* errhandler = nullptr;  // null: MPI_ERRORS_RETURN
};

// MPI_FILE_NULL.
File& no_file() noexcept;

// The program's functions for one representation. The narrow and the wide form of a conversion differ in the type of a
// count only; `wide` says which one it is.
struct Datarep {
  MPI_Datarep_conversion_function* read;  // null: none is needed
  MPI_Datarep_conversion_function* write;
  MPI_Datarep_extent_function* extent;
  void* extra_state;
  bool wide;
};

// MPI_ERR_DUP_DATAREP for a name that is taken: the standard's own, or registered already.
Status register_datarep(const char* name, const Datarep& datarep);

// Nobody uses the library any more.
void forget_files() noexcept;

}  // namespace heddle::mpi
