// What atomic operations compute.
//
// Threads: pure functions. Atomic is the interface's lock, under which a target applies them.
#pragma once

#include <cstddef>

#include "portals4.h"

namespace heddle::portals4 {

// Of one element; 0: there is no such type.
std::size_t element_bytes(ptl_datatype_t type);

enum class Caller { kAtomic, kFetchAtomic, kSwap };
// Whether there is such an operation of that function on that type.
bool is_defined(ptl_op_t operation, ptl_datatype_t type, Caller caller);
// PTL_CSWAP and its kin, PTL_MSWAP: of one element, with an operand.
bool has_operand(ptl_op_t operation);

// target[i] becomes operation(target[i], in[i]). REQUIRES: is_defined().
void apply(ptl_op_t operation, ptl_datatype_t type, std::byte* target, const std::byte* in, const std::byte* operand,
           std::size_t count);

}  // namespace heddle::portals4
