// How deep the library searches its two queues, by the MPI_T performance variables of Heddle (docs/tools.md).
//
// Method:  each variable is read before and after the part that counts; the difference is the part's. A library that has no
//          such variable is no error: `missing` names it, and all numbers are 0.
// Threads: one at a time.
#ifndef HEDDLE_BENCH_DEPTH_H
#define HEDDLE_BENCH_DEPTH_H

#include "bench.h"

#include <mpi.h>

enum { kPosted, kUnexpected, kQueues };
enum {
  kOfComm,
  kOfProcess,
  kScopes
};  // searches for messages of one communicator; for all messages, the library's own too

struct Searches {
  unsigned long count, inspected;  // inspected: entries compared in them
};
struct Depth {
  struct Searches queues[kQueues];
};

struct DepthReader {
  MPI_T_pvar_session session;
  MPI_Comm comm;
  MPI_T_pvar_handle handles[kScopes][kQueues][2];
  int elements[kScopes][kQueues][2];  // of the variable: one for each VCI
  const char* missing[kScopes];       // NULL: the scope can be read
};

enum { kMostElements = 256 };
static const char* const kDepthVariables[kScopes][kQueues][2] = {
    {{"comm_posted_searches", "comm_posted_inspected"}, {"comm_unexpected_searches", "comm_unexpected_inspected"}},
    {{"posted_searches", "posted_inspected"}, {"unexpected_searches", "unexpected_inspected"}}};
static const char* const kDepthQueues[kQueues] = {"posted", "unexpected"};
static const char* const kDepthScopes[kScopes] = {"communicator", "process"};

static inline int depth_variable_open(struct DepthReader* reader, int scope, int queue, int what) {
  int index, *elements = &reader->elements[scope][queue][what];
  MPI_T_pvar_handle* handle = &reader->handles[scope][queue][what];
  void* object = scope == kOfComm ? &reader->comm : NULL;
  if (MPI_T_pvar_get_index(kDepthVariables[scope][queue][what], MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS)
    return 0;
  if (MPI_T_pvar_handle_alloc(reader->session, index, object, handle, elements) != MPI_SUCCESS) return 0;
  MPI_T_pvar_start(reader->session, *handle);  // an error where it always runs
  return *elements <= kMostElements;
}

// REQUIRES: after MPI_Init.
static inline void depth_open(struct DepthReader* reader, MPI_Comm comm) {
  int provided;
  memset(reader, 0, sizeof *reader);
  reader->comm = comm;
  MPI_T_init_thread(MPI_THREAD_FUNNELED, &provided);
  MPI_T_pvar_session_create(&reader->session);
  for (int scope = 0; scope < kScopes; scope++)
    for (int i = 0; i < 2 * kQueues && !reader->missing[scope]; i++)
      if (!depth_variable_open(reader, scope, i / 2, i % 2))
        reader->missing[scope] = kDepthVariables[scope][i / 2][i % 2];
}

// One line that names the variable for want of which there is no depth.
static inline void depth_tell_missing(const struct DepthReader* reader, int scope, const char* program) {
  if (reader->missing[scope])
    fprintf(stderr, "%s: no depth of the %s: this MPI library has no performance variable %s\n", program,
            kDepthScopes[scope], reader->missing[scope]);
}

static inline unsigned long depth_variable(const struct DepthReader* reader, int scope, int queue, int what) {
  unsigned long values[kMostElements] = {0}, sum = 0;
  if (MPI_T_pvar_read(reader->session, reader->handles[scope][queue][what], values) != MPI_SUCCESS) {
    fprintf(stderr, "depth: the performance variable %s cannot be read\n", kDepthVariables[scope][queue][what]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int i = 0; i < reader->elements[scope][queue][what]; i++) sum += values[i];
  return sum;
}

static inline struct Depth depth_read(const struct DepthReader* reader, int scope) {
  struct Depth depth = {0};
  for (int queue = 0; queue < kQueues && !reader->missing[scope]; queue++)
    depth.queues[queue] =
        (struct Searches){depth_variable(reader, scope, queue, 0), depth_variable(reader, scope, queue, 1)};
  return depth;
}

static inline struct Depth depth_since(const struct DepthReader* reader, int scope, const struct Depth* before) {
  struct Depth depth = depth_read(reader, scope);
  for (int queue = 0; queue < kQueues; queue++) {
    depth.queues[queue].count -= before->queues[queue].count;
    depth.queues[queue].inspected -= before->queues[queue].inspected;
  }
  return depth;
}

static inline void depth_add(struct Depth* sum, const struct Depth* more) {
  for (int queue = 0; queue < kQueues; queue++) {
    sum->queues[queue].count += more->queues[queue].count;
    sum->queues[queue].inspected += more->queues[queue].inspected;
  }
}

// Before the communicator is freed; the session takes the handles with it.
static inline void depth_close(struct DepthReader* reader) {
  MPI_T_pvar_session_free(&reader->session);
  MPI_T_finalize();
}

#endif
