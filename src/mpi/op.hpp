// A reduction operation, predefined or the user's.
//
// Problem: 14 predefined operations on 60 types must run at memory speed, and a pair that the standard does not allow
//          must be an error before any message moves.
// Method:  a table of loops by operation and basic type, filled from templates; a pair without a loop is not allowed.
//          User functions get the whole run, cut where an int count would overflow.
// Threads: immutable after creation; any.
#pragma once

#include <cstdint>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/datatype.hpp"
#include "mpi/object.hpp"

namespace heddle::mpi {

enum class OpId : std::uint8_t {
  kUser,
  kSum,
  kMin,
  kMax,
  kProd,
  kBand,
  kBor,
  kBxor,
  kLand,
  kLor,
  kLxor,
  kMinloc,
  kMaxloc,
  kReplace,
  kNoOp,
  kCount,
};

struct Op : Object {
  constexpr explicit Op(std::int32_t constant = 0) noexcept : Object(Kind::kOp, constant) {}

  OpId id = OpId::kUser;
  bool predefined = false;  // not counted, never destroyed; fortran_index is its ABI value
  bool commutative = true;
  MPI_User_function* function = nullptr;  // of a user's operation, exactly one of the two
  MPI_User_function_c* wide_function = nullptr;
  const char* predefined_name = "";
};

// The operation behind one of the ABI's constants (0x20..0x3f); null when the value names none. O(1).
Op* predefined_op(std::uintptr_t value) noexcept;

// Memory for an operation; null when there is none left.
Op* take_op() noexcept;
void destroy(Op& op) noexcept;
inline void retain(Op& op) noexcept {
  if (!op.predefined) op.retain();
}
inline void release(Op& op) noexcept {
  if (!op.predefined && op.release()) destroy(op);
}

// MPI_ERR_OP unless a collective may apply `op` to items of `type` (MPI 4.1, 6.9.2).
Status check_op(const Op& op, const Datatype& type) noexcept;
// The same for MPI_Accumulate and its kin (MPI 5.0, 12.3.4): predefined operations, MPI_REPLACE and MPI_NO_OP among them,
// on predefined types and on derived ones that are made of one of them; MPI_ERR_TYPE of those that are not.
Status check_accumulate_op(const Op& op, const Datatype& type) noexcept;

// inout[i] = in[i] op inout[i]: for an operation that does not commute, `in` holds the operand of the lower ranks.
// REQUIRES: check_op said yes, or check_accumulate_op did and the type is predefined or the operation MPI_REPLACE or
// MPI_NO_OP; the buffers do not overlap.
void reduce(const Op& op, const void* in, void* inout, MPI_Count count, const Datatype& type) noexcept;
// out[i] = left[i] op right[i]. The same, of three buffers.
void reduce_into(const Op& op, const void* left, const void* right, void* out, MPI_Count count,
                 const Datatype& type) noexcept;

}  // namespace heddle::mpi
