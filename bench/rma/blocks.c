// C += A B of block-sparse matrices whose tiles are spread over the processes: for each pair of tiles that is there, a worker gets both,
// multiplies, and accumulates the product into a tile of C. Which tiles those are looks random, so every process is everybody's target.
//   blocks <kind> <count> <dimension>...     the kinds of workers.h, in memory of MPI_Win_allocate; tiles of so many doubles squared
//     blocks-<kind>-<count>-get              µs of the two MPI_Get and their flush
//     blocks-<kind>-<count>-update           µs of MPI_Accumulate and its flush
// The workers of `own` have windows of their own for A and B; C is one window, as an element of it may be anybody's next. The sum is
// exact, and each element of C is verified.
#include "workers.h"

enum { kTiles = 8, kUnits = 24 };  // of each matrix for each worker; products of a worker in a round

static Workers inputs;
static Memory c;
static int n, all_workers, rounds;
static double get_us[kMaxThreads], update_us[kMaxThreads];
static double* expected[kMaxThreads];  // by tile: what this worker has added to each element

static unsigned next(unsigned* state) {
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

// Of the tiles of a worker, the first half of `kTiles` twice: A, then B. An element has the tile's number.
static double value_of(int tile) { return tile % 13 - 6; }

static void work(void* context, int thread) {
  (void)context;
  const size_t bytes = (size_t)n * n * sizeof(double);
  double *a = malloc(bytes), *b = malloc(bytes), *product = malloc(bytes);
  unsigned state = (unsigned)(rank * inputs.threads + thread) * 2654435761u + 1;
  MPI_Win win = window_of(&inputs, thread)->win;
  get_us[thread] = update_us[thread] = 0;
  for (int unit = 0; unit < rounds * kUnits; unit++) {
    const int tile_a = (int)(next(&state) % kTiles), tile_b = (int)(next(&state) % kTiles);
    const int from_a = (int)(next(&state) % (unsigned)ranks), from_b = (int)(next(&state) % (unsigned)ranks);
    const int tile_c = (int)(next(&state) % (unsigned)(kTiles * all_workers));
    double start = bench_now();
    MPI_Get(a, n * n, MPI_DOUBLE, from_a, place_of(&inputs, thread) + tile_a * (MPI_Aint)bytes, n * n, MPI_DOUBLE, win);
    MPI_Get(b, n * n, MPI_DOUBLE, from_b, place_of(&inputs, thread) + (kTiles + tile_b) * (MPI_Aint)bytes, n * n,
            MPI_DOUBLE, win);
    MPI_Win_flush_all(win);
    get_us[thread] += bench_now() - start;
    for (int i = 0; i < n; i++) {
      for (int j = 0; j < n; j++) product[i * n + j] = 0;
      for (int k = 0; k < n; k++)
        for (int j = 0; j < n; j++) product[i * n + j] += a[i * n + k] * b[k * n + j];
    }
    start = bench_now();
    MPI_Accumulate(product, n * n, MPI_DOUBLE, tile_c % ranks, tile_c / ranks * (MPI_Aint)bytes, n * n, MPI_DOUBLE,
                   MPI_SUM, c.win);
    MPI_Win_flush(tile_c % ranks, c.win);
    update_us[thread] += bench_now() - start;
    expected[thread][tile_c] += n * value_of(tile_a) * value_of(kTiles + tile_b);
  }
  get_us[thread] *= 1e6 / (rounds * kUnits);
  update_us[thread] *= 1e6 / (rounds * kUnits);
  free(a), free(b), free(product);
}

static double mean_of_all(const double* us) {
  double mine = 0;
  for (int t = 0; t < inputs.threads; t++) mine += us[t];
  return sum_of_all(mine) / all_workers;
}

static void check_products(void) {
  const int tiles = kTiles * all_workers;
  double sums[kTiles * kMaxThreads * 2] = {0};
  for (int t = 0; t < inputs.threads; t++)
    for (int i = 0; i < tiles; i++) sums[i] += expected[t][i];
  MPI_Allreduce(MPI_IN_PLACE, sums, tiles, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = rank; i < tiles; i += ranks) {
    const double* tile = (const double*)c.base + (size_t)(i / ranks) * (size_t)(n * n);
    for (int e = 0; e < n * n; e++)
      if (tile[e] != sums[i]) fail("blocks: element %d of tile %d is %g, not %g", e, i, tile[e], sums[i]);
  }
}

static void measure_blocks(const char* kind, int threads) {
  const MPI_Aint bytes = (MPI_Aint)n * n * (MPI_Aint)sizeof(double);
  double get[kBatches], update[kBatches];
  workers_make(&inputs, kind, "allocate", threads, 2 * kTiles * bytes);
  MPI_Info info = hints_of(kind);
  all_workers = 2 * threads;
  c = memory_make_with("allocate", kTiles * inputs.threads * bytes, info);
  MPI_Info_free(&info);
  for (int t = 0; t < inputs.threads; t++) {
    expected[t] = calloc((size_t)(kTiles * all_workers), sizeof(double));
    double* tiles = (double*)bytes_of(&inputs, t);
    for (int i = 0; i < 2 * kTiles * n * n; i++) tiles[i] = value_of(i / (n * n));
  }
  lock_all(&inputs);
  MPI_Win_lock_all(0, c.win);
  for (int i = 0; i < kBatches + 1; i++) {
    rounds = i == 0 ? 1 : n < 64 ? 40 : 4;
    MPI_Win_sync(inputs.windows[0].win);
    MPI_Barrier(MPI_COMM_WORLD);
    threads_run(inputs.threads, work, NULL);
    const double got = mean_of_all(get_us), updated = mean_of_all(update_us);
    if (i > 0) get[i - 1] = got, update[i - 1] = updated;
  }
  MPI_Win_unlock_all(c.win);
  unlock_all(&inputs);
  MPI_Barrier(MPI_COMM_WORLD);
  check_products();
  char metric[64];
  snprintf(metric, sizeof metric, "blocks-%s-%d-get", kind, threads);
  if (rank == 0) bench_result(metric, (size_t)n, bench_median(get, kBatches), "us");
  snprintf(metric, sizeof metric, "blocks-%s-%d-update", kind, threads);
  if (rank == 0) bench_result(metric, (size_t)n, bench_median(update, kBatches), "us");
  for (int t = 0; t < inputs.threads; t++) free(expected[t]);
  memory_free(&c);
  workers_free(&inputs);
}

int main(int argc, char** argv) {
  char metric[64];
  if (argc < 4) fail("blocks: needs a kind, a number of threads, and dimensions");
  const char* kind = argv[1];
  int threads = atoi(argv[2]);
  snprintf(metric, sizeof metric, "blocks-%s-%d-get", kind, threads);
  workers_init(&argc, &argv, "blocks", kind);
  for (int i = 3; i < argc; i++) {
    n = atoi(argv[i]);
    if (rank == 0) bench_begin(metric, (size_t)n, "us");
    measure_blocks(kind, threads);
  }
  MPI_Finalize();
  return 0;
}
