// Packing in a representation that every MPI can read (MPI 5.0, 5.3), for the generated bindings.
#pragma once

#include "base/status.hpp"
#include "mpi/datatype.hpp"

namespace heddle::api {

Status pack_external(const char* datarep, const void* inbuf, MPI_Count incount, mpi::Datatype& datatype, void* outbuf,
                     MPI_Count outsize, MPI_Count* position);
Status unpack_external(const char* datarep, const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf,
                       MPI_Count outcount, mpi::Datatype& datatype);
Status pack_external_size(const char* datarep, MPI_Count incount, mpi::Datatype& datatype, MPI_Count* size);

}  // namespace heddle::api
