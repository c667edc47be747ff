// The loops of the predefined operations.
#pragma once

#include "mpi.h"
#include "mpi/datatype_basic.hpp"
#include "mpi/op.hpp"

namespace heddle::mpi {

using Kernel = void (*)(const void* in, void* inout, MPI_Count count);

// The loop of a predefined operation on items of a basic type; null when MPI 4.1, 6.9.2 and 6.9.4, do not define it.
Kernel find_kernel(OpId op, Basic basic) noexcept;

}  // namespace heddle::mpi
