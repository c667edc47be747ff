// What the communication of a task runtime (Legion) looks like: in each of two processes one thread receives whatever comes
// from whomever, by polling, and all the others send it small messages.
//   poll <kind> <iprobe|irecv> <senders>...     messages per second that both receivers take in
//     kinds      of threads.h: own (the receiver polls every communicator), one, endpoints
//     iprobe     MPI_Iprobe of any source, then MPI_Recv
//     irecv      a receive from any source stands ready, asked about with MPI_Test
// A sender sends kWindow messages of 8 bytes, and waits for one empty answer of the receiver. It goes on for kSeconds; the last
// message says so. The receiver checks that each sender's messages come in their order.
//
// Thread 0 receives, threads 1.. send; the receiver never gives its core away by itself: how that works out with more threads
// than cores is the library's affair.
#include "threads.h"

enum { kWindow = 32, kData = 0, kAnswer = 1, kLast = 1 << 30 };
static const double kSeconds = 0.2;

struct Message {
  unsigned sender, number;  // kLast in `sender`: no more from this one
};

struct Point {
  struct Way ways[kMaxThreads];
  unsigned next[kMaxThreads];
  int senders, probing;
  double start, received, rate;
};

static void send_messages(struct Point* point, int t) {
  struct Way way = point->ways[t];
  struct Message messages[kWindow];
  MPI_Request requests[kWindow];
  unsigned number = 0;
  for (int last = 0; !last;) {
    last = bench_now() - point->start >= kSeconds;
    for (int i = 0; i < kWindow; i++) {
      messages[i] = (struct Message){(unsigned)t | (last && i == kWindow - 1 ? kLast : 0), number++};
      MPI_Isend(&messages[i], sizeof *messages, MPI_BYTE, way.first, kData, way.comm, &requests[i]);
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    MPI_Recv(NULL, 0, MPI_BYTE, way.first, kAnswer + t, way.comm, MPI_STATUS_IGNORE);
  }
}

// Of a message that came: 1 when its sender has no more.
static int take(struct Point* point, struct Message message) {
  unsigned t = message.sender & ~(unsigned)kLast;
  if (t < 1 || t > (unsigned)point->senders) fail("poll: a message of sender %u", t);
  if (message.number != point->next[t])
    fail("poll: sender %u: message %u instead of %u", t, message.number, point->next[t]);
  point->received++;
  if (++point->next[t] % kWindow == 0) {  // by the receiver's own way to it: an endpoint sends as itself
    struct Way way = point->ways[point->ways[0].step ? 0 : t];
    MPI_Send(NULL, 0, MPI_BYTE, way.first + way.step * (int)t, kAnswer + (int)t, way.comm);
  }
  return (message.sender & kLast) != 0;
}

// The communicators to poll: those of the senders where each has its own, otherwise one.
static void receive_by_probe(struct Point* point, const MPI_Comm* comms, int polled) {
  for (int left = point->senders; left > 0;)
    for (int c = 0; c < polled; c++) {
      MPI_Status status;
      struct Message message;
      int there;
      MPI_Iprobe(MPI_ANY_SOURCE, kData, comms[c], &there, &status);
      if (!there) continue;
      MPI_Recv(&message, sizeof message, MPI_BYTE, status.MPI_SOURCE, kData, comms[c], MPI_STATUS_IGNORE);
      left -= take(point, message);
    }
}

static void receive_by_test(struct Point* point, const MPI_Comm* comms, int polled) {
  struct Message messages[kMaxThreads];
  MPI_Request requests[kMaxThreads];
  int lefts[kMaxThreads], left = point->senders;
  for (int c = 0; c < polled; c++) {
    lefts[c] = point->senders / polled;
    MPI_Irecv(&messages[c], sizeof *messages, MPI_BYTE, MPI_ANY_SOURCE, kData, comms[c], &requests[c]);
  }
  while (left > 0)
    for (int c = 0; c < polled; c++) {
      int done;
      if (lefts[c] == 0) continue;
      MPI_Test(&requests[c], &done, MPI_STATUS_IGNORE);
      if (!done) continue;
      int last = take(point, messages[c]);
      lefts[c] -= last, left -= last;
      if (lefts[c] > 0)
        MPI_Irecv(&messages[c], sizeof *messages, MPI_BYTE, MPI_ANY_SOURCE, kData, comms[c], &requests[c]);
    }
}

static void run_thread(void* context, int t) {
  struct Point* point = context;
  if (t > 0) {
    send_messages(point, t);
    return;
  }
  MPI_Comm comms[kMaxThreads];
  int own = point->ways[0].step == 0 && point->ways[0].comm != point->ways[1].comm, polled = own ? point->senders : 1;
  for (int c = 0; c < polled; c++) comms[c] = point->ways[own ? c + 1 : 0].comm;
  if (point->probing)
    receive_by_probe(point, comms, polled);
  else
    receive_by_test(point, comms, polled);
  point->rate = point->received / (bench_now() - point->start) / 1e6;
}

static double measure(const char* kind, int probing, int senders) {
  static struct Point point;
  memset(&point, 0, sizeof point);
  point.senders = senders;
  point.probing = probing;
  ways_make(kind, senders + 1, point.ways);
  MPI_Barrier(MPI_COMM_WORLD);
  point.start = bench_now();
  threads_run(senders + 1, run_thread, &point);
  ways_free(senders + 1, point.ways);
  return sum_of_all(point.rate);
}

int main(int argc, char** argv) {
  const char *kind = argc > 1 ? argv[1] : "", *how = argc > 2 ? argv[2] : "";
  if (argc < 4 || (strcmp(how, "iprobe") != 0 && strcmp(how, "irecv") != 0)) {
    fprintf(stderr, "poll: <own|one|endpoints> <iprobe|irecv> <senders>...\n");
    return 2;
  }
  world_init(&argc, &argv, kind);
  if (world.size != 2) fail("poll: needs 2 ranks, has %d", world.size);
  if (strcmp(kind, "endpoints") == 0 && !has_endpoints()) {
    if (world.rank == 0) printf("absent\n");
    argc = 0;
  }
  for (int i = 3; i < argc; i++) {
    char metric[64];
    snprintf(metric, sizeof metric, "%s-%s", how, kind);
    if (world.rank == 0) bench_begin(metric, (size_t)atoi(argv[i]), "M/s");
    double rate = measure(kind, strcmp(how, "iprobe") == 0, atoi(argv[i]));
    if (world.rank == 0) bench_result(metric, (size_t)atoi(argv[i]), rate, "M/s");
  }
  MPI_Finalize();
  return 0;
}
