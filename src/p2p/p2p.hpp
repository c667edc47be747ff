// Point-to-point messages, for the bindings and for every layer above.
//
// Method:  short messages go eagerly and complete at once; longer ones announce themselves with their first bytes and
//          follow when the receiver has matched them (docs/protocols.md).
// Threads: any thread, when the process was started with MPI_THREAD_MULTIPLE.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/datatype.hpp"
#include "mpi/request.hpp"
#include "vci/task.hpp"

namespace heddle::p2p {

using mpi::Channel;
using mpi::Comm;
using mpi::Datatype;
using mpi::Request;

enum class Mode : std::uint8_t { kStandard, kBuffered, kSynchronous, kReady };

// Starts a send to `dest` (a rank, or MPI_PROC_NULL). `*out` is never null afterwards; it may be the immortal request
// that is complete from birth. REQUIRES: arguments checked.
Status isend(Comm& comm, const void* buffer, MPI_Count count, Datatype& type, int dest, int tag, Mode mode,
             Channel channel, Request** out);
// Starts a receive from `source` (a rank, MPI_ANY_SOURCE or MPI_PROC_NULL).
Status irecv(Comm& comm, void* buffer, MPI_Count count, Datatype& type, int source, int tag, Channel channel,
             Request** out);

// Makes progress until the request is complete. Does not destroy it.
void wait(Request& request);
// One round of progress; true when the request is complete.
bool test(Request& request);
// Gives a complete request back (the immortal one too).
void destroy(Request* request);

// Blocking forms. A receive reports the outcome in *status when it is not null.
Status send(Comm& comm, const void* buffer, MPI_Count count, Datatype& type, int dest, int tag, Mode mode,
            Channel channel);
Status recv(Comm& comm, void* buffer, MPI_Count count, Datatype& type, int source, int tag, Channel channel,
            MPI_Status* status);

// Work that goes on whenever some thread makes progress: a nonblocking collective (vci/task.hpp).
using vci::Task;
void add_task(Comm& comm, Task& task);

}  // namespace heddle::p2p
