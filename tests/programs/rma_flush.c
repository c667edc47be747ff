// MPI_Win_flush, flush_all, flush_local, flush_local_all: what a flush completed is there for a third rank that hears of it by
// a message; after a local flush the origin's buffer is free and a get's data have come.
#include "rma.h"

enum { kRounds = 60, kBytes = 100000, kSmall = 64 };

static int right, left;

static int bytes_of(int round) { return round % 5 == 0 ? kBytes : round % 3 == 0 ? 5000 : 1 + round; }

// Rank r puts to r + 1 and flushes; r + 2, told by a message, reads it there.
static void third_rank(Window* w, int all) {
  unsigned char *out = malloc(kBytes), *in = malloc(kBytes);
  int reader = (world_rank + 2) % world_size, writer = (world_rank + 2 * world_size - 2) % world_size;
  int between = (writer + 1) % world_size;
  MPI_Win_lock_all(0, w->win);
  for (int round = 0; round < kRounds; round++) {
    int told = -1;
    fill(out, kBytes, (unsigned)(round + 100 * world_rank));
    MPI_Put(out, bytes_of(round), MPI_BYTE, right, at(w, right, 0), bytes_of(round), MPI_BYTE, w->win);
    if (all)
      MPI_Win_flush_all(w->win);
    else
      MPI_Win_flush(right, w->win);
    MPI_Sendrecv(&round, 1, MPI_INT, reader, 3, &told, 1, MPI_INT, writer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(told, round);
    memset(in, 0, kBytes);
    MPI_Get(in, bytes_of(round), MPI_BYTE, between, at(w, between, 0), bytes_of(round), MPI_BYTE, w->win);
    MPI_Win_flush_local(between, w->win);
    CHECK_PATTERN(in, (size_t)bytes_of(round), (unsigned)(round + 100 * writer));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(w->win);
  free(out), free(in);
}

// One buffer for all puts, written again after each local flush.
static void buffer_again(Window* w, int all) {
  unsigned char out[kSmall];
  MPI_Win_lock(MPI_LOCK_SHARED, right, 0, w->win);
  for (int i = 0; i < kBytes / kSmall; i++) {
    fill(out, kSmall, (unsigned)(i + world_rank));
    MPI_Put(out, kSmall, MPI_BYTE, right, at(w, right, i * kSmall), kSmall, MPI_BYTE, w->win);
    if (all)
      MPI_Win_flush_local_all(w->win);
    else
      MPI_Win_flush_local(right, w->win);
  }
  memset(out, 0, sizeof out);
  MPI_Win_unlock(right, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, w->win);
  for (int i = 0; i < kBytes / kSmall; i++) CHECK_PATTERN(w->base + i * kSmall, kSmall, (unsigned)(i + left));
  MPI_Win_unlock(world_rank, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Large ones too, and accumulates.
static void large_buffer_again(Window* w) {
  int64_t* out = malloc(kBytes);
  const int n = kBytes / 8;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, w->win);
  memset(w->base, 0, kBytes);
  MPI_Win_unlock(world_rank, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, w->win);
  for (int round = 0; round < 10; round++) {
    for (int i = 0; i < n; i++) out[i] = i + round;
    MPI_Accumulate(out, n, MPI_INT64_T, right, at(w, right, 0), n, MPI_INT64_T, MPI_SUM, w->win);
    MPI_Win_flush_local(right, w->win);
  }
  memset(out, 0, kBytes);
  everybody_flushed(w);
  for (int i = 0; i < n; i++) CHECK_EQ(((int64_t*)w->base)[i], 10 * (int64_t)i + 45);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(w->win);
  free(out);
}

// A target's memory is polled by its own loads while others put; a flag that was put after a flush comes behind the data.
static void flag_behind_data(Window* w) {
  volatile int64_t* flag = (volatile int64_t*)(w->base + 8 * 64);
  int64_t data[32], signal;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, w->win);
  *flag = 0;
  MPI_Win_unlock(world_rank, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, w->win);
  for (int round = 1; round <= kRounds; round++) {
    int seen = 0;
    for (int i = 0; i < 32; i++) data[i] = 1000 * round + i;
    MPI_Put(data, 32, MPI_INT64_T, right, at(w, right, 0), 32, MPI_INT64_T, w->win);
    MPI_Win_flush(right, w->win);
    signal = round;
    MPI_Accumulate(&signal, 1, MPI_INT64_T, right, at(w, right, 8 * 64), 1, MPI_INT64_T, MPI_REPLACE, w->win);
    MPI_Win_flush(right, w->win);
    while (*flag < round) {
      MPI_Win_sync(w->win);
      MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &seen, MPI_STATUS_IGNORE);
    }
    MPI_Win_sync(w->win);
    for (int i = 0; i < 32; i++) CHECK_EQ(((int64_t*)w->base)[i], 1000 * round + i);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(w->win);
}

static void test(int flavor) {
  Window w;
  window_open(&w, flavor, kBytes, 1);
  for (int all = 0; all < 2; all++) {
    third_rank(&w, all);
    buffer_again(&w, all);
  }
  large_buffer_again(&w);
  flag_behind_data(&w);
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  each_flavor(argc, argv, test);
  return finish();
}
