// What a program may ask about its environment (MPI 5.0, 9.1, 9.6, 21), for the generated bindings. The start and the
// end of MPI are comm/api_init.hpp's.
#pragma once

#include <time.h>

#include "base/status.hpp"
#include "mpi/info.hpp"

namespace heddle::api {

using mpi::Info;

Status get_version(int* version, int* subversion);
Status get_library_version(char* version, int* resultlen);
Status get_processor_name(char* name, int* resultlen);
Status get_hw_resource_info(MPI_Info* hw_info);

Status abi_get_version(int* abi_major, int* abi_minor);
Status abi_get_info(MPI_Info* info);
Status abi_get_fortran_info(MPI_Info* info);
Status abi_set_fortran_info(Info* info);
Status abi_get_fortran_booleans(int logical_size, void* logical_true, void* logical_false, int* is_set);
Status abi_set_fortran_booleans(int logical_size, void* logical_true, void* logical_false);

// `baseptr` is the address of a pointer.
Status alloc_mem(MPI_Aint size, Info* info, void* baseptr);
Status free_mem(void* base);

// Seconds since the node started; the same clock in all its processes.
inline double wtime() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}
double wtick() noexcept;

}  // namespace heddle::api
