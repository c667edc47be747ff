// Bands of data that are spread over the processes, as the cross sections of a particle simulation are: each worker fetches the bands
// of its partner one after the other, and reads them.
//   bands <kind> <count> <bytes>...     the kinds of workers.h, in memory of MPI_Win_allocate
//     bands-<kind>-<count>              µs of one band: MPI_Get, MPI_Win_flush; of the slowest worker
// All workers fetch at once. Every byte of the first bands is verified, later of each band the first and the last.
#include "workers.h"

enum { kBands = 4 };
static const double kSeconds = 0.1;

static Workers workers;
static MPI_Aint band;
static int rounds, checks;
static double us_of[kMaxThreads];

static unsigned char value_of(int r, int t, int b) { return (unsigned char)(1 + 31 * r + 7 * t + b); }

static void fetch_all(void* context, int thread) {
  (void)context;
  unsigned char* to = aligned_alloc(4096, (size_t)(band + 4095) / 4096 * 4096);
  MPI_Win win = window_of(&workers, thread)->win;
  memset(to, 0, (size_t)band);
  double start = bench_now();
  for (int i = 0; i < rounds; i++) {
    for (int b = 0; b < kBands; b++) {
      MPI_Get(to, (int)band, MPI_BYTE, partner(), place_of(&workers, thread) + b * band, (int)band, MPI_BYTE, win);
      MPI_Win_flush(partner(), win);
      for (MPI_Aint at = 0; at < band; at += checks ? 1 : band > 1 ? band - 1 : 1)
        if (to[at] != value_of(partner(), thread, b)) fail("bands: byte %ld of a band is %d", (long)at, to[at]);
    }
  }
  us_of[thread] = (bench_now() - start) / (rounds * kBands) * 1e6;
  free(to);
}

static double slowest(void) {
  double most = 0;
  MPI_Barrier(MPI_COMM_WORLD);
  threads_run(workers.threads, fetch_all, NULL);
  for (int t = 0; t < workers.threads; t++) most = us_of[t] > most ? us_of[t] : most;
  return largest_of_all(most);
}

static void measure_bands(const char* metric, const char* kind, int threads) {
  double us[kBatches];
  workers_make(&workers, kind, "allocate", threads, kBands * band);
  for (int t = 0; t < workers.threads; t++)
    for (int b = 0; b < kBands; b++) memset(bytes_of(&workers, t) + b * band, value_of(rank, t, b), (size_t)band);
  lock_all(&workers);
  for (int i = 0; i < workers.count; i++) MPI_Win_sync(workers.windows[i].win);
  rounds = 2, checks = 1;
  slowest();
  checks = 0;
  double once = slowest();
  rounds = (int)(kSeconds * 1e6 / kBatches / kBands / once);
  rounds = rounds < 2 ? 2 : rounds > 100000 ? 100000 : rounds;
  for (int i = 0; i < kBatches; i++) us[i] = slowest();
  unlock_all(&workers);
  if (rank == 0) bench_result(metric, (size_t)band, bench_median(us, kBatches), "us");
  workers_free(&workers);
}

int main(int argc, char** argv) {
  char metric[64];
  if (argc < 4) fail("bands: needs a kind, a number of threads, and bytes");
  const char* kind = argv[1];
  int threads = atoi(argv[2]);
  snprintf(metric, sizeof metric, "bands-%s-%d", kind, threads);
  workers_init(&argc, &argv, "bands", kind);
  for (int i = 3; i < argc; i++) {
    band = atol(argv[i]);
    if (rank == 0) bench_begin(metric, (size_t)band, "us");
    measure_bands(metric, kind, threads);
  }
  MPI_Finalize();
  return 0;
}
