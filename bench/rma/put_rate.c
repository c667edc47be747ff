// Messages per second of MPI_Put, 8 bytes, summed over the threads of rank 1, each with a window of its own in an epoch of
// MPI_Win_lock_all: 64 puts to rank 0, then a flush.
//   put_rate <count>...      rma-threads
// Rank 0 waits in MPI_Recv. Each thread's last put is verified there.
#include "rma.h"

#include <pthread.h>

enum { kMany = 64, kMaxThreads = 64 };
static const double kSeconds = 0.3;

typedef struct {
  Memory memory;
  int thread, threads;
  int64_t puts;
  double rate;
} Worker;

static void* work(void* argument) {
  Worker* w = argument;
  int64_t words[kMany];
  double start, now;
  bench_pin_to(1 + w->thread, 1 + w->threads);
  start = bench_now();
  do {
    for (int i = 0; i < kMany; i++) {
      words[i] = ++w->puts;
      MPI_Put(&words[i], 8, MPI_BYTE, 0, 8 * i, 8, MPI_BYTE, w->memory.win);
    }
    MPI_Win_flush(0, w->memory.win);
    now = bench_now();
  } while (now - start < kSeconds);
  w->rate = (double)w->puts / (now - start) / 1e6;
  return NULL;
}

static void measure_threads(int threads) {
  static Worker workers[kMaxThreads];
  pthread_t ids[kMaxThreads];
  double rate = 0;
  if (threads < 1 || threads > kMaxThreads) fail("put_rate: 1 to %d threads, not %d", kMaxThreads, threads);
  for (int t = 0; t < threads; t++) {
    workers[t] = (Worker){memory_make("allocate", 8 * kMany), t, threads, 0, 0};
    if (rank == 1) MPI_Win_lock_all(0, workers[t].memory.win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) MPI_Recv(NULL, 0, MPI_BYTE, 1, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (rank == 1) {
    for (int t = 0; t < threads; t++)
      if (pthread_create(&ids[t], NULL, work, &workers[t]) != 0) fail("put_rate: no thread %d", t);
    for (int t = 0; t < threads; t++) pthread_join(ids[t], NULL);
    MPI_Send(NULL, 0, MPI_BYTE, 0, 9, MPI_COMM_WORLD);
  }
  for (int t = 0; t < threads; t++) {
    if (rank == 1) MPI_Win_unlock_all(workers[t].memory.win);
    MPI_Bcast(&workers[t].puts, 1, MPI_INT64_T, 1, MPI_COMM_WORLD);
    int64_t last = ((int64_t*)workers[t].memory.base)[kMany - 1];
    if (rank == 0 && last != workers[t].puts)
      fail("put_rate: thread %d put %ld, found %ld", t, (long)workers[t].puts, (long)last);
    rate += workers[t].rate;
    memory_free(&workers[t].memory);
  }
  if (rank == 1) bench_result("rma-threads", (size_t)threads, rate, "M/s");
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (provided < MPI_THREAD_MULTIPLE || ranks != 2 || argc < 2)
    fail("put_rate: needs MPI_THREAD_MULTIPLE, 2 ranks, counts");
  for (int i = 1; i < argc; i++) {
    if (rank == 1) bench_begin("rma-threads", (size_t)atoi(argv[i]), "M/s");
    measure_threads(atoi(argv[i]));
  }
  MPI_Finalize();
  return 0;
}
