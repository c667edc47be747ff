// The parts of the tracing library (trace.c) that its wrappers of MPI's procedures share.
#ifndef HEDDLE_BENCH_PATTERNS_TRACE_H
#define HEDDLE_BENCH_PATTERNS_TRACE_H

#include <mpi.h>

// Around every procedure that is recorded: the time from trace_left to the next trace_entered is computation.
void trace_entered(void);
void trace_left(void);

// Lines of the trace; nothing happens while tracing is off. A `request` of null stands for a call that waits itself.
void trace_post(MPI_Request* request, int source, int tag, MPI_Comm comm, int count, MPI_Datatype type);
void trace_send(char how, MPI_Request* request, int dest, int tag, MPI_Comm comm, int count, MPI_Datatype type);
void trace_collective(const char* kind, MPI_Comm comm);
void trace_probe(int source, int tag, MPI_Comm comm);  // that found a message
void trace_unknown(const char* procedure);

// Requests that a completion may end are noted before the call, by an identity; those that ended are written after it.
// trace_wait may overwrite the identities.
enum { kNoRequest = -1 };
int trace_note(MPI_Request request);
void trace_wait(int* ids, int count);
void trace_forget(int id);
void trace_cancel(int id);
void trace_noted_no_more(void);

// Between the parts themselves.
int trace_is_open(void);  // this run is recorded, now or later

struct Group {  // of a communicator: what its number is, and its ranks in MPI_COMM_WORLD
  int number, size, world[];
};
void trace_groups_open(void);
struct Group* trace_group_of(MPI_Comm comm);  // null: made in a way that nobody saw
void trace_group(const struct Group* group);

// `number` is the request's in the trace, or kNoRequest of one that is not recorded. An `id` is as of trace_note.
void trace_request_started(MPI_Request handle, int number);
int trace_request_number(int id);
int trace_request_ended(int id);

#endif
