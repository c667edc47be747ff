// A target that computes for a while and does not enter MPI: the epochs of others on it, by lock, put, fetch_and_op and unlock,
// end, and nothing of them is lost. How long the longest took is printed and not judged: a library may need the target.
#include "rma.h"

enum { kTurns = 25, kInts = 64 };
static const double kBusy = 0.4;  // seconds

static volatile double sink;

static void compute(double seconds) {
  double x = 1, end = MPI_Wtime() + seconds;
  while (MPI_Wtime() < end)
    for (int i = 0; i < 10000; i++) x = x * 0.999 + 1e-3;
  sink = x;
}

static double longest;

static void note_time(double since) {
  double now = MPI_Wtime();
  if (now - since > longest) longest = now - since;
}

// Each with a word of the target for its data, and one for all.
static void access_target(Window* w, int turn) {
  int64_t data[kInts], back[kInts], one = 1, was = -1;
  double since = MPI_Wtime();
  MPI_Aint mine = 8 * (8 + kInts * (world_rank - 1));
  for (int i = 0; i < kInts; i++) data[i] = 1000 * turn + 100000 * world_rank + i, back[i] = -1;
  MPI_Win_lock(turn % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w->win);
  MPI_Put(data, kInts, MPI_INT64_T, 0, at(w, 0, mine), kInts, MPI_INT64_T, w->win);
  MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 0, at(w, 0, 0), MPI_SUM, w->win);
  MPI_Win_flush(0, w->win);
  MPI_Get(back, kInts, MPI_INT64_T, 0, at(w, 0, mine), kInts, MPI_INT64_T, w->win);
  MPI_Win_unlock(0, w->win);
  note_time(since);
  CHECK(was >= turn && was < kTurns * (world_size - 1), "turn %d fetched %lld", turn, (long long)was);
  for (int i = 0; i < kInts; i++) CHECK_EQ(back[i], 1000 * turn + 100000 * world_rank + i);
  since = MPI_Wtime();
  MPI_Win_lock_all(0, w->win);
  MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at(w, 0, 8), 1, MPI_INT64_T, MPI_SUM, w->win);
  MPI_Win_unlock_all(w->win);
  note_time(since);
}

static void test(int flavor) {
  Window w;
  double slowest = 0;
  window_open(&w, flavor, 8 * (8 + kInts * (world_size > 1 ? world_size - 1 : 1)), 8);
  longest = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) compute(kBusy);
  if (world_rank > 0)
    for (int turn = 0; turn < kTurns; turn++) access_target(&w, turn);
  MPI_Reduce(&longest, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (world_rank == 0) {
    const int64_t* held = (const int64_t*)w.base;
    printf("rma_passive: %s: the longest epoch took %.3f ms\n", flavor_name(flavor), 1e3 * slowest);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
    CHECK_EQ(held[0], kTurns * (world_size - 1));
    CHECK_EQ(held[1], kTurns * (world_size - 1));
    for (int r = 1; r < world_size; r++)
      for (int i = 0; i < kInts; i++) CHECK_EQ(held[8 + kInts * (r - 1) + i], 1000 * (kTurns - 1) + 100000 * r + i);
    MPI_Win_unlock(0, w.win);
  }
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  each_flavor(argc, argv, test);
  return finish();
}
