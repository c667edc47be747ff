// Reduction operations: MPI 4.1, 6.9.
#pragma once

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/op.hpp"

namespace heddle::api {

// `wide`: the function is an MPI_User_function_c.
Status op_create(MPI_User_function* function, int commute, MPI_Op* op, bool wide);
Status op_free(MPI_Op* op);
Status op_commutative(mpi::Op& op, int* commute);
Status reduce_local(const void* inbuf, void* inoutbuf, MPI_Count count, mpi::Datatype& datatype, mpi::Op& op);

}  // namespace heddle::api
