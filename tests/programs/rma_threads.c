// MPI_THREAD_MULTIPLE: threads that put, get, add and flush at once, each on a window of its own and all on one, whose accumulates are
// ordered or not, and messages beside them. Every value is verified, every sum exact.
#include <pthread.h>

#include "rma.h"

enum { kThreads = 4, kTurns = 150, kWords = 600 };

static Window own[kThreads], all;
static int right, left;

static void in_threads(void* (*body)(void*)) {
  pthread_t threads[kThreads];
  for (int t = 0; t < kThreads; t++) CHECK_EQ(pthread_create(&threads[t], NULL, body, (void*)(intptr_t)t), 0);
  for (int t = 0; t < kThreads; t++) pthread_join(threads[t], NULL);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int words_of(int turn) { return turn % 10 == 0 ? kWords : 1 + turn % 7; }

// Puts to the right, reads it back; draws from a counter there. `first` is this thread's part of the window.
static void exchange(Window* w, int thread, MPI_Aint first, MPI_Aint counter) {
  int64_t *out = malloc(8 * kWords), *in = malloc(8 * kWords), one = 1, was, last = -1;
  for (int turn = 0; turn < kTurns; turn++) {
    const int n = words_of(turn);
    for (int i = 0; i < n; i++) out[i] = 1000000 * world_rank + 10000 * thread + 10 * turn + i, in[i] = -1;
    MPI_Put(out, n, MPI_INT64_T, right, at(w, right, 8 * first), n, MPI_INT64_T, w->win);
    MPI_Win_flush(right, w->win);
    MPI_Get(in, n, MPI_INT64_T, right, at(w, right, 8 * first), n, MPI_INT64_T, w->win);
    MPI_Fetch_and_op(&one, &was, MPI_INT64_T, right, at(w, right, 8 * counter), MPI_SUM, w->win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, left, at(w, left, 8 * (counter + 1)), 1, MPI_INT64_T, MPI_SUM, w->win);
    if (turn % 2)
      MPI_Win_flush_all(w->win);
    else
      MPI_Win_flush(right, w->win);
    for (int i = 0; i < n; i++) CHECK_EQ(in[i], 1000000 * world_rank + 10000 * thread + 10 * turn + i);
    CHECK(was > last, "drew %lld after %lld", (long long)was, (long long)last);
    last = was;
  }
  MPI_Win_flush_all(w->win);
  free(out), free(in);
}

static void* on_own(void* argument) {
  int t = (int)(intptr_t)argument;
  Window* w = &own[t];
  MPI_Win_lock_all(0, w->win);
  exchange(w, t, 2, 0);
  MPI_Win_unlock_all(w->win);
  for (int turn = 0; turn < kTurns / 5; turn++) {  // epochs of its own
    int64_t one = 1;
    MPI_Win_lock(turn % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, right, 0, w->win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, right, at(w, right, 0), 1, MPI_INT64_T, MPI_SUM, w->win);
    MPI_Win_unlock(right, w->win);
  }
  return NULL;
}

static void* on_one(void* argument) {
  int t = (int)(intptr_t)argument;
  exchange(&all, t, 2 + (MPI_Aint)t * kWords, 0);
  return NULL;
}

// Some threads on the window that all share, the others send and receive.
static void* beside_messages(void* argument) {
  int t = (int)(intptr_t)argument;
  if (t % 2 == 0) return on_one(argument);
  for (int turn = 0; turn < kTurns; turn++) {
    int out = turn * 10 + t, in = -1;
    MPI_Sendrecv(&out, 1, MPI_INT, right, t, &in, 1, MPI_INT, left, t, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(in, turn * 10 + t);
  }
  return NULL;
}

// Nothing is flushed: the unlock of another thread completes it.
static int64_t unflushed[kThreads][kWords];

static void* without_flush(void* argument) {
  int t = (int)(intptr_t)argument;
  for (int i = 0; i < kWords; i++) {
    unflushed[t][i] = 1000000 * world_rank + 1000 * t + i;
    MPI_Put(&unflushed[t][i], 1, MPI_INT64_T, right, at(&all, right, 8 * (2 + t * kWords + i)), 1, MPI_INT64_T,
            all.win);
    MPI_Accumulate(&unflushed[t][0], 1, MPI_INT64_T, right, at(&all, right, 8), 1, MPI_INT64_T, MPI_SUM, all.win);
  }
  return NULL;
}

static void unlock_completes(void) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, all.win);
  memset(all.base, 0, (size_t)all.bytes);
  MPI_Win_unlock(world_rank, all.win);
  MPI_Barrier(MPI_COMM_WORLD);
  pthread_t threads[kThreads];
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, all.win);
  for (int t = 0; t < kThreads; t++) CHECK_EQ(pthread_create(&threads[t], NULL, without_flush, (void*)(intptr_t)t), 0);
  for (int t = 0; t < kThreads; t++) pthread_join(threads[t], NULL);
  MPI_Win_unlock(right, all.win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, all.win);
  int64_t sum = 0;
  for (int t = 0; t < kThreads; t++) {
    for (int i = 0; i < kWords; i++) CHECK_EQ(((int64_t*)all.base)[2 + t * kWords + i], 1000000 * left + 1000 * t + i);
    sum += (int64_t)kWords * (1000000 * left + 1000 * t);
  }
  CHECK_EQ(((int64_t*)all.base)[1], sum);
  MPI_Win_unlock(world_rank, all.win);
  MPI_Barrier(MPI_COMM_WORLD);
}

static int64_t held(Window* w, int word) {
  int64_t value;
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, w->win);
  value = ((int64_t*)w->base)[word];
  MPI_Win_unlock(world_rank, w->win);
  return value;
}

static void unordered(int flavor) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "accumulate_ordering", "none");
  window_open_with(&all, flavor, 8 * (kThreads * kWords + 2), 1, info);
  MPI_Info_free(&info);
  MPI_Win_lock_all(0, all.win);
  in_threads(on_one);
  MPI_Win_unlock_all(all.win);
  CHECK_EQ(held(&all, 0), kThreads * kTurns);
  CHECK_EQ(held(&all, 1), kThreads * kTurns);
  MPI_Barrier(MPI_COMM_WORLD);
  unlock_completes();
  window_close(&all);
}

static void test(int flavor) {
  unordered(flavor);
  for (int t = 0; t < kThreads; t++) window_open(&own[t], flavor, 8 * (kWords + 2), 8);
  window_open(&all, flavor, 8 * (kThreads * kWords + 2), 1);
  unlock_completes();
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, all.win);
  memset(all.base, 0, (size_t)all.bytes);
  MPI_Win_unlock(world_rank, all.win);
  MPI_Barrier(MPI_COMM_WORLD);
  in_threads(on_own);
  for (int t = 0; t < kThreads; t++) {
    CHECK_EQ(held(&own[t], 0), kTurns + kTurns / 5);
    CHECK_EQ(held(&own[t], 1), kTurns);
  }
  MPI_Win_lock_all(0, all.win);
  in_threads(on_one);
  MPI_Win_unlock_all(all.win);
  CHECK_EQ(held(&all, 0), kThreads * kTurns);
  CHECK_EQ(held(&all, 1), kThreads * kTurns);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, all.win);
  in_threads(beside_messages);
  MPI_Win_unlock_all(all.win);
  CHECK_EQ(held(&all, 0), (kThreads + kThreads / 2) * kTurns);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int t = 0; t < kThreads; t++) window_close(&own[t]);
  window_close(&all);
}

int main(int argc, char** argv) {
  start_threaded(&argc, &argv);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  each_flavor(argc, argv, test);
  return finish();
}
