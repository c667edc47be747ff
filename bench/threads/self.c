// Each thread of one process sends messages of 8 bytes to itself, on a communicator of its own (a copy of MPI_COMM_SELF):
// nothing is shared, so twice the threads on twice the cores should make twice the messages.
//   self <threads>...      rate summed over the threads; with 1 first, also how many times that rate the others reach
#include "threads.h"

enum { kBatch = 256 };
static const double kSeconds = 0.25;

struct Point {
  MPI_Comm comm[kMaxThreads];
  double start, seconds, rates[kMaxThreads];  // M/s
};

static void run_self(void* context, int thread) {
  struct Point* point = context;
  MPI_Comm comm = point->comm[thread];
  MPI_Request request;
  unsigned long messages = 0, out, in;
  double now;
  do {
    for (int i = 0; i < kBatch; i++, messages++) {
      out = messages << 8 | (unsigned long)thread;
      in = ~out;
      MPI_Irecv(&in, sizeof in, MPI_BYTE, 0, 1, comm, &request);
      MPI_Send(&out, sizeof out, MPI_BYTE, 0, 1, comm);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      if (in != out) fail("self: thread %d sent %lx and received %lx", thread, out, in);
    }
    now = bench_now();
  } while (now - point->start < point->seconds);
  point->rates[thread] = (double)messages / (now - point->start) / 1e6;
}

static double measure(int threads) {
  static struct Point point;
  double sum = 0;
  for (int t = 0; t < threads; t++) MPI_Comm_dup(MPI_COMM_SELF, &point.comm[t]);
  for (int warm = 1; warm >= 0; warm--) {
    point.seconds = warm ? 0.02 : kSeconds;
    point.start = bench_now();
    threads_run(threads, run_self, &point);
  }
  for (int t = 0; t < threads; t++) sum += point.rates[t];
  for (int t = 0; t < threads; t++) MPI_Comm_free(&point.comm[t]);
  return sum;
}

int main(int argc, char** argv) {
  double one = 0;
  world_init(&argc, &argv, "self");
  if (world.size != 1 || argc < 2) fail("self: needs 1 rank and some numbers of threads");
  for (int i = 1; i < argc; i++) {
    int threads = atoi(argv[i]);
    if (threads < 1 || threads > kMaxThreads) fail("self: 1 to %d threads, not %s", kMaxThreads, argv[i]);
    bench_begin("self", (size_t)threads, "M/s");
    double rate = measure(threads);
    bench_result("self", (size_t)threads, rate, "M/s");
    if (threads == 1) one = rate;
    if (threads > 1 && one > 0) bench_result("self-speedup", (size_t)threads, rate / one, "x");
  }
  MPI_Finalize();
  return 0;
}
