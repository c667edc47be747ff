// Operations on targets that this process cannot reach by itself: packets, and what the target does with them.
//
// Problem: the memory of another node, or where the kernel refuses. The target's processor has to do it.
// Method:  an operation goes as packets of pieces: where, how many bytes, and the bytes themselves. The target's handler does
//          each with the same code as an origin that reaches the memory (memory.hpp), under the same locks. What it reads goes
//          back in the order of the lane; a flush is a question behind all others, whose answer comes after theirs.
//          A lock is asked for until it is given.
//
//          request   prefix {window, token, kind, operation, type}   payload: pieces {at, bytes}, then data
//          data      prefix {token}                                  payload: what was read
//          answer    prefix {token, yes or no}                       to a question: a flush, a lock, its end
//
//          `window` is the target's, `token` the origin's Transfer: each is handed back to the process that made it.
// Threads: any. Handlers run under the lock of the window's VCI.
// Limits:  the target has to make progress.
#pragma once

#include "mpi/pack.hpp"
#include "rma/operation.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

// Registers the handlers with the VCI of a window, before anybody knows of the window.
void install(vci::Vci& vci);

// Sends an operation on its way; *request, where it is not null, completes with it. REQUIRES: the target's way is kMessages.
Status send(Window& window, const Operation& operation, mpi::Request** request);

// What was sent to the target is done there, and what was asked for is here. At once for other ways.
Status flush(Window& window, int rank);
Status flush_all(Window& window);

// MPI_Win_lock and MPI_Win_unlock, of a target by packets. `held`: kShared or kExclusive.
Status lock_remote(Window& window, int rank, Held held);
Status unlock_remote(Window& window, int rank, Held held);

}  // namespace heddle::rma
