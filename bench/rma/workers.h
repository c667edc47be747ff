// What the programs of this folder with many threads share: who works, where its partner is, and how many windows there are.
//
//   own          a window for each thread
//   one          one window for all
//   hints        the same, with accumulate_ordering=none and mpi_accumulate_granularity=4096
//   everywhere   no threads: a process for each, and one window
//
// Two processes of T threads, or 2 T processes: worker t of one half has the worker t of the other half as its partner.
#ifndef HEDDLE_BENCH_WORKERS_H
#define HEDDLE_BENCH_WORKERS_H

#include "../threads/threads.h"
#include "rma.h"

typedef struct {
  Memory windows[kMaxThreads];
  int count, threads;  // windows, and threads of this process
  MPI_Aint each;       // bytes of a worker
} Workers;

static inline void workers_init(int* argc, char*** argv, const char* program, const char* kind) {
  world_init(argc, argv, kind);
  rank = world.rank, ranks = world.size;
  if (ranks < 2 || ranks % 2 != 0 || (ranks != 2 && !world.everywhere)) fail("%s: %d ranks do not do", program, ranks);
}

static inline MPI_Info hints_of(const char* kind) {
  MPI_Info info;
  MPI_Info_create(&info);
  if (is(kind, "hints")) {
    MPI_Info_set(info, "accumulate_ordering", "none");
    MPI_Info_set(info, "mpi_accumulate_granularity", "4096");
  }
  return info;
}

// Collective: `each` bytes, all zero, for each of `threads` workers of a half, in memory of that kind.
static inline void workers_make(Workers* w, const char* kind, const char* memory, int threads, MPI_Aint each) {
  if (threads < 1 || threads > kMaxThreads) fail("rma: 1 to %d threads, not %d", kMaxThreads, threads);
  if (world.everywhere && ranks != 2 * threads) fail("rma: %d processes, not %d", 2 * threads, ranks);
  w->threads = world.everywhere ? 1 : threads;
  w->count = is(kind, "own") ? threads : 1;
  w->each = each;
  MPI_Info info = hints_of(kind);
  for (int i = 0; i < w->count; i++) w->windows[i] = memory_make_with(memory, each * w->threads / w->count, info);
  MPI_Info_free(&info);
}

static inline void workers_free(Workers* w) {
  for (int i = 0; i < w->count; i++) memory_free(&w->windows[i]);
}

static inline int half_of(int r) { return r < ranks / 2 ? 0 : 1; }
static inline int partner(void) { return half_of(rank) == 0 ? rank + ranks / 2 : rank - ranks / 2; }

// Of worker t: its window, and where its bytes begin in that of each process.
static inline Memory* window_of(Workers* w, int t) { return &w->windows[w->count == 1 ? 0 : t]; }
static inline MPI_Aint place_of(const Workers* w, int t) { return w->count == 1 ? w->each * t : 0; }
static inline char* bytes_of(Workers* w, int t) { return window_of(w, t)->base + place_of(w, t); }

static inline void lock_all(Workers* w) {
  for (int i = 0; i < w->count; i++) MPI_Win_lock_all(0, w->windows[i].win);
}
static inline void unlock_all(Workers* w) {
  for (int i = 0; i < w->count; i++) MPI_Win_unlock_all(w->windows[i].win);
}

#endif
