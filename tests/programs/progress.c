// A target that is not in MPI while the others need it: it waits for what they leave in its memory, and calls nothing. That ends
// only where a library makes progress by itself (MPI 5.0, 12.7.3, leaves that to it).
//   progress windows [FLAVOR...]   epochs on rank 0, in each flavor of window
//   progress collectives           rank 0 has begun a nonblocking collective that the others cannot end without it
//   progress thread [HOW...]       rank 0's other thread waits for a message in MPI_Recv, MPI_Probe, MPI_Mprobe or MPI_Ssend, or calls
//                                  MPI_Iprobe again and again; the one that has begun collectives is not in MPI. No thread of the library
//   progress operation             a program with one thread: its operations are called by that one alone
#include <pthread.h>
#include <sched.h>

#include "rma.h"

enum { kTurns = 10, kInts = 300, kRounds = 50 };

static int64_t seen(const int64_t* word) { return __atomic_load_n(word, __ATOMIC_ACQUIRE); }

static void await(const int64_t* word, int64_t value) {
  while (seen(word) != value) sched_yield();
}

// The target's memory: a word that counts the epochs, and a place for each origin.
static void access_target(Window* w, int turn) {
  int64_t data[kInts], back[kInts], one = 1, was = -1;
  const MPI_Aint mine = 8 * (1 + kInts * (world_rank - 1));
  for (int i = 0; i < kInts; i++) data[i] = 1000 * turn + 100000 * world_rank + i, back[i] = -1;
  MPI_Win_lock(turn % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w->win);
  MPI_Put(data, kInts, MPI_INT64_T, 0, at(w, 0, mine), kInts, MPI_INT64_T, w->win);
  MPI_Win_flush(0, w->win);
  MPI_Get(back, kInts, MPI_INT64_T, 0, at(w, 0, mine), kInts, MPI_INT64_T, w->win);
  MPI_Win_unlock(0, w->win);
  for (int i = 0; i < kInts; i++) CHECK_EQ(back[i], data[i]);
  MPI_Win_lock_all(0, w->win);
  MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 0, at(w, 0, 0), MPI_SUM, w->win);
  MPI_Win_unlock_all(w->win);
  CHECK(was >= turn && was < kTurns * (world_size - 1), "turn %d fetched %lld", turn, (long long)was);
}

static void windows(int flavor) {
  Window w;
  int *model, flag;
  window_open(&w, flavor, 8 * (1 + kInts * (world_size - 1)), 8);
  MPI_Win_get_attr(w.win, MPI_WIN_MODEL, &model, &flag);
  CHECK(flag && *model == MPI_WIN_UNIFIED);
  MPI_Barrier(MPI_COMM_WORLD);
  const int64_t* held = (const int64_t*)w.base;
  if (world_rank == 0) await(held, kTurns * (world_size - 1));
  for (int turn = 0; world_rank > 0 && turn < kTurns; turn++) access_target(&w, turn);
  for (int i = 0; world_rank == 0 && i < kInts * (world_size - 1); i++)
    CHECK_EQ(held[1 + i], 1000 * (kTurns - 1) + 100000 * (1 + i / kInts) + i % kInts);
  MPI_Barrier(MPI_COMM_WORLD);
  window_close(&w);
}

static pthread_t caller;
static int calls;

static void add(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  CHECK(pthread_equal(pthread_self(), caller), "called by another thread");
  for (int i = 0; i < *length; i++) ((int*)inout)[i] += ((int*)in)[i];
  calls++;
}

// Another thread would have to be asked for by MPI_THREAD_MULTIPLE.
static void operation(void) {
  MPI_Op op;
  caller = pthread_self();
  MPI_Op_create(add, 1, &op);
  for (int round = 0; round < kRounds; round++) {
    int sum = -1, done = 0;
    MPI_Request request;
    MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, op, MPI_COMM_WORLD, &request);
    const double until = MPI_Wtime() + 2e-3;
    while (MPI_Wtime() < until) sched_yield();
    while (!done) MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    CHECK_EQ(sum, world_size * (world_size - 1) / 2);
  }
  MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_size > 1) CHECK(calls > 0);
  MPI_Op_free(&op);
}

