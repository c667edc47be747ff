// Data in the form that every MPI can read: "external32" (MPI 5.0, 14.5.2).
//
// Problem: a buffer that one machine packed must mean the same on any other: big-endian, two's complement, IEEE, and a
//          size for each basic type that may differ from the machine's: long has 4 bytes, long double 16, a wide
//          character 2.
// Method:  the datatype's layout says where the bytes are, its record of construction in which order the basic types
//          come. A PackCursor brings the native stream, run by run of one basic type, through a small buffer; each run
//          is converted by a loop over its parts (a pair or a complex number has two).
// Threads: any. Cost: one copy more than MPI_Pack.
#pragma once

#include <cstddef>

#include "mpi/datatype.hpp"

namespace heddle::mpi {

// The bytes of `count` items in external32; the largest MPI_Count when they are more.
MPI_Count external32_size(const Datatype& type, MPI_Count count) noexcept;

// REQUIRES: external32_size(type, count) bytes at `out` and at `in`.
void pack_external32(const Datatype& type, MPI_Count count, const void* from, std::byte* out) noexcept;
void unpack_external32(const Datatype& type, MPI_Count count, void* to, const std::byte* in) noexcept;

}  // namespace heddle::mpi
