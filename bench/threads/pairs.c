// Messages per second of pairs of threads, summed: thread t of rank 0 sends windows of 64 (16 MiB at most) to thread t of
// rank 1, which answers each window with an empty message.
//   pairs <kind> threads <count>...             8 bytes, that many threads in each of 2 processes
//   pairs <kind> bytes <threads> <size>...      sizes, with that many threads
//   pairs <kind> oneway <count>...              8 bytes, windows of one: the mean of their one-way times instead
//   pairs everywhere threads 1                  as many pairs as there are ranks / 2
// The kinds are in threads.h. A sender goes on for kSeconds; its last window says so in the messages themselves. So the end
// comes however slow a library is, unless a window never ends. Each message is checked: its first byte tells the window,
// its second the place in it (where messages may not overtake), the last one the thread; while warming up all bytes.
#include "threads.h"

enum { kWindow = 64, kMostBytes = 16 << 20, kWarm = 4 };
static const double kSeconds = 0.2;

struct Point {
  struct Way ways[kMaxThreads];
  int sends, bytes, window, ordered, warm;
  double start, rates[kMaxThreads];  // M/s
};

static void fill(char* message, int bytes, int place, int thread) {
  memset(message, 1 + (thread & 63), (size_t)bytes);
  if (bytes > 2) message[1] = (char)place;
}

static void check(const struct Point* point, const char* message, int head, int place, int thread) {
  int bytes = point->bytes, from = point->warm ? (bytes > 2 ? 2 : 1) : bytes - 1;
  if ((message[0] & 127) != (head & 127)) fail("pairs: window %d brought %d", head & 127, message[0] & 127);
  if (bytes > 2 && point->ordered && message[1] != (char)place) fail("pairs: message %d brought %d", place, message[1]);
  for (int b = from > 0 ? from : 1; b < bytes; b++)
    if (message[b] != 1 + (thread & 63)) fail("pairs: byte %d of %d is %d", b, bytes, message[b]);
}

static void send_windows(struct Point* point, int thread, char* data) {
  struct Way way = point->ways[thread];
  MPI_Request requests[kWindow];
  int peer = way.first + way.step * thread, bytes = point->bytes, window = point->window, windows = 0, stop = 0;
  for (int i = 0; i < window; i++) fill(data + (size_t)i * (size_t)bytes, bytes, i, thread);
  for (; !stop; windows++) {
    stop = point->warm ? windows + 1 == kWarm : bench_now() - point->start >= kSeconds;
    for (int i = 0; i < window; i++) {
      data[(size_t)i * (size_t)bytes] = (char)(stop << 7 | (windows & 127));
      MPI_Isend(data + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, peer, way.tag, way.comm, &requests[i]);
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, peer, way.tag, way.comm, MPI_STATUS_IGNORE);
  }
  point->rates[thread] = (double)windows * window / (bench_now() - point->start) / 1e6;
}

static void receive_windows(struct Point* point, int thread, char* data) {
  struct Way way = point->ways[thread];
  MPI_Request requests[kWindow];
  int peer = way.first + way.step * thread, bytes = point->bytes, window = point->window, stop = 0;
  for (int windows = 0; !stop; windows++) {
    for (int i = 0; i < window; i++)
      MPI_Irecv(data + (size_t)i * (size_t)bytes, bytes, MPI_BYTE, peer, way.tag, way.comm, &requests[i]);
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < window; i++) check(point, data + (size_t)i * (size_t)bytes, windows, i, thread);
    stop = data[0] >> 7 & 1;
    MPI_Send(NULL, 0, MPI_BYTE, peer, way.tag, way.comm);
  }
  point->rates[thread] = 0;
}

static void run_pair(void* context, int thread) {
  struct Point* point = context;
  char* data = malloc((size_t)point->window * (size_t)point->bytes);
  if (point->sends)
    send_windows(point, thread, data);
  else
    receive_windows(point, thread, data);
  free(data);
}

static double measure(const char* kind, int threads, int bytes, int window) {
  static struct Point point;
  double mine = 0;
  point.sends = world.rank < world.size / 2;
  point.bytes = bytes;
  point.window = window * bytes > kMostBytes ? kMostBytes / bytes : window;
  point.ordered = strcmp(kind, "hints") != 0;
  ways_make(kind, threads, point.ways);
  for (point.warm = 1; point.warm >= 0; point.warm--) {
    MPI_Barrier(MPI_COMM_WORLD);
    point.start = bench_now();
    threads_run(threads, run_pair, &point);
  }
  for (int t = 0; t < threads; t++) mine += point.rates[t];
  ways_free(threads, point.ways);
  return sum_of_all(mine);
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  int by_bytes = argc > 2 && strcmp(argv[2], "bytes") == 0, oneway = argc > 2 && strcmp(argv[2], "oneway") == 0;
  if (argc < 4 + by_bytes) {
    fprintf(stderr, "pairs: <kind> threads|oneway <count>... or <kind> bytes <threads> <size>...\n");
    return 2;
  }
  world_init(&argc, &argv, kind);
  if (world.size % 2 != 0 || (world.size != 2 && !world.everywhere)) fail("pairs: needs 2 ranks, has %d", world.size);
  if (strcmp(kind, "endpoints") == 0 && !has_endpoints()) {
    if (world.rank == 0) printf("absent\n");
    argc = 0;
  }
  for (int i = 3 + by_bytes; i < argc; i++) {
    int given = atoi(argv[by_bytes ? 3 : i]), threads = world.everywhere ? 1 : given;
    int bytes = by_bytes ? atoi(argv[i]) : 8, size = by_bytes ? bytes : threads * world.size / 2;
    char metric[64];
    if (by_bytes)
      snprintf(metric, sizeof metric, "sizes-%s-%d", kind, threads * world.size / 2);
    else
      snprintf(metric, sizeof metric, "%s-%s", oneway ? "oneway" : "pairs", kind);
    const char* unit = oneway ? "us" : "M/s";
    if (world.rank == 0) bench_begin(metric, (size_t)size, unit);
    double rate = measure(kind, threads, bytes, oneway ? 1 : kWindow);
    // Of each pair two messages for each that counts, one there and one back.
    if (world.rank == 0) bench_result(metric, (size_t)size, oneway ? size / rate / 2 : rate, unit);
  }
  MPI_Finalize();
  return 0;
}
