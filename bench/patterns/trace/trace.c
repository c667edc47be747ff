// A recorder of the order of messages: a profiling library (MPI 5.0, 15.2) that writes one trace for each rank.
//
//   TRACE_FOLDER=<folder> LD_PRELOAD=libtrace.so  for every rank; written are <folder>/<rank>.trace, see docs/traces.md
//
// Problem: search depths follow from the order of posting and of arrival. The first is the program's own and is recorded; the
//          second is what the simulator computes.
// Method:  each procedure passes on to PMPI_ and writes a line. A blocking call is written as its parts: a start and a
//          wait. What completed is written in the order in which the program learned of it. Peers are written as ranks of
//          MPI_COMM_WORLD. MPI_Pcontrol(0) and MPI_Pcontrol(1) turn the recording off and on.
//          Here are the file, its lines and the clock; requests.c and communicators.c know what is under way; messages.c,
//          queues.c and collectives.c wrap MPI's procedures.
// Time:    the computation between two calls is the processor time of the thread, so that ranks may share a core.
// Limits:  one thread; not recorded, but told by a line here and in the trace: matched probes, persistent requests,
//          Sendrecv_replace, waits for nonblocking collectives, communicators made otherwise than by Dup, Split, Create
//          or Cart. Partitioned and one-sided communication pass unseen.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct {
  FILE* file;
  int on, rank, next_request;
  double left;     // when the program left MPI, s
  double gap;      // computation that no line has told of yet
  double own;      // what the clock makes of no computation at all
  char told[512];  // procedures that trace_unknown has named
} trace;

int trace_is_open(void) { return trace.file != NULL; }

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void trace_entered(void) {
  if (!trace.on) return;
  double gap = now() - trace.left - trace.own;
  if (gap > 0) trace.gap += gap;
}
void trace_left(void) {
  if (trace.on) trace.left = now();
}

static long take_gap(void) {
  long nanoseconds = (long)(1e9 * trace.gap);
  trace.gap = 0;
  return nanoseconds;
}

void trace_unknown(const char* procedure) {
  if (!trace.on || strstr(trace.told, procedure)) return;
  if (strlen(trace.told) + strlen(procedure) < sizeof trace.told) strcat(trace.told, procedure);
  fprintf(stderr, "trace: %s is not recorded, the trace of rank %d is not complete\n", procedure, trace.rank);
  fprintf(trace.file, "X %s\n", procedure);
}

// A line's middle: the peer as a rank of MPI_COMM_WORLD, the tag, the communicator's number.
static void write_envelope(int peer, int tag, const struct Group* group) {
  peer == MPI_ANY_SOURCE ? fprintf(trace.file, " *") : fprintf(trace.file, " %d", group->world[peer]);
  tag == MPI_ANY_TAG ? fprintf(trace.file, " *") : fprintf(trace.file, " %d", tag);
  fprintf(trace.file, " %d", group->number);
}

static void write_start(char what, int number, int peer, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  struct Group* group = trace_group_of(comm);
  int bytes;
  if (!group) return trace_unknown("a communicator made in another way");
  PMPI_Type_size(type, &bytes);
  fprintf(trace.file, "%c %ld %d", what, take_gap(), number);
  write_envelope(peer, tag, group);
  fprintf(trace.file, " %ld\n", (long)count * bytes);
}

static void write_wait(const int* numbers, int count) {
  fprintf(trace.file, "W %ld", take_gap());
  for (int i = 0; i < count; i++) fprintf(trace.file, " %d", numbers[i]);
  fprintf(trace.file, "\n");
}

static void start(char what, MPI_Request* request, int peer, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  int recorded = trace.on && peer != MPI_PROC_NULL, number = recorded ? trace.next_request++ : kNoRequest;
  if (recorded) write_start(what, number, peer, tag, comm, count, type);
  if (trace.file && request) trace_request_started(*request, number);
  if (recorded && !request) write_wait(&number, 1);
}

void trace_post(MPI_Request* request, int source, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  start('R', request, source, tag, comm, count, type);
}
void trace_send(char how, MPI_Request* request, int dest, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  start(how, request, dest, tag, comm, count, type);
}

void trace_wait(int* ids, int count) {
  int ended = 0;
  for (int i = 0; i < count; i++) {
    int number = trace_request_ended(ids[i]);
    if (number != kNoRequest) ids[ended++] = number;
  }
  if (ended > 0 && trace.on) write_wait(ids, ended);
}

void trace_forget(int id) { trace_request_ended(id); }

void trace_cancel(int id) {
  int number = trace_request_number(id);
  if (number != kNoRequest && trace.on) fprintf(trace.file, "K %ld %d\n", take_gap(), number);
}

void trace_probe(int source, int tag, MPI_Comm comm) {
  if (!trace.on || source == MPI_PROC_NULL) return;
  struct Group* group = trace_group_of(comm);
  if (!group) return trace_unknown("a communicator made in another way");
  fprintf(trace.file, "P %ld", take_gap());
  write_envelope(source, tag, group);
  fprintf(trace.file, "\n");
}

void trace_group(const struct Group* group) {
  fprintf(trace.file, "G %d", group->number);
  for (int i = 0; i < group->size; i++) fprintf(trace.file, " %d", group->world[i]);
  fprintf(trace.file, "\n");
}

void trace_collective(const char* kind, MPI_Comm comm) {
  if (!trace.on) return;
  struct Group* group = trace_group_of(comm);
  if (!group) return trace_unknown("a communicator made in another way");
  fprintf(trace.file, "C %ld %s %d\n", take_gap(), kind, group->number);
}

static void open_trace(int level) {
  const char* folder = getenv("TRACE_FOLDER");
  char path[4096];
  int size;
  if (!folder) return;
  PMPI_Comm_rank(MPI_COMM_WORLD, &trace.rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(path, sizeof path, "%s/%d.trace", folder, trace.rank);
  if (level == MPI_THREAD_MULTIPLE) {
    if (trace.rank == 0) fprintf(stderr, "trace: a program of several threads (MPI_THREAD_MULTIPLE) is not recorded\n");
    return;
  }
  trace.file = fopen(path, "w");
  if (!trace.file) {
    fprintf(stderr, "trace: cannot write %s\n", path);
    PMPI_Abort(MPI_COMM_WORLD, 1);
  }
  fprintf(trace.file, "heddle-trace 1 %d %d\n", trace.rank, size);
  trace_groups_open();
  trace.on = 1;
  enum { kTries = 1000 };
  for (int i = 0; i < kTries; i++) {
    trace_left();
    trace_entered();
  }
  trace.own = trace.gap / kTries;
  trace.gap = 0;
  trace_left();
}

int MPI_Init(int* argc, char*** argv) {
  int code = PMPI_Init(argc, argv);
  if (code == MPI_SUCCESS) open_trace(MPI_THREAD_SINGLE);
  return code;
}
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  int code = PMPI_Init_thread(argc, argv, required, provided);
  if (code == MPI_SUCCESS) open_trace(*provided);
  return code;
}

int MPI_Finalize(void) {
  trace.on = 0;
  if (trace.file && fclose(trace.file) != 0) perror("trace: the trace could not be written to its end");
  trace.file = NULL;
  return PMPI_Finalize();
}

int MPI_Pcontrol(const int level, ...) {
  trace.on = trace.file != NULL && level != 0;
  trace.gap = 0;
  trace_left();
  return MPI_SUCCESS;
}
