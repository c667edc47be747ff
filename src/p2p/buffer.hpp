// The memory behind buffered sends (MPI 4.1, 3.6).
//
// Problem: MPI_Bsend completes locally whatever the receiver does, in space that the user attached.
// Method:  the user's buffer is an account, not an arena: a message that can't leave at once is copied to the heap, and
//          its size plus MPI_BSEND_OVERHEAD is charged to the account until it has left. So it never fragments, and a
//          program that attached enough by the standard's rule never fails. MPI_BUFFER_AUTOMATIC has no limit.
// Threads: any; one mutex, not taken by messages that leave at once.
#pragma once

#include "p2p/request.hpp"

namespace heddle::p2p {

Status attach_buffer(mpi::Process& process, void* buffer, MPI_Count size);
// Waits until every buffered message has left, then forgets the buffer.
Status detach_buffer(mpi::Process& process, void* buffer_address, MPI_Count* size);
void flush_buffer(mpi::Process& process);
// A request that completes when no message is buffered any more. Null when memory ran out.
mpi::Request* iflush_buffer(mpi::Comm& comm) noexcept;

// Copies the message of a buffered send and makes the request send from the copy. MPI_ERR_BUFFER when the account is
// exhausted.
Status take_copy(SendRequest& request) noexcept;
// Frees the copy and its charge, if the request has one.
void release_copy(SendRequest& request) noexcept;

}  // namespace heddle::p2p
