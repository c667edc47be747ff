// The bandwidth of messages that match behind a queue of D receives that never match.
//   bandwidth <warm|cold> <bytes> <D>...
//
// Problem: an application that keeps receives for late messages pays for them with every message that is matched behind them,
//          and more when its own work has emptied the caches meanwhile (Figures 9 and 10 of Dosanjh and others, "The
//          Upcoming Storm: The Implications of Increasing Core Count on Scalable System Software", 2018).
// Method:  rank 1 posts D receives of other tags from rank 0 on the same communicator. An iteration then posts a window of
//          receives, tells rank 0 at which time to begin, sweeps the caches when they are to be cold (it writes twice the
//          third-level cache), and waits for that time. Timed is from then until MPI_Waitall has returned, so every message finds
//          its receive posted, behind D others. The figure is a window's bytes by the median of the times, in MB/s (10^6 bytes).
//          A window is kWindow messages, fewer where that is more than kWindowBytes.
//          Rank 0 is told beforehand and goes by the clock of the node, not by a message: it is awake at that time however long
//          rank 1 sweeps, and nothing comes to rank 1 that would walk its queue and so warm it. A sweep that took longer than
//          foreseen does not count.
// Cost:    iterations go on for kSeconds of timed and untimed parts together, kFewest of them at least.
// Checked: of the stream, the first and the last byte of every message, all bytes while warming up; of the D, which the other rank
//          sends at the end, that each is what its tag says and that none has completed before.
#include "../common/bench.h"
#include "../common/fail.h"

#include <mpi.h>
#include <unistd.h>

enum { kWindow = 64, kWindowBytes = 4 << 20, kFewest = 4, kMost = 20000, kMaxDepth = 32000 };
enum { kStream, kReady, kBegin, kFirstOther };  // tags
static const double kSeconds = 0.25, kLead = 100e-6;

struct Point {
  int rank, bytes, depth, window;
  size_t sweep;  // bytes; 0: the caches stay warm
  double lead;   // seconds from telling rank 0 until it begins
  char *data, *swept;
  int others[kMaxDepth];
  MPI_Request waiting[kMaxDepth], requests[kWindow];
  double times[kMost];
};

// Of message `place` of an iteration; never 0, which is what a receiver's buffer holds before.
static char byte_of(int iteration, int place) { return (char)(1 + (iteration * kWindow + place) % 127); }

static char* message(struct Point* point, int place) { return point->data + (size_t)place * (size_t)point->bytes; }

// Asleep for most of it, so that the scheduler owes it the core when it is time, whoever else wants it.
static void wait_until(double start) {
  double wake = start - kLead;
  struct timespec t = {(time_t)wake, (long)(1e9 * (wake - (double)(time_t)wake))};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
  while (bench_now() < start) continue;
}

