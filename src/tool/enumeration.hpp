// The words for the values of a control variable that is a choice: MPI_T's enumerations.
//
// An enumeration belongs to a control variable, and its handle is the address of that variable's row.
#pragma once

#include "mpi.h"
#include "mpi/control.hpp"

namespace heddle::tool {

// MPI_T_ENUM_NULL for a number.
inline MPI_T_enum enumeration_of(const mpi::Control& control) noexcept {
  if (control.choices.empty()) return MPI_T_ENUM_NULL;
  return reinterpret_cast<MPI_T_enum>(const_cast<mpi::Control*>(&control));
}

}  // namespace heddle::tool
