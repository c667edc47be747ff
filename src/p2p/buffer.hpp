// The memory behind buffered sends (MPI 5.0, 3.6).
//
// Problem: MPI_Bsend completes locally whatever the receiver does, in space that the user attached.
// Method:  the user's buffer is an account, not an arena: a message that can't leave at once is copied to the heap, and
//          its size plus MPI_BSEND_OVERHEAD is charged to the account until it has left. So it never fragments, and a
//          program that attached enough by the standard's rule never fails. MPI_BUFFER_AUTOMATIC has no limit.
//          A communicator with a buffer of its own is charged alone, even when the process has more room.
// Threads: any; a mutex an account.
#pragma once

#include "mpi/bsend_account.hpp"
#include "p2p/request.hpp"

namespace heddle::p2p {

using mpi::BsendAccount;

// The communicator's own; null when memory ran out.
BsendAccount* account_of(Comm& comm) noexcept;

Status attach_buffer(BsendAccount& account, void* buffer, MPI_Count size);
// Waits until every message that the account is charged for has left, then forgets the buffer. `comm`: on whose VCI to
// wait.
Status detach_buffer(Comm& comm, BsendAccount& account, void* buffer_address, MPI_Count* size);
void flush_buffer(Comm& comm, BsendAccount& account);
// A request that completes when the account is charged for no message any more. It keeps `comm`, to which, or to whose
// process, the account belongs. Null when memory ran out.
mpi::Request* iflush_buffer(Comm& comm, BsendAccount& account) noexcept;

// MPI_ERR_BUFFER where none is attached for a buffered send of so many bytes, or one that is too small even when it is empty. Such a send
// is refused whether or not it could leave at once, which the program cannot know.
Status check_buffer(const Comm& comm, std::size_t bytes) noexcept;
// Copies the message of a buffered send and makes the request send from the copy. MPI_ERR_BUFFER when the account is
// exhausted.
Status take_copy(SendRequest& request) noexcept;
// The same for a standard send of a message that the receiver has no room for (MPI 5.0, 3.4: it may be buffered), by whoever
// waits for it. False: it does not wait for that, or HEDDLE_HELD_BYTES is used up.
bool keep_copy(SendRequest& request) noexcept;
// Frees the copy and its charge, if the request has one.
void release_copy(SendRequest& request) noexcept;

}  // namespace heddle::p2p
