// A target that computes for 0.4 s and calls nothing of MPI, while another rank locks it, puts, fetches and adds: the median
// of the steps that fit into the time, in µs. Where a library needs the target, that is one step, which takes the whole time.
//   asleep <kind>...     kinds of windows: create, allocate, shared, dynamic
//     asleep-lock-<kind>       MPI_Win_lock, exclusive, MPI_Put of 8 bytes, flush, unlock
//     asleep-nocheck-<kind>    the same with MPI_MODE_NOCHECK
//     asleep-lockall-<kind>    MPI_Win_lock_all and unlock_all, empty
//     asleep-put-<kind>        MPI_Put of 8 bytes and its flush, in an epoch that was opened before the sleep
//     asleep-fetch-<kind>      MPI_Fetch_and_op and its flush, in the same
// Each has a sleep of its own, and what it left at the target is verified.
#include "rma.h"

enum { kMost = 1000 };
static const double kAsleep = 0.4, kActing = 0.3;

typedef struct {
  MPI_Win win;
  MPI_Aint start;
  int64_t one, was;
  int64_t fetched, word;  // what the target must have in the end
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
  MPI_Put(&c->word, 8, MPI_BYTE, 0, MPI_Aint_add(c->start, 8), 8, MPI_BYTE, c->win);
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
  c->word++;
  MPI_Put(&c->word, 8, MPI_BYTE, 0, MPI_Aint_add(c->start, 8), 8, MPI_BYTE, c->win);
  MPI_Win_flush(0, c->win);
}

static void fetch(void* context) {
  Context* c = context;
  MPI_Fetch_and_op(&c->one, &c->was, MPI_INT64_T, 0, c->start, MPI_SUM, c->win);
  MPI_Win_flush(0, c->win);
  c->fetched++;
}

static const struct {
  const char* name;
  Step* step;
  int opened;
} kSteps[] = {
    {"lock", locked, 0}, {"nocheck", nocheck, 0}, {"lockall", lockall, 0}, {"put", put, 1}, {"fetch", fetch, 1}};

// The first steps come before the sleep: connections are made, pages are there.
static double median_step(Step* step, Context* context, int opened) {
  static double us[kMost];
  int n = 0;
  if (rank == 1) {
    if (opened) MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, context->win);
    for (int i = 0; i < 3; i++) step(context);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) compute(kAsleep);
  if (rank == 1) {
    compute(0.02);  // by then the target has left the barrier
    for (double begun = bench_now(), now = begun, after; n < kMost && now - begun < kActing; now = after) {
      step(context);
      after = bench_now();
      us[n++] = (after - now) * 1e6;
    }
    if (opened) MPI_Win_unlock(0, context->win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  return rank == 1 ? bench_median(us, n) : 0;
}

static void on(const char* kind) {
  char metric[64];
  snprintf(metric, sizeof metric, "asleep-lock-%s", kind);
  if (rank == 1) bench_begin(metric, 2, "us");
  Memory memory = memory_make(kind, 64);
  Context context = {memory.win, memory.start, 1, 0, 0, 0};
  for (size_t s = 0; s < sizeof kSteps / sizeof *kSteps; s++) {
    snprintf(metric, sizeof metric, "asleep-%s-%s", kSteps[s].name, kind);
    double us = median_step(kSteps[s].step, &context, kSteps[s].opened);
    if (rank == 1) bench_result(metric, 2, us, "us");
  }
  MPI_Bcast(&context.fetched, 1, MPI_INT64_T, 1, MPI_COMM_WORLD);
  MPI_Bcast(&context.word, 1, MPI_INT64_T, 1, MPI_COMM_WORLD);
  if (rank == 0) {
    const int64_t* words = (const int64_t*)memory.base;
    if (words[0] != context.fetched || words[1] != context.word)
      fail("asleep: found %ld and %ld, expected %ld and %ld", (long)words[0], (long)words[1], (long)context.fetched,
           (long)context.word);
  }
  memory_free(&memory);
}

int main(int argc, char** argv) {
  rma_init(&argc, &argv, "asleep", 2);
  for (int i = 1; i < argc; i++) on(argv[i]);
  MPI_Finalize();
  return 0;
}
