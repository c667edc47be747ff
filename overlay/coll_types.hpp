// What the overlay knows of the host's predefined datatypes and operations.
//
// Problem: all ranks have to go the same way, and one that went by a plan cannot find out in the middle of it that the host refuses an operation.
// Method:  a table of the arithmetic types of C, and the operations that MPI defines for them (MPI 5.0, 6.9.2). All else that reduces is the
//          host's. The host combines, too: MPI_Reduce_local.
// Threads: any.
// Cost:    the type that a thread asked for last is found at once.
#pragma once

#include <cstdint>

#include "host.hpp"

namespace heddle::overlay {

enum class TypeKind : std::uint8_t { kUnknown, kInteger, kFloating, kBytes };

struct KnownType {
  TypeKind kind = TypeKind::kUnknown;
  int size = 0;  // and extent
};

KnownType known_type(MPI_Datatype type) noexcept;
// Before what follows; close_packing() while no collective by a plan is under way.
void open_packing();
void close_packing();
// For MPI_Pack, by this process alone; it returns its errors.
MPI_Comm packing_comm() noexcept;
// A type that may be used for data.
bool is_committed(MPI_Datatype type) noexcept;

// Whether MPI has this operation for such a type. It commutes, then.
bool combines(MPI_Op op, TypeKind kind) noexcept;
// to = left op right of `count` items, of which `to` may be one.
void combine(MPI_Op op, MPI_Datatype type, int size, const void* left, const void* right, void* to,
             MPI_Count count) noexcept;

}  // namespace heddle::overlay
