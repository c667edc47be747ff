// What the programs of this folder share: threads that are pinned alike under every library, and each thread's way to its
// partner, by the means that MPI has for telling a library that threads are independent.
//
//   own          a communicator for each thread
//   one          one communicator, the tag tells the thread
//   hints        the same, and the library is told that there are no wildcards, exact lengths, and no order
//   endpoints    a rank for each thread, by MPIX_Comm_create_endpoints; absent where the library has none
//   everywhere   no threads, a process for each
//
// Threads: everything here is called by the main thread, which is also thread 0 of threads_run.
#ifndef HEDDLE_BENCH_THREADS_H
#define HEDDLE_BENCH_THREADS_H

#include "../common/bench.h"
#include "../common/fail.h"

#include <mpi.h>
#include <pthread.h>

enum { kMaxThreads = 128 };

// Weak: null where a library lacks it, and the program can be built all the same.
#ifdef __cplusplus
extern "C"
#endif
    __attribute__((weak)) int
    MPIX_Comm_create_endpoints(MPI_Comm parent, int my_num_ep, MPI_Info info, MPI_Comm out_comm_hdls[]);

struct Way {
  MPI_Comm comm;
  int first;  // rank in `comm` of the other process, or of its first endpoint
  int step;   // 1 where each thread has a rank, otherwise 0: thread t there has the rank first + step * t
  int tag;
};

struct World {
  int rank, size;
  int everywhere;  // a process for each thread
  cpu_set_t cpus;  // before any pinning
};
static struct World world;

static inline void world_init(int* argc, char*** argv, const char* kind) {
  int provided, wanted = MPI_THREAD_MULTIPLE;
  sched_getaffinity(0, sizeof world.cpus, &world.cpus);
  world.everywhere = strcmp(kind, "everywhere") == 0;
  if (world.everywhere) {
    bench_pin();
    wanted = MPI_THREAD_SINGLE;
  }
  if (strcmp(kind, "funneled") == 0) wanted = MPI_THREAD_FUNNELED;
  MPI_Init_thread(argc, argv, wanted, &provided);
  if (provided < wanted) fail("threads: the library gives thread level %d, not %d", provided, wanted);
  MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world.size);
}

static inline int has_endpoints(void) { return &MPIX_Comm_create_endpoints != NULL; }

static inline MPI_Comm hinted_comm(void) {
  static const char* const hints[] = {"mpi_assert_no_any_source", "mpi_assert_no_any_tag", "mpi_assert_exact_length",
                                      "mpi_assert_allow_overtaking"};
  MPI_Info info;
  MPI_Comm comm;
  MPI_Info_create(&info);
  for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) MPI_Info_set(info, hints[i], "true");
  MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm);
  MPI_Info_free(&info);
  return comm;
}

// Collective. For `everywhere` the partner of rank i is rank i + size/2; otherwise there are two processes.
static inline void ways_make(const char* kind, int threads, struct Way* ways) {
  int half = world.size / 2, other = world.rank < half ? world.rank + half : world.rank - half;
  MPI_Comm comms[kMaxThreads], shared = MPI_COMM_NULL;
  int endpoints = strcmp(kind, "endpoints") == 0;
  if (threads > kMaxThreads) fail("threads: at most %d, not %d", kMaxThreads, threads);
  if (endpoints) MPIX_Comm_create_endpoints(MPI_COMM_WORLD, threads, MPI_INFO_NULL, comms);
  if (strcmp(kind, "one") == 0) MPI_Comm_dup(MPI_COMM_WORLD, &shared);
  if (strcmp(kind, "hints") == 0) shared = hinted_comm();
  if (world.everywhere) shared = MPI_COMM_WORLD;
  for (int t = 0; t < threads; t++) {
    if (!endpoints && shared == MPI_COMM_NULL) MPI_Comm_dup(MPI_COMM_WORLD, &comms[t]);
    ways[t].comm = shared == MPI_COMM_NULL ? comms[t] : shared;
    ways[t].first = endpoints ? other * threads : other;
    ways[t].step = endpoints;
    ways[t].tag = shared == MPI_COMM_NULL ? 0 : t;
  }
}

struct ThreadsCall {
  void (*body)(void* context, int thread);
  void* context;
  int thread, threads;
};

static inline void* threads_enter(void* argument) {
  struct ThreadsCall* call = argument;
  if (!world.everywhere) {
    sched_setaffinity(0, sizeof world.cpus, &world.cpus);
    bench_pin_to(world.rank * call->threads + call->thread, world.size * call->threads);
  }
  call->body(call->context, call->thread);
  return NULL;
}

// Runs body(context, t) for each t at the same time, and returns when all are done.
static inline void threads_run(int threads, void (*body)(void* context, int thread), void* context) {
  pthread_t ids[kMaxThreads];
  struct ThreadsCall calls[kMaxThreads];
  for (int t = threads - 1; t >= 0; t--) {
    calls[t] = (struct ThreadsCall){body, context, t, threads};
    if (t > 0 && pthread_create(&ids[t], NULL, threads_enter, &calls[t]) != 0) fail("threads: no thread %d", t);
  }
  threads_enter(&calls[0]);
  for (int t = 1; t < threads; t++) pthread_join(ids[t], NULL);
}

static inline void free_endpoint(void* ways, int thread) { MPI_Comm_free(&((struct Way*)ways)[thread].comm); }

static inline void ways_free(int threads, struct Way* ways) {
  if (world.everywhere) return;
  if (ways[0].step != 0) {  // collective over all endpoints
    threads_run(threads, free_endpoint, ways);
    return;
  }
  for (int t = threads - 1; t >= 0; t--)
    if (t == 0 || ways[t].comm != ways[0].comm) MPI_Comm_free(&ways[t].comm);
}

static inline double sum_of_all(double mine) {
  double sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return sum;
}

static inline double largest_of_all(double mine) {
  double largest = 0;
  MPI_Allreduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return largest;
}

#endif
