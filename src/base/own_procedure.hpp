// Which procedure of MPI the calling thread is in.
//
// Problem: who reads that a rank misses another one wants to know in which call; but to note the call would cost every message.
// Method:  the thread's stack is walked, when something went wrong or takes long. A procedure is known by its name among the
//          dynamic symbols; what a procedure jumps into, by its place in the section heddle_checked.
// Threads: any.
// Cost:    some 10 us.
#pragma once

namespace heddle {

// Of the section heddle_checked.
struct NamedFunction {
  const void* begin;
  const char* name;
};

// The innermost one, such as "MPI_Recv"; null: none, as in a thread of the library's own.
const char* own_procedure() noexcept;

}  // namespace heddle
