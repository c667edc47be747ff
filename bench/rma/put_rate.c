// Messages per second of MPI_Put, 8 bytes, summed over the threads of one of two processes, in epochs of MPI_Win_lock_all: 64 puts to
// the partner, then a flush. The other process waits in MPI_Recv.
//   put_rate <kind> <count>...              the kinds of workers.h, in memory of MPI_Win_allocate
//   put_rate <kind>-<memory> <count>...     in that of `create`, say
//     putrate-<kind>                        M/s by that many threads, or processes
// Each worker's last puts are verified.
#include "workers.h"

enum { kMany = 64 };
static const double kSeconds = 0.25;

static Workers workers;
static int64_t puts_of[kMaxThreads];
static double rate_of[kMaxThreads];

static void work(void* context, int thread) {
  (void)context;
  int64_t words[kMany], puts = 0;
  MPI_Win win = window_of(&workers, thread)->win;
  const MPI_Aint place = place_of(&workers, thread);
  double start = bench_now(), now;
  do {
    for (int i = 0; i < kMany; i++) {
      words[i] = ++puts;
      MPI_Put(&words[i], 8, MPI_BYTE, partner(), place + 8 * i, 8, MPI_BYTE, win);
    }
    MPI_Win_flush(partner(), win);
    now = bench_now();
  } while (now - start < kSeconds);
  puts_of[thread] = puts;
  rate_of[thread] = (double)puts / (now - start) / 1e6;
}

static void measure_threads(const char* kind, const char* memory, int threads) {
  double rate = 0;
  workers_make(&workers, kind, memory, threads, 8 * kMany);
  if (half_of(rank) == 1) lock_all(&workers);
  MPI_Barrier(MPI_COMM_WORLD);
  if (half_of(rank) == 0) {
    MPI_Recv(puts_of, workers.threads, MPI_INT64_T, partner(), 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    threads_run(workers.threads, work, NULL);
    unlock_all(&workers);
    for (int t = 0; t < workers.threads; t++) rate += rate_of[t];
    MPI_Send(puts_of, workers.threads, MPI_INT64_T, partner(), 9, MPI_COMM_WORLD);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int t = 0; t < workers.threads && half_of(rank) == 0; t++) {
    int64_t last = ((int64_t*)bytes_of(&workers, t))[kMany - 1];
    if (last != puts_of[t]) fail("put_rate: worker %d put %ld, found %ld", t, (long)puts_of[t], (long)last);
  }
  char metric[64];
  snprintf(metric, sizeof metric, "putrate-%s", kind);
  rate = sum_of_all(rate);
  if (rank == 0) bench_result(metric, (size_t)threads, rate, "M/s");
  workers_free(&workers);
}

int main(int argc, char** argv) {
  if (argc < 3) fail("put_rate: needs a kind and counts");
  char *kind = strtok(argv[1], "-"), *memory = strtok(NULL, "-");
  char metric[64];
  snprintf(metric, sizeof metric, "putrate-%s", kind);
  workers_init(&argc, &argv, "put_rate", kind);
  for (int i = 2; i < argc; i++) {
    if (rank == 0) bench_begin(metric, (size_t)atoi(argv[i]), "M/s");
    measure_threads(kind, memory == NULL ? "allocate" : memory, atoi(argv[i]));
  }
  MPI_Finalize();
  return 0;
}
