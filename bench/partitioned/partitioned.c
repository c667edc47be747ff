// Many threads fill one message: what is left of its time once the last of them is ready.
//
// After Dosanjh and others, "Implementation and evaluation of MPI 4.0 partitioned communication libraries" (2021). In each iteration
// T threads of the sender compute, one of them some per cent longer, and each then gives its part of the message away:
//
//   single     by nobody: the thread that is through last sends the whole message
//   multi      by a message of its own
//   part       by MPI_Pready; the receiver has one partition. Perceived bandwidth: bytes ÷ (last MPI_Pready → MPI_Wait returns at the
//              receiver); for the others from the last MPI_Send on
//   arrive     by MPI_Pready; the receiver has T partitions, and asks MPI_Parrived until the first is there. Communication: last
//              MPI_Pready → MPI_Wait returns; early: first arrived → MPI_Wait returns; overlap: that ÷ (first → last MPI_Pready)
//
// A thread computes by sleeping, as in the paper: it needs no core, so that T threads on few cores are ready when T cores would
// have them ready. And the sender, once it has sent everything, does not wait for the next go at once: where
// both ranks are on one core, it would keep the receiver from its last step. What it sends it has written just before. The receiver looks at every byte of every iteration. Both
// ranks are on one node, so they read one clock.
//
// partitioned WAY THREADS COMPUTE_MS NOISE_PERCENT ITERATIONS BYTES...
#include "../common/bench.h"
#include "../common/fail.h"

#include <mpi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <sys/prctl.h>

enum { kMost = 64, kWarmUp = 3, kMostIterations = 1000 };

static const double kRest = 1e-3;  // seconds

typedef enum { kSingle, kMulti, kPart, kArrive } Way;

static const char* const kWays[] = {"single", "multi", "part", "arrive"};
static Way way;
static int threads, rank, iteration, quit;
static double compute, noise;  // seconds
static size_t bytes;
static uint64_t* data;
static MPI_Request requests[kMost];
static pthread_barrier_t begin, written;
static sem_t all_left;  // a barrier would have the last thread wake all others, while the receiver wants a core
static double began;
static int through, left;  // threads: with computing; with giving away
static double ready_at[kMost];

static uint64_t word_at(size_t i) { return (i + 1) * 0x9E3779B97F4A7C15u + (uint64_t)iteration * 0xC2B2AE3D27D4EB4Fu; }

static void sleep_until(double when) {
  const struct timespec t = {(time_t)when, (long)((when - (double)(time_t)when) * 1e9)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) != 0) continue;
}

