// The loops of the predefined operations.
#pragma once

#include <vector>

#include "mpi.h"
#include "mpi/datatype_basic.hpp"
#include "mpi/op.hpp"

namespace heddle::mpi {

// out[i] = left[i] op right[i]. `out` may be one of the operands.
using Kernel = void (*)(const void* left, const void* right, void* out, MPI_Count count);

// The loop of a predefined operation on items of a basic type; null when MPI 4.1, 6.9.2 and 6.9.4, do not define it.
Kernel find_kernel(OpId op, Basic basic) noexcept;

// The same by each instruction set that this processor has, the best first: for tests.
using KernelSet = Kernel(OpId op, Basic basic);
std::vector<KernelSet*> runnable_kernels();

}  // namespace heddle::mpi
