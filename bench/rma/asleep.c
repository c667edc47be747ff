// A target that computes for 0.4 s and calls nothing of MPI, while another rank locks it, puts, fetches and adds: the longest
// time of each step, in µs. Where a library needs the target, a step takes what is left of the 0.4 s.
//   asleep <kind>        kind of window: create, allocate, shared, dynamic
//     asleep-lock-<kind>       MPI_Win_lock, exclusive, until a put of 8 bytes in it is flushed
//     asleep-nocheck-<kind>    the same with MPI_MODE_NOCHECK
//     asleep-lockall-<kind>    MPI_Win_lock_all and unlock_all, empty
//     asleep-put-<kind>        MPI_Put of 4 KiB and its flush, in an epoch that was opened before the sleep
//     asleep-fetch-<kind>      MPI_Fetch_and_op and its flush, in the same
// A library whose step lasts until the target wakes has no further ones to do then: each step gets a sleep of its own.
#include "rma.h"

enum { kTurns = 20, kBytes = 4096 };
static const double kAsleep = 0.4;

typedef struct {
  MPI_Win win;
  MPI_Aint start;
  char* mine;
  int64_t one, was, word;
} Context;

static volatile double sink;

static void compute(double seconds) {
  double x = 1, end = bench_now() + seconds;
  while (bench_now() < end)
    for (int i = 0; i < 10000; i++) x = x * 0.999 + 1e-3;
  sink = x;
}

static void lock_put(Context* c, int assertion) {
  c->word++;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, assertion, c->win);
  MPI_Put(&c->word, 8, MPI_BYTE, 0, MPI_Aint_add(c->start, kBytes + 8), 8, MPI_BYTE, c->win);
  MPI_Win_flush(0, c->win);
  MPI_Win_unlock(0, c->win);
}

static void locked(void* context) { lock_put(context, 0); }
static void nocheck(void* context) { lock_put(context, MPI_MODE_NOCHECK); }

static void lockall(void* context) {
  MPI_Win_lock_all(0, ((Context*)context)->win);
  MPI_Win_unlock_all(((Context*)context)->win);
}

static void put(void* context) {
  Context* c = context;
  MPI_Put(c->mine, kBytes, MPI_BYTE, 0, c->start, kBytes, MPI_BYTE, c->win);
  MPI_Win_flush(0, c->win);
}

static void fetch(void* context) {
  Context* c = context;
  MPI_Fetch_and_op(&c->one, &c->was, MPI_INT64_T, 0, MPI_Aint_add(c->start, kBytes), MPI_SUM, c->win);
  MPI_Win_flush(0, c->win);
}

static const struct {
  const char* name;
  Step* step;
  int opened;
} kSteps[] = {
    {"lock", locked, 0}, {"nocheck", nocheck, 0}, {"lockall", lockall, 0}, {"put", put, 1}, {"fetch", fetch, 1}};

// The first steps come before the sleep: connections are made, pages are there.
static double longest(Step* step, Context* context, int opened) {
  double us = 0;
  if (rank == 1) {
    if (opened) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, context->win);
    for (int i = 0; i < 3; i++) step(context);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) compute(kAsleep);
  if (rank == 1) {
    compute(0.02);  // by then the target has left the barrier
    for (int i = 0; i < kTurns; i++) {
      double start = bench_now();
      step(context);
      double took = (bench_now() - start) * 1e6;
      if (took > us) us = took;
    }
    if (opened) MPI_Win_unlock(0, context->win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return us;
}

int main(int argc, char** argv) {
  rma_init(&argc, &argv, "asleep", 2);
  if (argc != 2) fail("asleep: needs a kind of window");
  Memory memory = memory_make(argv[1], 2 * kBytes);
  char mine[kBytes];
  memset(mine, 7, sizeof mine);
  Context context = {memory.win, memory.start, mine, 1, 0, 0};
  for (size_t s = 0; s < sizeof kSteps / sizeof *kSteps; s++) {
    char metric[64];
    snprintf(metric, sizeof metric, "asleep-%s-%s", kSteps[s].name, argv[1]);
    double us = longest(kSteps[s].step, &context, kSteps[s].opened);
    if (rank == 1) bench_result(metric, 2, us, "us");
  }
  if (rank == 0) {
    const int64_t* words = (const int64_t*)(memory.base + kBytes);
    if (words[0] != kTurns + 3 || words[1] != 2 * (kTurns + 3))
      fail("asleep: %ld were added, %ld put", (long)words[0], (long)words[1]);
  }
  memory_free(&memory);
  MPI_Finalize();
  return 0;
}
