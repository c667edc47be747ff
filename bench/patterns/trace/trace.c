// A recorder of the order of messages: a profiling library (MPI 5.0, 15.2) that writes one trace for each rank.
//
//   TRACE_FOLDER=<folder> LD_PRELOAD=libtrace.so  for every rank; written are <folder>/<rank>.trace, see docs/traces.md
//
// Problem: search depths follow from the order of posting and of arrival. The first is the program's own and is recorded; the
//          second is what the simulator computes.
// Method:  each procedure passes on to PMPI_ and writes a line. A blocking call is written as its parts: a start and a
//          wait. What completed is written in the order in which the program learned of it. Peers are written as ranks of
//          MPI_COMM_WORLD. A communicator gets a number that all its ranks agree on when it is made (one reduction over it); two
//          with the same number have no rank in common.
//          MPI_Pcontrol(0) and MPI_Pcontrol(1) turn the recording off and on.
// Time:    the computation between two calls is the processor time of the thread, so that ranks may share a core.
// Limits:  one thread; not recorded, but told by a line here and in the trace: probes, persistent requests, Cancel,
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

struct Group {  // of a communicator
  int number, size, world[];
};

static struct {
  FILE* file;
  int on, rank, keyval, next_group, next_request, next_id;
  double left;      // when the program left MPI, s
  double gap;       // computation that no line has told of yet
  double own;       // what the clock makes of no computation at all
  struct Pending {  // requests not yet completed; few, so that a search from the newest is short
    MPI_Request handle;
    int id, number, noted;  // the number in the trace, or kNoRequest
  } * pending;
  int count, room;
  char told[512];  // procedures that trace_unknown has named
} trace;

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

static struct Group* group_of(MPI_Comm comm) {
  struct Group* group = NULL;
  int found = 0;
  PMPI_Comm_get_attr(comm, trace.keyval, &group, &found);
  return found ? group : NULL;
}

static void write_line(char what, int number, int peer, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  struct Group* group = group_of(comm);
  int bytes;
  if (!group) return trace_unknown("a communicator made in another way");
  PMPI_Type_size(type, &bytes);
  fprintf(trace.file, "%c %ld %d ", what, take_gap(), number);
  peer == MPI_ANY_SOURCE ? fprintf(trace.file, "* ") : fprintf(trace.file, "%d ", group->world[peer]);
  tag == MPI_ANY_TAG ? fprintf(trace.file, "* ") : fprintf(trace.file, "%d ", tag);
  fprintf(trace.file, "%d %ld\n", group->number, (long)count * bytes);
}

static void write_wait(const int* numbers, int count) {
  fprintf(trace.file, "W %ld", take_gap());
  for (int i = 0; i < count; i++) fprintf(trace.file, " %d", numbers[i]);
  fprintf(trace.file, "\n");
}

// Also what is not recorded is remembered, so that its completion is no surprise.
static void remember(MPI_Request handle, int number) {
  if (trace.count == trace.room) {
    trace.room = 2 * trace.room + 64;
    trace.pending = realloc(trace.pending, (size_t)trace.room * sizeof *trace.pending);
    if (!trace.pending) abort();
  }
  trace.pending[trace.count++] = (struct Pending){handle, trace.next_id++, number, 0};
}

static void start(char what, MPI_Request* request, int peer, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  int recorded = trace.on && peer != MPI_PROC_NULL, number = recorded ? trace.next_request++ : kNoRequest;
  if (recorded) write_line(what, number, peer, tag, comm, count, type);
  if (trace.file && request) remember(*request, number);
  if (recorded && !request) write_wait(&number, 1);
}

void trace_post(MPI_Request* request, int source, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  start('R', request, source, tag, comm, count, type);
}
void trace_send(char how, MPI_Request* request, int dest, int tag, MPI_Comm comm, int count, MPI_Datatype type) {
  start(how, request, dest, tag, comm, count, type);
}

