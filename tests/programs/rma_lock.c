// MPI_Win_lock: exclusive locks exclude, proven by a counter that is read by MPI_Get and written by MPI_Put; shared ones are
// held together; readers and writers on one target all get their turn; locks of several targets at once; MPI_Win_lock_all.
#include "rma.h"

enum { kTurns = 200, kWords = 32 };

// Reads and writes one counter of rank 0 without anything atomic: a turn is lost unless the lock excludes.
static void counter(Window* w) {
  int64_t* held = (int64_t*)w->base;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, w->win);
  memset(held, 0, 8 * kWords);
  MPI_Win_unlock(world_rank, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < kTurns; turn++) {
    for (int target = 0; target < world_size && target < 2; target++) {
      int64_t words[kWords];
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win);
      MPI_Get(words, kWords, MPI_INT64_T, target, at(w, target, 0), kWords, MPI_INT64_T, w->win);
      MPI_Win_flush(target, w->win);
      for (int i = 1; i < kWords; i++)
        CHECK(words[i] == words[0], "word %d is %lld beside %lld", i, (long long)words[i], (long long)words[0]);
      for (int i = 0; i < kWords; i++) words[i] += 1;
      MPI_Put(words, kWords, MPI_INT64_T, target, at(w, target, 0), kWords, MPI_INT64_T, w->win);
      MPI_Win_unlock(target, w->win);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, w->win);
  for (int i = 0; i < kWords; i++) CHECK_EQ(held[i], world_rank < 2 ? kTurns * (int64_t)world_size : 0);
  MPI_Win_unlock(world_rank, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
}

// All ranks hold the shared lock of one target until each of them has it.
static void shared_together(Window* w) {
  for (int round = 0; round < 20; round++) {
    int target = round % world_size;
    int64_t got = -1;
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Get(&got, 1, MPI_INT64_T, target, at(w, target, 0), 1, MPI_INT64_T, w->win);
    MPI_Win_flush(target, w->win);
    CHECK_EQ(got, target < 2 ? kTurns * (int64_t)world_size : 0);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock(target, w->win);
  }
}