static void send_all(struct Point* point) {
  for (int iteration = 0;; iteration++) {
    double start;  // 0: no more
    for (int i = 0; i < point->window; i++) {
      char* data = message(point, i);
      data[0] = data[point->bytes - 1] = byte_of(iteration, i);
      if (iteration == 0) memset(data, byte_of(0, i), (size_t)point->bytes);
    }
    MPI_Send(NULL, 0, MPI_BYTE, 1, kReady, MPI_COMM_WORLD);
    MPI_Recv(&start, 1, MPI_DOUBLE, 1, kBegin, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (start == 0) break;
    wait_until(start);
    for (int i = 0; i < point->window; i++)
      MPI_Isend(message(point, i), point->bytes, MPI_BYTE, 1, kStream, MPI_COMM_WORLD, &point->requests[i]);
    MPI_Waitall(point->window, point->requests, MPI_STATUSES_IGNORE);
  }
  for (int i = 0; i < point->depth; i++) MPI_Send(&i, 1, MPI_INT, 1, kFirstOther + i, MPI_COMM_WORLD);
}

static void check(struct Point* point, int iteration) {
  for (int i = 0; i < point->window; i++) {
    char *data = message(point, i), wanted = byte_of(iteration, i);
    for (int b = 0; b < point->bytes; b += iteration == 0 || point->bytes == 1 ? 1 : point->bytes - 1)
      if (data[b] != wanted) fail("bandwidth: byte %d of message %d is %d, not %d", b, i, data[b], wanted);
    data[0] = data[point->bytes - 1] = 0;
  }
}

static void sweep(struct Point* point) {
  double start = bench_now();
  memset(point->swept, ++point->swept[0], point->sweep);
  double took = bench_now() - start;
  if (1.2 * took > point->lead) point->lead = 1.2 * took;
}

// Seconds; 0: does not count.
static double one_window(struct Point* point) {
  for (int i = 0; i < point->window; i++)
    MPI_Irecv(message(point, i), point->bytes, MPI_BYTE, 0, kStream, MPI_COMM_WORLD, &point->requests[i]);
  double start = bench_now() + point->lead;
  MPI_Send(&start, 1, MPI_DOUBLE, 0, kBegin, MPI_COMM_WORLD);
  if (point->sweep) sweep(point);
  int late = bench_now() > start;
  while (bench_now() < start) continue;
  MPI_Waitall(point->window, point->requests, MPI_STATUSES_IGNORE);
  return late ? 0 : bench_now() - start;
}

static void receive_others(struct Point* point) {
  const double no_more = 0;
  for (int i = 0; i < point->depth; i++)
    if (point->others[i] != -1) fail("bandwidth: receive %d of the queue completed, and has no message", i);
  MPI_Send(&no_more, 1, MPI_DOUBLE, 0, kBegin, MPI_COMM_WORLD);
  MPI_Waitall(point->depth, point->waiting, MPI_STATUSES_IGNORE);
  for (int i = 0; i < point->depth; i++)
    if (point->others[i] != i) fail("bandwidth: receive %d of the queue got message %d", i, point->others[i]);
}

// MB/s
static double receive_all(struct Point* point) {
  double begin = bench_now();
  int windows = 0;
  point->lead = kLead;
  if (point->sweep) sweep(point);
  for (int i = 0; i < point->depth; i++) {
    point->others[i] = -1;
    MPI_Irecv(&point->others[i], 1, MPI_INT, 0, kFirstOther + i, MPI_COMM_WORLD, &point->waiting[i]);
  }
  for (int iteration = 0;; iteration++) {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, kReady, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (windows == kMost || (windows >= kFewest && bench_now() - begin > kSeconds)) break;
    double took = one_window(point);
    check(point, iteration);
    if (iteration > 0 && took > 0) point->times[windows++] = took;  // the first one warms up
  }
  receive_others(point);
  return (double)point->window * point->bytes / bench_median(point->times, windows) / 1e6;
}

static size_t swept_bytes(void) {
  long third = sysconf(_SC_LEVEL3_CACHE_SIZE);
  return third > 0 ? 2 * (size_t)third : 64u << 20;
}

int main(int argc, char** argv) {
  static struct Point point;
  int size, cold = argc > 1 && strcmp(argv[1], "cold") == 0;
  char metric[64];
  bench_pin();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &point.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  point.bytes = argc > 2 ? atoi(argv[2]) : 0;
  if (size != 2 || argc < 4 || point.bytes < 1 || (!cold && strcmp(argv[1], "warm") != 0)) {
    if (point.rank == 0) fprintf(stderr, "bandwidth: needs 2 ranks and: warm|cold <bytes> <D>...\n");
    MPI_Finalize();
    return 2;
  }
  point.window = kWindowBytes / point.bytes < kWindow ? kWindowBytes / point.bytes : kWindow;
  if (point.window < 1) point.window = 1;
  point.data = calloc((size_t)point.window, (size_t)point.bytes);
  point.sweep = cold ? swept_bytes() : 0;
  point.swept = calloc(1, point.sweep + 1);
  snprintf(metric, sizeof metric, "bandwidth-%s-%d", argv[1], point.bytes);
  for (int i = 3; i < argc; i++) {
    point.depth = atoi(argv[i]);
    if (point.depth < 0 || point.depth > kMaxDepth) fail("bandwidth: D is 0 to %d, not %s", kMaxDepth, argv[i]);
    if (point.rank == 0) {
      send_all(&point);
      continue;
    }
    bench_begin(metric, (size_t)point.depth, "MB/s");
    bench_result(metric, (size_t)point.depth, receive_all(&point), "MB/s");
  }
  MPI_Finalize();
  return 0;
}
