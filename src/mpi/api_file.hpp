// Error handlers of files, and data representations, for the generated bindings.
#pragma once

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/errhandler.hpp"
#include "mpi/file.hpp"

namespace heddle::api {

using mpi::File;

Status file_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler);
Status file_set_errhandler(File& file, mpi::Errhandler& errhandler);
Status file_get_errhandler(File& file, MPI_Errhandler* errhandler);
Status file_call_errhandler(File& file, int errorcode);

Status register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
                        MPI_Datarep_conversion_function* write_conversion_fn,
                        MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state, bool wide);

}  // namespace heddle::api