// One writer that keeps two halves equal, among readers that never may see them differ. Every writer and every reader has a
// number of turns to take, so the end comes only when none starves for good.
static void readers_and_writer(Window* w) {
  int writer = world_size - 1;
  int64_t words[kWords];
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < (world_rank == writer ? kTurns : 4 * kTurns); turn++) {
    if (world_rank == writer) {
      for (int i = 0; i < kWords; i++) words[i] = -turn;
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
      MPI_Put(words, kWords / 2, MPI_INT64_T, 0, at(w, 0, 0), kWords / 2, MPI_INT64_T, w->win);
      MPI_Win_flush(0, w->win);
      MPI_Put(words, kWords / 2, MPI_INT64_T, 0, at(w, 0, 4 * kWords), kWords / 2, MPI_INT64_T, w->win);
      MPI_Win_unlock(0, w->win);
    } else {
      MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w->win);
      MPI_Get(words, kWords, MPI_INT64_T, 0, at(w, 0, 0), kWords, MPI_INT64_T, w->win);
      MPI_Win_unlock(0, w->win);
      for (int i = 1; i < kWords; i++)
        CHECK(words[i] == words[0], "turn %d: word %d is %lld beside %lld", turn, i, (long long)words[i],
              (long long)words[0]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

// Locks of all targets one by one, kept together, released in another order; the own one among them.
static void several(Window* w) {
  for (int round = 0; round < 20; round++) {
    int64_t value = 100 * round + world_rank, got = -1;
    for (int r = 0; r < world_size; r++) MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w->win);
    for (int r = 0; r < world_size; r++)
      MPI_Put(&value, 1, MPI_INT64_T, r, at(w, r, 8 * (kWords + world_rank)), 1, MPI_INT64_T, w->win);
    for (int i = 0; i < world_size; i++) {
      int r = (world_rank + i) % world_size;
      MPI_Win_flush(r, w->win);
      MPI_Get(&got, 1, MPI_INT64_T, r, at(w, r, 8 * (kWords + world_rank)), 1, MPI_INT64_T, w->win);
      MPI_Win_unlock(r, w->win);
      CHECK_EQ(got, value);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, w->win);
    for (int r = 0; r < world_size; r++) CHECK_EQ(((int64_t*)w->base)[kWords + r], 100 * round + r);
    MPI_Win_unlock(world_rank, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// MPI_Win_lock_all excludes the exclusive lock of any target: what an exclusive holder does in two steps is never half seen.
static void all_against_exclusive(Window* w) {
  int64_t zero[2] = {0, 0};
  int target = world_size / 2;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, w->win);
  memcpy(w->base, zero, sizeof zero);
  MPI_Win_unlock(world_rank, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < kTurns; turn++) {
    int64_t got[2], one[2] = {1, 1};
    if ((turn + world_rank) % 4 == 0) {
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, w->win);
      MPI_Get(got, 2, MPI_INT64_T, target, at(w, target, 0), 2, MPI_INT64_T, w->win);
      MPI_Win_flush(target, w->win);
      CHECK_EQ(got[1], got[0]);
      one[0] = one[1] = got[0] + 1;
      MPI_Put(&one[0], 1, MPI_INT64_T, target, at(w, target, 0), 1, MPI_INT64_T, w->win);
      MPI_Win_flush(target, w->win);
      MPI_Put(&one[1], 1, MPI_INT64_T, target, at(w, target, 8), 1, MPI_INT64_T, w->win);
      MPI_Win_unlock(target, w->win);
    } else {
      MPI_Win_lock_all(0, w->win);
      MPI_Get(got, 2, MPI_INT64_T, target, at(w, target, 0), 2, MPI_INT64_T, w->win);
      MPI_Win_unlock_all(w->win);
      CHECK_EQ(got[1], got[0]);
    }
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, MPI_MODE_NOCHECK, w->win);
  int64_t turns = 0;
  for (int r = 0; r < world_size; r++)
    for (int turn = 0; turn < kTurns; turn++) turns += (turn + r) % 4 == 0;
  CHECK_EQ(*(int64_t*)w->base, world_rank == target ? turns : 0);
  MPI_Win_unlock(world_rank, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
}

// MPI_MODE_NOCHECK: nobody else holds or wants a conflicting lock, because the ranks take turns by messages.
static void unchecked(Window* w) {
  const int right = (world_rank + 1) % world_size;
  for (int round = 0; round < 20; round++) {
    int64_t value = 9 * round + world_rank, got = -1;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, MPI_MODE_NOCHECK, w->win);  // each target has one origin
    MPI_Put(&value, 1, MPI_INT64_T, right, at(w, right, 0), 1, MPI_INT64_T, w->win);
    MPI_Win_unlock(right, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win);
    MPI_Get(&got, 1, MPI_INT64_T, right, at(w, right, 0), 1, MPI_INT64_T, w->win);
    MPI_Win_unlock_all(w->win);
    CHECK_EQ(got, value);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// What MPI_MODE_NOCHECK promises does not hold: rank 0 has its own memory locked. Seen where the lock's word is mapped.
static void promise(int flavor) {
  Window opened, *w = &opened;
  window_open(w, flavor, 8, 8);
  for (int type = 0; type < 2; type++) {
    const int held = type == 0 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED;
    if (world_rank == 0) MPI_Win_lock(held, 0, 0, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 1) {
      MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
      CHECK_CLASS(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, MPI_MODE_NOCHECK, w->win), MPI_ERR_RMA_CONFLICT);
      if (held == MPI_LOCK_EXCLUSIVE) {
        CHECK_CLASS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, w->win), MPI_ERR_RMA_CONFLICT);
      } else {
        CHECK_EQ(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOCHECK, w->win), MPI_SUCCESS);
        MPI_Win_unlock(0, w->win);
      }
      MPI_Win_set_errhandler(w->win, MPI_ERRORS_ARE_FATAL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 0) MPI_Win_unlock(0, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  window_close(w);
}

static void test(int flavor) {
  Window w;
  window_open(&w, flavor, 8 * (kWords + world_size), 8);
  counter(&w);
  shared_together(&w);
  readers_and_writer(&w);
  several(&w);
  all_against_exclusive(&w);
  unchecked(&w);
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int promised = argc > 1 && strcmp(argv[1], "promise") == 0;
  each_flavor(argc - promised, argv + promised, promised ? promise : test);
  return finish();
}
