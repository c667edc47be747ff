// Short accesses that a target may do while it is in MPI, and must not be needed for: many before a flush, to targets that wait in
// MPI, compute, or come and go in the middle; what was called first is done first where the standard has an order; and whoever
// flushes at the same time as its target does not wait for it for ever.
#include "rma.h"

enum { kPuts = 3000, kBytes = 40, kTurns = 1000, kLong = 3000 };

static unsigned char left_by(int i, int byte) { return (unsigned char)(world_rank * 31 + i * 7 + byte * 3 + 1); }

// Until all others have sent a word. `away`: how many ns it stays out of MPI between two looks, at most.
static void serve(int away) {
  unsigned seed = 12345;
  for (int left = world_size - 1; left > 0;) {
    int flag = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    if (flag) {
      MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      left--;
    }
    seed = seed * 1664525u + 1013904223u;
    double end = MPI_Wtime() + (away ? 1e-9 * (seed >> 8) / (1 << 24) * away : 0);
    while (MPI_Wtime() < end) {
    }
  }
}
static void done(void) { MPI_Send(NULL, 0, MPI_BYTE, 0, 5, MPI_COMM_WORLD); }

// More than fits anywhere, of many sizes; what each put has left is fetched again, in the other order.
static void many(Window* w) {
  unsigned char* out = malloc(kPuts * kBytes);
  unsigned char* back = calloc(kPuts, kBytes);
  MPI_Aint mine = (MPI_Aint)(world_rank - 1) * kPuts * kBytes;
  for (int i = 0; i < kPuts; i++)
    for (int b = 0; b < kBytes; b++) out[i * kBytes + b] = left_by(i, b);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
  for (int i = 0; i < kPuts; i++) {
    int n = 1 + i % kBytes;
    MPI_Put(out + i * kBytes, n, MPI_BYTE, 0, at(w, 0, mine + i * kBytes), n, MPI_BYTE, w->win);
  }
  MPI_Win_flush(0, w->win);
  for (int i = kPuts - 1; i >= 0; i--) {
    int n = 1 + i % kBytes;
    MPI_Get(back + i * kBytes, n, MPI_BYTE, 0, at(w, 0, mine + i * kBytes), n, MPI_BYTE, w->win);
  }
  MPI_Win_unlock(0, w->win);
  for (int i = 0; i < kPuts; i++)
    for (int b = 0; b < kBytes; b++) CHECK_EQ(back[i * kBytes + b], b < 1 + i % kBytes ? left_by(i, b) : 0);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
  memset(back, 0, kPuts * kBytes);  // so that the next to come find zeros
  MPI_Put(back, kPuts * kBytes, MPI_BYTE, 0, at(w, 0, mine), kPuts * kBytes, MPI_BYTE, w->win);
  MPI_Win_unlock(0, w->win);
  free(out);
  free(back);
}

// Each turn counts a word that all count, and nobody gets the same number twice.
static void count(Window* w) {
  int64_t one = 1, was = -1, before = -1;
  MPI_Win_lock_all(0, w->win);
  for (int turn = 0; turn < kTurns; turn++) {
    MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 0, at(w, 0, 0), MPI_SUM, w->win);
    if (turn % 3) MPI_Win_flush(0, w->win);
    MPI_Win_flush(0, w->win);
    CHECK(was > before && was < (world_size - 1) * kTurns, "turn %d counted %lld after %lld", turn, (long long)was,
          (long long)before);
    before = was;
  }
  MPI_Win_unlock_all(w->win);
}

static void to_one_that_serves(int flavor) {
  static const int away[] = {0, 1000, 20000};
  Window w;
  window_open(&w, flavor, world_rank == 0 ? (MPI_Aint)kPuts * kBytes * world_size : 8, 1);
  for (int a = 0; a < 3; a++) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) {
      serve(away[a]);
    } else {
      many(&w);
      done();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) {
      serve(away[a]);
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w.win);
      CHECK_EQ(*(int64_t*)w.base, (int64_t)(world_size - 1) * kTurns);
      *(int64_t*)w.base = 0;
      MPI_Win_unlock(0, w.win);
    } else {
      count(&w);
      done();
    }
  }
  window_close(&w);
}

// Updates of one place, short and long by turns: the last one called is the last one done, and what is fetched between them
// is what was called before it.
static void in_order(int flavor) {
  Window w;
  int32_t* row = malloc(kLong * sizeof *row);
  int to = (world_rank + 1) % world_size;
  window_open(&w, flavor, kLong * sizeof *row, 4);
  MPI_Win_lock_all(0, w.win);
  for (int turn = 1; turn < 300; turn++) {
    int32_t was[3] = {-1, -1, -1}, seven = 7;
    const int n = turn % 3 == 0 ? kLong : 1 + turn % 5;
    for (int i = 0; i < n; i++) row[i] = turn;
    MPI_Accumulate(row, n, MPI_INT32_T, to, at(&w, to, 0), n, MPI_INT32_T, MPI_REPLACE, w.win);
    MPI_Fetch_and_op(NULL, &was[0], MPI_INT32_T, to, at(&w, to, 0), MPI_NO_OP, w.win);
    MPI_Fetch_and_op(&seven, &was[1], MPI_INT32_T, to, at(&w, to, 0), MPI_SUM, w.win);
    MPI_Fetch_and_op(&seven, &was[2], MPI_INT32_T, to, at(&w, to, 0), MPI_SUM, w.win);
    MPI_Win_flush(to, w.win);
    CHECK_EQ(was[0], turn);
    CHECK_EQ(was[1], turn);
    CHECK_EQ(was[2], turn + 7);
  }
  MPI_Win_unlock_all(w.win);
  window_close(&w);
  free(row);
}

// Each flushes at its neighbour, which flushes at its own; a request that fetches is complete without a flush.
static void round_about(int flavor) {
  Window w;
  int to = (world_rank + 1) % world_size, from = (world_rank + world_size - 1) % world_size;
  window_open(&w, flavor, 64, 8);
  MPI_Win_lock_all(0, w.win);
  for (int64_t turn = 0; turn < kTurns; turn++) {
    int64_t next = turn * world_size + world_rank, got = -1;
    MPI_Request request;
    MPI_Put(&next, 1, MPI_INT64_T, to, at(&w, to, 8), 1, MPI_INT64_T, w.win);
    MPI_Win_flush(to, w.win);
    MPI_Rget(&got, 1, MPI_INT64_T, to, at(&w, to, 8), 1, MPI_INT64_T, w.win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(got, next);
  }
  everybody_flushed(&w);
  CHECK_EQ(((int64_t*)w.base)[1], (int64_t)(kTurns - 1) * world_size + from);
  MPI_Win_unlock_all(w.win);
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  each_flavor(argc, argv, to_one_that_serves);
  each_flavor(argc, argv, in_order);
  each_flavor(argc, argv, round_about);
  return finish();
}
