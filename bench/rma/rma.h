// What the programs of this folder share: a window, who takes part, and a measurement of batches.
#ifndef HEDDLE_BENCH_RMA_H
#define HEDDLE_BENCH_RMA_H

#include "../common/bench.h"
#include "../common/fail.h"

#include <mpi.h>
#include <stdint.h>

enum { kBatches = 7 };

static int rank, ranks;

static inline void rma_init(int* argc, char*** argv, const char* program, int least) {
  bench_pin();
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks < least) fail("%s: needs %d ranks, has %d", program, least, ranks);
}

typedef struct {
  MPI_Win win;
  char* base;
  MPI_Aint start;  // the displacement of rank 0's memory
  const char* kind;
} Memory;

static inline int is(const char* a, const char* b) { return strcmp(a, b) == 0; }

// Collective: a window of that kind, with as many bytes at each rank, all zero, in units of a byte.
static inline Memory memory_make_with(const char* kind, MPI_Aint bytes, MPI_Info info) {
  Memory m = {MPI_WIN_NULL, NULL, 0, kind};
  int made = is(kind, "create") || is(kind, "dynamic");
  if (made) m.base = aligned_alloc(4096, (size_t)(bytes + 4095) / 4096 * 4096);
  if (is(kind, "create")) {
    MPI_Win_create(m.base, bytes, 1, info, MPI_COMM_WORLD, &m.win);
  } else if (is(kind, "allocate")) {
    MPI_Win_allocate(bytes, 1, info, MPI_COMM_WORLD, &m.base, &m.win);
  } else if (is(kind, "shared")) {
    MPI_Win_allocate_shared(bytes, 1, info, MPI_COMM_WORLD, &m.base, &m.win);
  } else if (is(kind, "dynamic")) {
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &m.win);
    MPI_Win_attach(m.win, m.base, bytes);
    MPI_Get_address(m.base, &m.start);
  } else {
    fail("rma: no window of kind %s", kind);
  }
  memset(m.base, 0, (size_t)bytes);
  MPI_Bcast(&m.start, 1, MPI_AINT, 0, MPI_COMM_WORLD);
  return m;
}

static inline Memory memory_make(const char* kind, MPI_Aint bytes) {
  return memory_make_with(kind, bytes, MPI_INFO_NULL);
}

// Collective.
static inline void memory_free(Memory* m) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (is(m->kind, "dynamic")) MPI_Win_detach(m->win, m->base);
  MPI_Win_free(&m->win);
  if (is(m->kind, "create") || is(m->kind, "dynamic")) free(m->base);
}

typedef void Step(void* context);

typedef struct {
  const char* name;
  Step* step;
  int in_lock_all;
} Point;

static inline const Point* point_of(const Point* points, size_t count, const char* name) {
  for (size_t p = 0; p < count; p++)
    if (is(points[p].name, name)) return &points[p];
  fail("no point %s", name);
  return NULL;
}

static inline double batch(Step* step, void* context, int rounds) {  // µs of one
  double start = bench_now();
  for (int i = 0; i < rounds; i++) step(context);
  return (bench_now() - start) / rounds * 1e6;
}

// µs of one step by one rank alone: median of the batches that fill `seconds`.
static inline double measure(Step* step, void* context, double seconds) {
  double us[kBatches];
  batch(step, context, 10);
  double once = batch(step, context, 10);
  int rounds = (int)(seconds * 1e6 / kBatches / (once > 0.001 ? once : 0.001));
  if (rounds < 5) rounds = 5;
  if (rounds > 1000000) rounds = 1000000;
  for (int b = 0; b < kBatches; b++) us[b] = batch(step, context, rounds);
  return bench_median(us, kBatches);
}

// Collective: the same when all ranks step at once; the slowest rank's, at rank 0.
static inline double measure_all(Step* step, void* context, double seconds) {
  double us[kBatches];
  batch(step, context, 3);
  MPI_Barrier(MPI_COMM_WORLD);
  double once = batch(step, context, 5), mine, slowest = 0;
  MPI_Allreduce(&once, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  int rounds = (int)(seconds * 1e6 / kBatches / (slowest > 0.01 ? slowest : 0.01));
  if (rounds < 3) rounds = 3;
  if (rounds > 200000) rounds = 200000;
  for (int b = 0; b < kBatches; b++) {
    MPI_Barrier(MPI_COMM_WORLD);
    mine = batch(step, context, rounds);
    MPI_Allreduce(&mine, &us[b], 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  }
  return bench_median(us, kBatches);
}

#endif