static void give_away(int t) {
  const size_t part = bytes / (size_t)threads;
  if (way == kSingle) {
    if (__atomic_add_fetch(&through, 1, __ATOMIC_ACQ_REL) != threads) return;
    ready_at[t] = bench_now();
    MPI_Send(data, (int)bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else if (way == kMulti) {
    ready_at[t] = bench_now();
    MPI_Send((char*)data + (size_t)t * part, (int)part, MPI_BYTE, 1, t, MPI_COMM_WORLD);
  } else {
    ready_at[t] = bench_now();
    MPI_Pready(t, requests[0]);
  }
}

static void* work(void* argument) {
  const int t = (int)(intptr_t)argument;
  prctl(PR_SET_TIMERSLACK, 1);
  for (;;) {
    pthread_barrier_wait(&begin);
    if (quit) return NULL;
    const size_t words = bytes / sizeof *data / (size_t)threads;
    for (size_t i = (size_t)t * words; i < (size_t)(t + 1) * words; i++) data[i] = word_at(i);
    pthread_barrier_wait(&written);
    ready_at[t] = 0;
    // The first to be here says when it began, all of them within microseconds of each other.
    double none = 0, now = bench_now();
    __atomic_compare_exchange(&began, &none, &now, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
    const int late = iteration % threads;
    double start;
    __atomic_load(&began, &start, __ATOMIC_ACQUIRE);
    sleep_until(start + compute + (t == late ? noise : 0));
    give_away(t);
    if (__atomic_add_fetch(&left, 1, __ATOMIC_ACQ_REL) == threads) sem_post(&all_left);
  }
}

// One iteration at the sender: when the first and the last were ready.
static void send_one(double* first, double* last) {
  through = left = 0;
  began = 0;
  if (way >= kPart) MPI_Start(&requests[0]);
  MPI_Recv(NULL, 0, MPI_BYTE, 1, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  pthread_barrier_wait(&begin);
  while (sem_wait(&all_left) != 0) continue;
  if (way >= kPart) MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  sleep_until(bench_now() + kRest);
  *first = 1e300, *last = 0;
  for (int t = 0; t < threads; t++) {
    if (ready_at[t] == 0) continue;
    if (ready_at[t] < *first) *first = ready_at[t];
    if (ready_at[t] > *last) *last = ready_at[t];
  }
}

// The same at the receiver: when the first partition and when everything was there.
static void receive_one(double* first, double* last) {
  *first = 0;
  const size_t part = bytes / (size_t)threads;
  if (way == kSingle) MPI_Irecv(data, (int)bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &requests[0]);
  for (int t = 0; way == kMulti && t < threads; t++)
    MPI_Irecv((char*)data + (size_t)t * part, (int)part, MPI_BYTE, 0, t, MPI_COMM_WORLD, &requests[t]);
  if (way >= kPart) MPI_Start(&requests[0]);
  MPI_Send(NULL, 0, MPI_BYTE, 0, 1000, MPI_COMM_WORLD);
  for (int flag = 0, t = 0; way == kArrive && !flag; t = (t + 1) % threads) {
    MPI_Parrived(requests[0], t, &flag);
    if (flag) *first = bench_now();
  }
  MPI_Waitall(way == kMulti ? threads : 1, requests, MPI_STATUSES_IGNORE);
  *last = bench_now();
  for (size_t i = 0; i < bytes / sizeof *data; i++)
    if (data[i] != word_at(i)) fail("partitioned: word %zu of %zu bytes is wrong in iteration %d", i, bytes, iteration);
}

static void measure(int iterations, const char* suffix) {
  static double times[kMostIterations], early[kMostIterations], overlap[kMostIterations];
  char metric[80];
  snprintf(metric, sizeof metric, "%s-%s", kWays[way], suffix);
  if (rank == 0) bench_begin(metric, bytes, way == kArrive ? "us" : "MiB/s");
  data = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  memset(data, 0, bytes);
  const int parts = way == kArrive || rank == 0 ? threads : 1;
  if (way >= kPart && rank == 0)
    MPI_Psend_init(data, parts, (MPI_Count)(bytes / (size_t)parts), MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   requests);
  if (way >= kPart && rank == 1)
    MPI_Precv_init(data, parts, (MPI_Count)(bytes / (size_t)parts), MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_INFO_NULL,
                   requests);
  for (int i = -kWarmUp; i < iterations; i++) {
    double mine[2], theirs[2];
    iteration++;
    rank == 0 ? send_one(&mine[0], &mine[1]) : receive_one(&mine[0], &mine[1]);
    if (rank == 1) MPI_Send(mine, 2, MPI_DOUBLE, 0, 1001, MPI_COMM_WORLD);
    if (rank == 0) MPI_Recv(theirs, 2, MPI_DOUBLE, 1, 1001, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 1 || i < 0) continue;
    times[i] = theirs[1] - mine[1];
    early[i] = 1e6 * (theirs[1] - theirs[0]);
    overlap[i] = (theirs[1] - theirs[0]) / (mine[1] - mine[0]);
  }
  if (way >= kPart) MPI_Request_free(&requests[0]);
  free(data);
  if (rank != 0) return;
  const double time = bench_median(times, iterations);
  if (way != kArrive) return bench_result(metric, bytes, (double)bytes / time / (1 << 20), "MiB/s");
  bench_result(metric, bytes, 1e6 * time, "us");
  snprintf(metric, sizeof metric, "early-%s", suffix);
  bench_result(metric, bytes, bench_median(early, iterations), "us");
  snprintf(metric, sizeof metric, "overlap-%s", suffix);
  bench_result(metric, bytes, bench_median(overlap, iterations), "x");
}

int main(int argc, char** argv) {
  int provided;
  if (argc < 7) fail("partitioned: WAY THREADS COMPUTE_MS NOISE_PERCENT ITERATIONS BYTES...");
  while (way <= kArrive && strcmp(argv[1], kWays[way]) != 0) way++;
  threads = atoi(argv[2]);
  compute = 1e-3 * atof(argv[3]);
  noise = compute * atof(argv[4]) / 100;
  const int iterations = atoi(argv[5]);
  if (way > kArrive || threads < 1 || threads > kMost || iterations < 1 || iterations > kMostIterations)
    fail("partitioned: no such way, or number of threads or iterations");
  // What is best for each: one thread at a time sends a single message.
  const int wanted = way == kSingle ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
  MPI_Init_thread(&argc, &argv, wanted, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided < wanted) fail("partitioned: the library gives thread level %d, not %d", provided, wanted);
  char suffix[60];
  snprintf(suffix, sizeof suffix, "%s-%s-%s", argv[2], argv[3], argv[4]);
  pthread_t ids[kMost];
  pthread_barrier_init(&begin, NULL, (unsigned)threads + 1);
  pthread_barrier_init(&written, NULL, (unsigned)threads);
  sem_init(&all_left, 0, 0);
  for (int t = 0; rank == 0 && t < threads; t++) pthread_create(&ids[t], NULL, work, (void*)(intptr_t)t);
  for (int i = 6; i < argc; i++) {
    bytes = strtoull(argv[i], NULL, 10);
    if (bytes % ((size_t)threads * sizeof *data) != 0) fail("partitioned: %zu bytes are no multiple", bytes);
    measure(iterations, suffix);
  }
  quit = 1;
  if (rank == 0) pthread_barrier_wait(&begin);
  for (int t = 0; rank == 0 && t < threads; t++) pthread_join(ids[t], NULL);
  MPI_Finalize();
  return 0;
}
