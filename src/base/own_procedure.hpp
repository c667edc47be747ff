// Which procedure of MPI the calling thread is in.
//
// Problem: who reads that a rank misses another one wants to know in which call; but to note the call would cost every message.
// Method:  the thread's stack is walked, when something went wrong.
// Threads: any.
// Cost:    some 10 us.
#pragma once

namespace heddle {

// The innermost one, such as "MPI_Recv"; null: none, as in a thread of the library's own.
const char* own_procedure() noexcept;

}  // namespace heddle
