// Long puts and gets, in one piece at both ends: below and above the sizes from which a network may copy them itself, in every
// kind of epoch, many at once, by request, from several threads that flush each other's; the bytes around them stay as they are.
#include <pthread.h>

#include "rma.h"

enum { kMost = 1 << 20, kGuard = 77, kThreads = 4, kTurns = 12, kLastTurn = 53 };
static const int kSizes[] = {100000, 131071, 131072, 196607, 196608, 262144, 700001, kMost};
enum { kCount = sizeof kSizes / sizeof *kSizes };

static unsigned char *out, *in;
static int right, left;

// Where that member writes in its right neighbour's memory, and what.
static MPI_Aint place(int i) { return kGuard + (MPI_Aint)i * (kMost + kGuard); }
static unsigned seed(int rank, int i, int turn) { return (unsigned)(rank + 100 * i + 10000 * turn); }

static void start_puts(Window* w, int turn) {
  for (int i = 0; i < kCount; i++) {
    fill(out + place(i), (size_t)kSizes[i], seed(world_rank, i, turn));
    MPI_Put(out + place(i), kSizes[i], MPI_BYTE, right, at(w, right, place(i)), kSizes[i], MPI_BYTE, w->win);
  }
}
static void start_gets(Window* w) {
  memset(in, 0xee, (size_t)place(kCount));
  for (int i = 0; i < kCount; i++)
    MPI_Get(in + place(i), kSizes[i], MPI_BYTE, left, at(w, left, place(i)), kSizes[i], MPI_BYTE, w->win);
}

// All of what start_puts() of that rank wrote there, and `around` between.
static void check_all(const unsigned char* memory, int rank, int turn, int around) {
  MPI_Aint end = 0;
  for (int i = 0; i < kCount; i++) {
    for (; end < place(i); end++) CHECK(memory[end] == around, "byte %ld is %d", (long)end, memory[end]);
    CHECK_PATTERN(memory + place(i), (size_t)kSizes[i], seed(rank, i, turn));
    end = place(i) + kSizes[i];
  }
  for (; end < place(kCount); end++) CHECK(memory[end] == around, "byte %ld is %d", (long)end, memory[end]);
}