// A library may give one handle to all sends that are complete at once: each of them is noted once.
int trace_note(MPI_Request request) {
  if (request == MPI_REQUEST_NULL || !trace.file) return kNoRequest;
  for (int i = trace.count - 1; i >= 0; i--) {
    if (trace.pending[i].handle != request || trace.pending[i].noted) continue;
    trace.pending[i].noted = 1;
    return trace.pending[i].id;
  }
  trace_unknown("a request of another kind than a send or a receive");
  return kNoRequest;
}

void trace_noted_no_more(void) {
  for (int i = 0; i < trace.count; i++) trace.pending[i].noted = 0;
}

// Its number in the trace, if it has one.
static int forget(int id) {
  for (int i = trace.count - 1; i >= 0; i--) {
    if (trace.pending[i].id != id) continue;
    int number = trace.pending[i].number;
    memmove(&trace.pending[i], &trace.pending[i + 1], (size_t)(--trace.count - i) * sizeof *trace.pending);
    return number;
  }
  return kNoRequest;
}

void trace_wait(int* ids, int count) {
  int ended = 0;
  for (int i = 0; i < count; i++) {
    int number = forget(ids[i]);
    if (number != kNoRequest) ids[ended++] = number;
  }
  if (ended > 0 && trace.on) write_wait(ids, ended);
}

void trace_forget(int id) { forget(id); }

void trace_collective(const char* kind, MPI_Comm comm) {
  struct Group* group = group_of(comm);
  if (!trace.on) return;
  if (!group) return trace_unknown("a communicator made in another way");
  fprintf(trace.file, "C %ld %s %d\n", take_gap(), kind, group->number);
}

static int free_group(MPI_Comm comm, int keyval, void* group, void* state) {
  (void)comm, (void)keyval, (void)state;
  free(group);
  return MPI_SUCCESS;
}

// A number that no member has seen yet.
static void number_group(MPI_Comm comm) {
  int mine = trace.next_group, number, size;
  MPI_Group of_comm, of_world;
  if (!trace.file || comm == MPI_COMM_NULL) return;
  PMPI_Allreduce(&mine, &number, 1, MPI_INT, MPI_MAX, comm);
  trace.next_group = number + 1;
  PMPI_Comm_size(comm, &size);
  struct Group* group = malloc(sizeof *group + (size_t)size * sizeof(int));
  int* ranks = malloc((size_t)size * sizeof(int));
  if (!group || !ranks) abort();
  for (int i = 0; i < size; i++) ranks[i] = i;
  PMPI_Comm_group(comm, &of_comm);
  PMPI_Comm_group(MPI_COMM_WORLD, &of_world);
  PMPI_Group_translate_ranks(of_comm, size, ranks, of_world, group->world);
  PMPI_Group_free(&of_comm);
  PMPI_Group_free(&of_world);
  free(ranks);
  group->number = number;
  group->size = size;
  PMPI_Comm_set_attr(comm, trace.keyval, group);
  fprintf(trace.file, "G %d", number);
  for (int i = 0; i < size; i++) fprintf(trace.file, " %d", group->world[i]);
  fprintf(trace.file, "\n");
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
  PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_group, &trace.keyval, NULL);
  number_group(MPI_COMM_WORLD);
  number_group(MPI_COMM_SELF);
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

static int made(int code, MPI_Comm* comm) {
  if (code == MPI_SUCCESS) number_group(*comm);
  trace_left();
  return code;
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Comm_dup(comm, newcomm), newcomm);
}
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Comm_dup_with_info(comm, info, newcomm), newcomm);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Comm_split(comm, color, key, newcomm), newcomm);
}
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Comm_create(comm, group, newcomm), newcomm);
}
int MPI_Cart_create(MPI_Comm old, int n, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Cart_create(old, n, dims, periods, reorder, newcomm), newcomm);
}
int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* newcomm) {
  trace_entered();
  return made(PMPI_Cart_sub(comm, remain, newcomm), newcomm);
}
