// Datatypes: MPI 4.1, chapter 5. Constructors get `wide`: true for the form with MPI_Count arguments, which
// MPI_Type_get_contents tells apart.
#pragma once

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/int_array.hpp"

namespace heddle::api {

Status type_contiguous(MPI_Count count, mpi::Datatype& oldtype, MPI_Datatype* newtype, bool wide);
Status type_vector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, mpi::Datatype& oldtype,
                   MPI_Datatype* newtype, bool wide);
Status type_create_hvector(MPI_Count count, MPI_Count blocklength, MPI_Count stride, mpi::Datatype& oldtype,
                           MPI_Datatype* newtype, bool wide);
Status type_indexed(MPI_Count count, mpi::IntArray blocklengths, mpi::IntArray displacements, mpi::Datatype& oldtype,
                    MPI_Datatype* newtype, bool wide);
Status type_create_hindexed(MPI_Count count, mpi::IntArray blocklengths, mpi::IntArray displacements,
                            mpi::Datatype& oldtype, MPI_Datatype* newtype, bool wide);
Status type_create_indexed_block(MPI_Count count, MPI_Count blocklength, mpi::IntArray displacements,
                                 mpi::Datatype& oldtype, MPI_Datatype* newtype, bool wide);
Status type_create_hindexed_block(MPI_Count count, MPI_Count blocklength, mpi::IntArray displacements,
                                  mpi::Datatype& oldtype, MPI_Datatype* newtype, bool wide);
Status type_create_struct(MPI_Count count, mpi::IntArray blocklengths, mpi::IntArray displacements,
                          const MPI_Datatype* types, MPI_Datatype* newtype, bool wide);
Status type_create_subarray(int ndims, mpi::IntArray sizes, mpi::IntArray subsizes, mpi::IntArray starts, int order,
                            mpi::Datatype& oldtype, MPI_Datatype* newtype, bool wide);
// datatype_darray.cpp
Status type_create_darray(int size, int rank, int ndims, mpi::IntArray gsizes, const int distribs[], const int dargs[],
                          const int psizes[], int order, mpi::Datatype& oldtype, MPI_Datatype* newtype, bool wide);
Status type_create_resized(mpi::Datatype& oldtype, MPI_Count lb, MPI_Count extent, MPI_Datatype* newtype, bool wide);
Status type_dup(mpi::Datatype& oldtype, MPI_Datatype* newtype);
Status type_commit(MPI_Datatype* datatype);
Status type_free(MPI_Datatype* datatype);

// datatype_f90.cpp, datatype_match.cpp
Status type_create_f90_real(int p, int r, MPI_Datatype* newtype);
Status type_create_f90_complex(int p, int r, MPI_Datatype* newtype);
Status type_create_f90_integer(int r, MPI_Datatype* newtype);
Status type_match_size(int typeclass, int size, MPI_Datatype* datatype);
Status type_get_value_index(mpi::Datatype& value_type, mpi::Datatype& index_type, MPI_Datatype* pair_type);

Status type_size(mpi::Datatype& datatype, MPI_Count* size);
Status type_get_extent(mpi::Datatype& datatype, MPI_Count* lb, MPI_Count* extent);
Status type_get_true_extent(mpi::Datatype& datatype, MPI_Count* true_lb, MPI_Count* true_extent);
Status type_get_name(mpi::Datatype& datatype, char* name, int* length);
Status type_set_name(mpi::Datatype& datatype, const char* name);
Status type_get_envelope(mpi::Datatype& datatype, MPI_Count* integers, MPI_Count* addresses, MPI_Count* types,
                         int* combiner);
Status type_get_envelope(mpi::Datatype& datatype, MPI_Count* integers, MPI_Count* addresses, MPI_Count* counts,
                         MPI_Count* types, int* combiner);
Status type_get_contents(mpi::Datatype& datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_types,
                         int* integers, MPI_Aint* addresses, MPI_Datatype* types);
Status type_get_contents(mpi::Datatype& datatype, MPI_Count max_integers, MPI_Count max_addresses, MPI_Count max_counts,
                         MPI_Count max_types, int* integers, MPI_Aint* addresses, MPI_Count* counts,
                         MPI_Datatype* types);

Status get_address(const void* location, MPI_Aint* address);
Status get_count(const MPI_Status* status, mpi::Datatype& datatype, MPI_Count* count);
Status get_elements(const MPI_Status* status, mpi::Datatype& datatype, MPI_Count* count);
Status status_set_elements(MPI_Status* status, mpi::Datatype& datatype, MPI_Count count);

Status pack(const void* inbuf, MPI_Count incount, mpi::Datatype& datatype, void* outbuf, MPI_Count outsize,
            MPI_Count* position, mpi::Comm& comm);
Status unpack(const void* inbuf, MPI_Count insize, MPI_Count* position, void* outbuf, MPI_Count outcount,
              mpi::Datatype& datatype, mpi::Comm& comm);
Status pack_size(MPI_Count incount, mpi::Datatype& datatype, mpi::Comm& comm, MPI_Count* size);

}  // namespace heddle::api
