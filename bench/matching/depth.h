// How deep the searches of a communicator's posted receives go, as the library itself counts them.
//
// Method: two performance variables of MPI_T, bound to the communicator: `comm_posted_searches`, one for each message that
//         arrives, and `comm_posted_inspected`, the receives compared in them. Their quotient is the mean search depth.
//         Under a library that has none, depth_open says so in one line, and there is no depth.
// Threads: one at a time.
#ifndef HEDDLE_BENCH_DEPTH_H
#define HEDDLE_BENCH_DEPTH_H

#include "../common/bench.h"

#include <mpi.h>

struct Depth {
  MPI_Comm comm;
  MPI_T_pvar_session session;
  MPI_T_pvar_handle handles[2];
  unsigned long before[2];
  int is_known;
};

struct Searches {
  double count, inspected;
};

static const char* const kDepthVariables[] = {"comm_posted_searches", "comm_posted_inspected"};

static inline int depth_variable_open(struct Depth* depth, int i) {
  int index, count;
  if (MPI_T_pvar_get_index(kDepthVariables[i], MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) return 0;
  if (MPI_T_pvar_handle_alloc(depth->session, index, &depth->comm, &depth->handles[i], &count) != MPI_SUCCESS) return 0;
  if (count != 1) return 0;
  MPI_T_pvar_start(depth->session, depth->handles[i]);  // an error where it always counts
  return 1;
}

static inline void depth_values(struct Depth* depth, unsigned long* values) {
  for (int i = 0; i < 2; i++) {
    if (MPI_T_pvar_read(depth->session, depth->handles[i], &values[i]) == MPI_SUCCESS) continue;
    fprintf(stderr, "depth: `%s` is there, but cannot be read\n", kDepthVariables[i]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

// From here on searches count.
static inline void depth_begin(struct Depth* depth) {
  if (depth->is_known) depth_values(depth, depth->before);
}

static inline void depth_open(struct Depth* depth, MPI_Comm comm) {
  int provided, rank;
  MPI_Comm_rank(comm, &rank);
  depth->comm = comm;
  depth->is_known = 1;
  MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
  MPI_T_pvar_session_create(&depth->session);
  for (int i = 0; i < 2 && depth->is_known; i++) {
    depth->is_known = depth_variable_open(depth, i);
    if (!depth->is_known && rank == 0)
      fprintf(stderr, "depth: variable missing: no MPI_T counter `%s` in this library, so no search depth\n",
              kDepthVariables[i]);
  }
  depth_begin(depth);
}

// Since depth_begin; REQUIRES: is_known.
static inline struct Searches depth_searches(struct Depth* depth) {
  unsigned long now[2];
  depth_values(depth, now);
  return (struct Searches){(double)(now[0] - depth->before[0]), (double)(now[1] - depth->before[1])};
}

// Before the communicator is freed; the session takes the handles with it.
static inline void depth_close(struct Depth* depth) {
  MPI_T_pvar_session_free(&depth->session);
  MPI_T_finalize();
}

#endif