// What the neighbour has put here, seen by itself and by who reads it.
static void settle(Window* w, int turn) {
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock(MPI_LOCK_SHARED, world_rank, 0, w->win);
  check_all(w->base, left, turn, 0);
  MPI_Win_unlock(world_rank, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void epochs(Window* w) {
  MPI_Group world, to, from;
  MPI_Win_get_group(w->win, &world);
  MPI_Group_incl(world, 1, &right, &to);
  MPI_Group_incl(world, 1, &left, &from);
  int turn = 1;
  for (int round = 0; round < 2; round++) {
    MPI_Win_fence(0, w->win);
    start_puts(w, turn);
    MPI_Win_fence(0, w->win);
    start_gets(w);
    MPI_Win_fence(MPI_MODE_NOSUCCEED, w->win);
    check_all(in, (left + world_size - 1) % world_size, turn, 0xee);
    settle(w, turn++);

    MPI_Win_post(from, 0, w->win);
    MPI_Win_start(to, 0, w->win);
    start_puts(w, turn);
    MPI_Win_complete(w->win);
    MPI_Win_wait(w->win);
    check_all(w->base, left, turn, 0);
    settle(w, turn++);

    for (int exclusive = 0; exclusive < 2; exclusive++) {
      MPI_Win_lock(exclusive ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, right, 0, w->win);
      start_puts(w, turn);
      MPI_Win_unlock(right, w->win);
      settle(w, turn++);
    }

    MPI_Win_lock_all(0, w->win);
    start_puts(w, turn);
    MPI_Win_flush(right, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    start_gets(w);
    round ? MPI_Win_flush_local(left, w->win) : MPI_Win_flush_all(w->win);
    check_all(in, (left + world_size - 1) % world_size, turn, 0xee);
    MPI_Barrier(MPI_COMM_WORLD);
    start_puts(w, ++turn);
    MPI_Win_unlock_all(w->win);
    settle(w, turn++);
  }
  MPI_Group_free(&world);
  MPI_Group_free(&to);
  MPI_Group_free(&from);
}

static void requests(Window* w) {
  MPI_Request all[2 * kCount];
  MPI_Win_lock_all(0, w->win);
  for (int turn = 50; turn <= kLastTurn; turn++) {
    for (int i = 0; i < kCount; i++) {
      fill(out + place(i), (size_t)kSizes[i], seed(world_rank, i, turn));
      MPI_Rput(out + place(i), kSizes[i], MPI_BYTE, right, at(w, right, place(i)), kSizes[i], MPI_BYTE, w->win,
               &all[i]);
    }
    MPI_Waitall(kCount, all, MPI_STATUSES_IGNORE);
    MPI_Win_flush(right, w->win);
    MPI_Barrier(MPI_COMM_WORLD);
    memset(in, 0xee, (size_t)place(kCount));
    for (int i = 0; i < kCount; i++)
      MPI_Rget(in + place(i), kSizes[i], MPI_BYTE, left, at(w, left, place(i)), kSizes[i], MPI_BYTE, w->win, &all[i]);
    for (int i = 0, flag; i < kCount; i++) do
        MPI_Test(&all[i], &flag, MPI_STATUS_IGNORE);
      while (!flag);
    check_all(in, (left + world_size - 1) % world_size, turn, 0xee);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Win_unlock_all(w->win);
}

// Room for more than there is at the target: as many bytes come as are asked for there.
static void roomy(Window* w) {
  MPI_Win_lock_all(0, w->win);
  for (int i = 0; i < kCount; i++) {
    for (int by_request = 0; by_request < 2; by_request++) {
      const int bytes = i == 0 ? 1000 : kSizes[i] / 2 + 1000;
      MPI_Request request = MPI_REQUEST_NULL;
      memset(in, 0xee, kMost);
      if (by_request)
        MPI_Rget(in, kMost, MPI_BYTE, left, at(w, left, place(i)), bytes, MPI_BYTE, w->win, &request);
      else
        MPI_Get(in, kMost, MPI_BYTE, left, at(w, left, place(i)), bytes, MPI_BYTE, w->win);
      by_request ? MPI_Wait(&request, MPI_STATUS_IGNORE) : MPI_Win_flush(left, w->win);
      CHECK_PATTERN(in, (size_t)bytes, seed((left + world_size - 1) % world_size, i, kLastTurn));
      for (int b = bytes; b < kMost; b++) CHECK(in[b] == 0xee, "byte %d behind %d is %d", b, bytes, in[b]);
    }
  }
  MPI_Win_unlock_all(w->win);
}

// Thread t has place t of everybody's memory: even ones put and flush, odd ones get by request.
static Window* shared;
static void* thread(void* number) {
  const int i = (int)(intptr_t)number, bytes = kSizes[kCount - 1 - i];
  unsigned char* mine = malloc((size_t)bytes);
  for (int turn = 0; turn < kTurns; turn++) {
    for (int target = 0; target < world_size; target++) {
      if (i % 2 == 0) {
        fill(mine, (size_t)bytes, seed(world_rank, i, turn));
        if (target == right)
          MPI_Put(mine, bytes, MPI_BYTE, target, at(shared, target, place(i)), bytes, MPI_BYTE, shared->win);
        turn % 2 ? MPI_Win_flush(target, shared->win) : MPI_Win_flush_all(shared->win);
      } else {
        MPI_Request request;
        memset(mine, 0, (size_t)bytes);
        MPI_Rget(mine, bytes, MPI_BYTE, target, at(shared, target, place(i)), bytes, MPI_BYTE, shared->win, &request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        CHECK_PATTERN(mine, (size_t)bytes, seed(target, i, 0));
      }
    }
  }
  free(mine);
  return NULL;
}

static void threads(Window* w) {
  pthread_t all[kThreads];
  for (int i = 1; i < kThreads; i += 2)
    fill(w->base + place(i), (size_t)kSizes[kCount - 1 - i], seed(world_rank, i, 0));
  MPI_Win_sync(w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  shared = w;
  MPI_Win_lock_all(0, w->win);
  for (int i = 0; i < kThreads; i++) pthread_create(&all[i], NULL, thread, (void*)(intptr_t)i);
  for (int i = 0; i < kThreads; i++) pthread_join(all[i], NULL);
  MPI_Win_unlock_all(w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(w->win);
  for (int i = 0; i < kThreads; i += 2)
    CHECK_PATTERN(w->base + place(i), (size_t)kSizes[kCount - 1 - i], seed(left, i, kTurns - 1));
}

static void test(int flavor) {
  Window w;
  window_open(&w, flavor, place(kCount), 1);
  epochs(&w);
  requests(&w);
  roomy(&w);
  window_close(&w);
  window_open(&w, flavor, place(kCount), 1);
  threads(&w);
  window_close(&w);
}

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  out = malloc((size_t)place(kCount));
  in = malloc((size_t)place(kCount));
  each_flavor(argc, argv, test);
  free(in);
  free(out);
  return finish();
}
