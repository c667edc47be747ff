// Attributes (MPI 5.0, 7.7, and their names from MPI-1), for the generated bindings.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"

namespace heddle::api {

using mpi::Comm;
using mpi::Datatype;

// MPI_Keyval_create, MPI_Keyval_free, MPI_Attr_put, MPI_Attr_get and MPI_Attr_delete are the first five, too.
Status comm_create_keyval(MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* remove, int* keyval,
                          void* extra_state);
Status comm_free_keyval(int* keyval);
Status comm_set_attr(Comm& comm, int keyval, void* attribute_val);
Status comm_get_attr(Comm& comm, int keyval, void* attribute_val, int* flag);
Status comm_delete_attr(Comm& comm, int keyval);

Status type_create_keyval(MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* remove, int* keyval,
                          void* extra_state);
Status type_free_keyval(int* keyval);
Status type_set_attr(Datatype& datatype, int keyval, void* attribute_val);
Status type_get_attr(Datatype& datatype, int keyval, void* attribute_val, int* flag);
Status type_delete_attr(Datatype& datatype, int keyval);

}  // namespace heddle::api