static void collectives(void) {
  Window w;
  window_open(&w, MPI_WIN_FLAVOR_ALLOCATE, 8, 8);
  for (int round = 1; round <= kRounds; round++) {
    int64_t one = 1, ignored;
    int sum = -1;
    MPI_Request request;
    MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (world_rank == 0) await((const int64_t*)w.base, round * (world_size - 1));
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK_EQ(sum, world_size * (world_size - 1) / 2);
    if (world_rank == 0) continue;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
    MPI_Fetch_and_op(&one, &ignored, MPI_INT64_T, 0, at(&w, 0, 0), MPI_SUM, w.win);
    MPI_Win_unlock(0, w.win);
  }
  window_close(&w);
}

static const char* how;
static int64_t waits;

// Waits, in a call of MPI, for what rank 1 does when the collectives are over.
static void* wait_in_mpi(void* comm_) {
  const MPI_Comm comm = *(MPI_Comm*)comm_;
  static char large[1 << 20];
  MPI_Message message;
  int flag = 0;
  __atomic_store_n(&waits, 1, __ATOMIC_RELEASE);
  if (!strcmp(how, "recv")) MPI_Recv(large, 1, MPI_CHAR, 1, 7, comm, MPI_STATUS_IGNORE);
  if (!strcmp(how, "probe")) MPI_Probe(1, 7, comm, MPI_STATUS_IGNORE);
  if (!strcmp(how, "mprobe")) MPI_Mprobe(1, 7, comm, &message, MPI_STATUS_IGNORE);
  if (!strcmp(how, "send")) MPI_Ssend(large, sizeof large, MPI_CHAR, 1, 8, comm);
  if (!strcmp(how, "iprobe"))
    while (!flag) MPI_Iprobe(1, 7, comm, &flag, MPI_STATUS_IGNORE);
  if (!strcmp(how, "mprobe")) MPI_Mrecv(large, 1, MPI_CHAR, &message, MPI_STATUS_IGNORE);
  if (!strcmp(how, "probe") || !strcmp(how, "iprobe")) MPI_Recv(large, 1, MPI_CHAR, 1, 7, comm, MPI_STATUS_IGNORE);
  return NULL;
}

// The others tell rank 0 by its memory that they have the result, which they get only if its other thread makes progress for it.
static void other_thread(void) {
  static char large[1 << 20];
  Window w;
  MPI_Comm other, begun;
  window_open(&w, MPI_WIN_FLAVOR_ALLOCATE, 8, 8);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_dup(MPI_COMM_WORLD, &begun);
  pthread_t waiter;
  if (world_rank == 0) {
    pthread_create(&waiter, NULL, wait_in_mpi, &other);
    while (seen(&waits) == 0) sched_yield();
  }
  for (int round = 1; round <= kRounds; round++) {
    int64_t one = 1, ignored;
    int sum = -1, all[64];
    MPI_Request requests[2];
    MPI_Iallreduce(&world_rank, &sum, 1, MPI_INT, MPI_SUM, begun, &requests[0]);
    MPI_Iallgather(&round, 1, MPI_INT, all, 1, MPI_INT, begun, &requests[1]);
    if (world_rank == 0) await((const int64_t*)w.base, round * (world_size - 1));
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    CHECK_EQ(sum, world_size * (world_size - 1) / 2);
    for (int r = 0; r < world_size; r++) CHECK_EQ(all[r], round);
    if (world_rank == 0) continue;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win);
    MPI_Fetch_and_op(&one, &ignored, MPI_INT64_T, 0, at(&w, 0, 0), MPI_SUM, w.win);
    MPI_Win_unlock(0, w.win);
  }
  if (strcmp(how, "send") && world_rank == 1) MPI_Send(large, 1, MPI_CHAR, 0, 7, other);
  if (!strcmp(how, "send") && world_rank == 1) MPI_Recv(large, sizeof large, MPI_CHAR, 0, 8, other, MPI_STATUS_IGNORE);
  if (world_rank == 0) pthread_join(waiter, NULL);
  MPI_Comm_free(&begun);
  MPI_Comm_free(&other);
  window_close(&w);
}

int main(int argc, char** argv) {
  if (argc > 2 && !strcmp(argv[1], "thread")) {
    start_threaded(&argc, &argv);
    CHECK(world_size <= 64);
    for (int i = 2; i < argc; i++) {
      how = argv[i];
      waits = 0;
      other_thread();
    }
  } else if (argc > 1 && !strcmp(argv[1], "collectives")) {
    start_threaded(&argc, &argv);
    collectives();
  } else {
    start(&argc, &argv);
    if (argc > 1 && !strcmp(argv[1], "operation")) {
      operation();
    } else {
      each_flavor(argc - 1, argv + 1, windows);
    }
  }
  return finish();
}
