// Error classes and codes as text, and those that the user adds.
//
// Problem: MPI_Error_string must turn a code into what a person needs, for the standard's classes and for the user's.
// Method:  Heddle's own codes are the classes themselves; the sentence about the particular error is the thread's
//          newest one (base/status.hpp) when its class agrees. Classes and codes of the user are numbers above
//          MPI_ERR_LASTCODE, given out in turn and never twice.
// Threads: any; the user's are behind one mutex.
#pragma once

#include "base/status.hpp"
#include "mpi.h"

namespace heddle::mpi {

// "MPI_ERR_RANK"; null for what is no class of the standard.
const char* error_class_name(int error_class) noexcept;
// "the rank is not one of the communicator or group"; null likewise.
const char* error_class_text(int error_class) noexcept;

// At most MPI_MAX_ERROR_STRING characters with the zero.
Status error_string(int code, char* out, int* length);
Status error_class_of(int code, int* error_class);

Status add_error_class(int* error_class);
Status add_error_code(int error_class, int* code);
Status add_error_string(int code, const char* text);
Status remove_error_class(int error_class);
Status remove_error_code(int code);
Status remove_error_string(int code);

// The value of MPI_LASTUSEDCODE: lives as long as the program and grows with each class and code of the user.
const int* last_used_code() noexcept;

}  // namespace heddle::mpi
