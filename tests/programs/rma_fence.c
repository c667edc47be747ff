// MPI_Win_fence: what is done between two fences is done, for all ranks, at the second; every assertion, where it is true;
// fences without communication between; a lock after a fence.
#include "rma.h"

enum { kSlots = 64, kRounds = 200 };

// A ring of put, get and accumulate in one epoch, each to a place of its own.
static void exchange(Window* w, int round, int opening, int closing) {
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  int64_t *held = (int64_t*)w->base, out = 1000 * round + world_rank, got = -1, add = round;
  held[0] = -1, held[1] = 77 * round + world_rank, held[2] = 5;
  MPI_Win_fence(opening, w->win);
  MPI_Put(&out, 1, MPI_INT64_T, right, at(w, right, 0), 1, MPI_INT64_T, w->win);
  MPI_Get(&got, 1, MPI_INT64_T, right, at(w, right, 8), 1, MPI_INT64_T, w->win);
  for (int r = 0; r < world_size; r++)
    MPI_Accumulate(&add, 1, MPI_INT64_T, r, at(w, r, 16), 1, MPI_INT64_T, MPI_SUM, w->win);
  MPI_Win_fence(closing, w->win);
  CHECK_EQ(held[0], 1000 * round + left);
  CHECK_EQ(got, 77 * round + right);
  CHECK_EQ(held[2], 5 + (int64_t)round * world_size);
}

static void assertions(Window* w) {
  const int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  int64_t* held = (int64_t*)w->base;
  // Nothing before, nothing behind: memory may change between the two, so the ranks meet outside.
  for (int round = 0; round < 20; round++) {
    exchange(w, round, MPI_MODE_NOPRECEDE, MPI_MODE_NOSUCCEED);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // One at a time: gets alone follow MPI_MODE_NOPUT, and puts of others alone precede MPI_MODE_NOSTORE.
  for (int round = 0; round < 20; round++) {
    int64_t out = 50 * round + world_rank, got = -1;
    held[3] = 40 * round + world_rank, held[4] = -1;
    MPI_Win_fence(MPI_MODE_NOPUT, w->win);
    MPI_Get(&got, 1, MPI_INT64_T, right, at(w, right, 24), 1, MPI_INT64_T, w->win);
    MPI_Win_fence(0, w->win);
    CHECK_EQ(got, 40 * round + right);
    MPI_Put(&out, 1, MPI_INT64_T, right, at(w, right, 32), 1, MPI_INT64_T, w->win);
    MPI_Win_fence(MPI_MODE_NOSTORE, w->win);
    CHECK_EQ(held[4], 50 * round + left);
    MPI_Put(&out, 1, MPI_INT64_T, right, at(w, right, 40), 1, MPI_INT64_T, w->win);
    MPI_Win_fence(MPI_MODE_NOSTORE, w->win);
    CHECK_EQ(held[5], 50 * round + left);
    MPI_Win_fence(0, w->win);
  }
  // Only gets: no put into this window follows, no store to it preceded.
  held[3] = 31 + world_rank;
  MPI_Win_fence(0, w->win);
  for (int round = 0; round < 20; round++) {
    int64_t got = -1;
    MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w->win);
    MPI_Get(&got, 1, MPI_INT64_T, right, at(w, right, 24), 1, MPI_INT64_T, w->win);
    MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT, w->win);
    CHECK_EQ(got, 31 + right);
  }
  MPI_Win_fence(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE | MPI_MODE_NOSUCCEED, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Everybody puts one row to everybody, and the rows are of very different lengths.
static void all_to_all(Window* w) {
  const int row = kSlots;
  int64_t *held = (int64_t*)w->base, out[kSlots];
  for (int round = 1; round < 6; round++) {
    for (int i = 0; i < kSlots; i++) out[i] = 10000 * round + 100 * world_rank + i;
    memset(held, 0, 8 * (size_t)row * (size_t)world_size);
    MPI_Win_fence(0, w->win);
    for (int r = 0; r < world_size; r++) {
      int n = 1 + (world_rank * 7 + r * 13 + round * 5) % kSlots;
      MPI_Put(out, n, MPI_INT64_T, r, at(w, r, 8 * row * world_rank), n, MPI_INT64_T, w->win);
    }
    MPI_Win_fence(0, w->win);
    for (int r = 0; r < world_size; r++)
      for (int i = 0; i < kSlots; i++) {
        int there = i < 1 + (r * 7 + world_rank * 13 + round * 5) % kSlots;
        CHECK_EQ(held[r * row + i], there ? 10000 * round + 100 * r + i : 0);
      }
  }
}

// One rank alone has work between the fences; its turn moves around, and what it left is read by the next.
static void turns(Window* w) {
  int64_t* held = (int64_t*)w->base;
  held[0] = 0;
  MPI_Win_fence(0, w->win);
  for (int turn = 0; turn < 3 * world_size; turn++) {
    int64_t seen = -1, next = turn + 1;
    MPI_Win_fence(0, w->win);
    if (turn % world_size == world_rank) MPI_Get(&seen, 1, MPI_INT64_T, 0, at(w, 0, 0), 1, MPI_INT64_T, w->win);
    MPI_Win_fence(0, w->win);
    if (turn % world_size == world_rank) {
      CHECK_EQ(seen, turn);
      MPI_Put(&next, 1, MPI_INT64_T, 0, at(w, 0, 0), 1, MPI_INT64_T, w->win);
    }
    MPI_Win_fence(0, w->win);
  }
  if (world_rank == 0) CHECK_EQ(held[0], 3 * world_size);
}

// A fence that no communication follows opens no epoch: a lock may.
static void lock_behind(Window* w) {
  int64_t one = 1, sum = -1;
  *(int64_t*)w->base = 0;
  MPI_Win_fence(0, w->win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
  MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at(w, 0, 0), 1, MPI_INT64_T, MPI_SUM, w->win);
  MPI_Win_unlock(0, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_fence(MPI_MODE_NOPRECEDE, w->win);
  MPI_Get(&sum, 1, MPI_INT64_T, 0, at(w, 0, 0), 1, MPI_INT64_T, w->win);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
  CHECK_EQ(sum, world_size);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test(int flavor) {
  Window w;
  window_open(&w, flavor, 8 * kSlots * world_size, 8);
  for (int round = 0; round < kRounds; round++) exchange(&w, round, 0, 0);
  assertions(&w);
  all_to_all(&w);
  turns(&w);
  lock_behind(&w);
  window_close(&w);
  // Without locks: the hint that a window meets fences alone.
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "no_locks", "true");
  window_open_with(&w, flavor, 8 * kSlots, 8, info);
  MPI_Info_free(&info);
  for (int round = 0; round < 20; round++) exchange(&w, round, 0, 0);
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  each_flavor(argc, argv, test);
  return finish();
}
