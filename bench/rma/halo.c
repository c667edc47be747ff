// A halo exchange by threads with one-sided calls: each thread puts the faces of its part to both neighbours of its process; then the
// window is synchronised. Two processes, so both neighbours are the other one.
//   halo <way> <threads> <bytes>...     bytes of a face
//     rmahalo-<way>-<threads>           µs of an exchange, of the slower process
//   flush   each thread flushes what it has put; then a barrier of the processes says so
//   fence   one thread calls MPI_Win_fence for all
//   pscw    one thread posts and starts, later completes and waits
// Each face is verified: its number, at both ends.
#include "workers.h"

static const double kSeconds = 0.1;

static Workers workers;
static const char* way;
static MPI_Aint face;
static int rounds;
static int32_t first_number;
static pthread_barrier_t all_threads;
static MPI_Group other;

static void begin(MPI_Win win) {
  if (!is(way, "pscw")) return;
  MPI_Win_post(other, 0, win);
  MPI_Win_start(other, 0, win);
}

static void end(MPI_Win win) {
  if (is(way, "fence")) MPI_Win_fence(0, win);
  if (is(way, "flush")) {
    MPI_Win_sync(win);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_sync(win);
  }
  if (!is(way, "pscw")) return;
  MPI_Win_complete(win);
  MPI_Win_wait(win);
}

static int32_t* end_of(char* at) { return (int32_t*)(at + face - 4); }

// Faces of two iterations lie side by side: one may be read while the next one comes.
static void exchange(void* context, int thread) {
  (void)context;
  MPI_Win win = workers.windows[0].win;
  char* mine = aligned_alloc(4096, (size_t)(face + 4095) / 4096 * 4096);
  memset(mine, 0, (size_t)face);
  for (int i = 0; i < rounds; i++) {
    const int32_t number = first_number + i;
    const MPI_Aint place = place_of(&workers, thread) + (number & 1) * 2 * face;
    *(int32_t*)mine = *end_of(mine) = number;
    if (thread == 0) begin(win);
    pthread_barrier_wait(&all_threads);
    for (int side = 0; side < 2; side++)
      MPI_Put(mine, (int)face, MPI_BYTE, partner(), place + side * face, (int)face, MPI_BYTE, win);
    if (is(way, "flush")) MPI_Win_flush(partner(), win);
    pthread_barrier_wait(&all_threads);
    if (thread == 0) end(win);
    pthread_barrier_wait(&all_threads);
    for (int side = 0; side < 2; side++) {
      char* got = workers.windows[0].base + place + side * face;
      if (*(int32_t*)got != number || *end_of(got) != number) fail("halo: face %d is %d", number, *(int32_t*)got);
    }
  }
  free(mine);
}

static double one_batch(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  double start = bench_now();
  threads_run(workers.threads, exchange, NULL);
  double us = (bench_now() - start) / rounds * 1e6;
  first_number += rounds;
  return largest_of_all(us);
}

static void measure_halo(const char* metric, int threads) {
  double us[kBatches];
  workers_make(&workers, "one", "allocate", threads, 4 * face);
  MPI_Win win = workers.windows[0].win;
  pthread_barrier_init(&all_threads, NULL, (unsigned)threads);
  if (is(way, "flush")) MPI_Win_lock_all(0, win);
  if (is(way, "fence")) MPI_Win_fence(0, win);
  first_number = 1, rounds = 5;
  one_batch();
  double once = one_batch();
  rounds = (int)(kSeconds * 1e6 / kBatches / once);
  rounds = rounds < 5 ? 5 : rounds > 20000 ? 20000 : rounds;
  for (int i = 0; i < kBatches; i++) us[i] = one_batch();
  if (is(way, "flush")) MPI_Win_unlock_all(win);
  if (is(way, "fence")) MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  pthread_barrier_destroy(&all_threads);
  if (rank == 0) bench_result(metric, (size_t)face, bench_median(us, kBatches), "us");
  workers_free(&workers);
}

int main(int argc, char** argv) {
  char metric[64];
  if (argc < 4) fail("halo: needs a way, a number of threads, and bytes");
  way = argv[1];
  if (!is(way, "flush") && !is(way, "fence") && !is(way, "pscw")) fail("halo: no way %s", way);
  snprintf(metric, sizeof metric, "rmahalo-%s-%s", way, argv[2]);
  workers_init(&argc, &argv, "halo", "one");
  int peer = partner();
  MPI_Group everybody;
  MPI_Comm_group(MPI_COMM_WORLD, &everybody);
  MPI_Group_incl(everybody, 1, &peer, &other);
  for (int i = 3; i < argc; i++) {
    face = atol(argv[i]);
    if (face < 8 || face % 4 != 0) fail("halo: faces of 8 bytes or more, in fours, not %ld", (long)face);
    if (rank == 0) bench_begin(metric, (size_t)face, "us");
    measure_halo(metric, atoi(argv[2]));
  }
  MPI_Group_free(&other);
  MPI_Group_free(&everybody);
  MPI_Finalize();
  return 0;
}
