// Long messages by how late their receive is posted: how long the receive takes, and what came in vain before it.
//   long WAY WHEN [bytes]...    WAY names the rows; Heddle's way is set by HEDDLE_LONG_MESSAGES
//
// Method:  rank 1 asks for each message (a go of no bytes), so that both begin together. `posted`: its receive is posted before the go, and
//          takes from the go on. `found`: it is posted when a probe has found the message, `late` 100 µs and `later` 1 ms after that, while
//          the rank polls for something else; it takes from its posting on. The median of several rounds; the bytes that the
//          library has dropped, a message, by its performance variable where it has one.
#include "../common/bench.h"

#include <mpi.h>

enum { kLeast = 20, kMost = 200, kGo = 1, kData = 2, kOther = 3 };
static const double kSeconds = 0.2;  // of all rounds of a point, about

static const struct {
  const char* name;
  int posted;
  double delay;  // s
} kWhen[] = {{"posted", 1, 0}, {"found", 0, 0}, {"late", 0, 100e-6}, {"later", 0, 1e-3}};
enum { kWhens = sizeof kWhen / sizeof *kWhen };

static MPI_T_pvar_session session;
static MPI_T_pvar_handle variable;
static int variable_length;  // 0: the library has no such thing

static void find_variable(void) {
  int provided, index;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (MPI_T_pvar_get_index("flow_dropped_bytes", MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) return;
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_handle_alloc(session, index, NULL, &variable, &variable_length);
  MPI_T_pvar_start(session, variable);
}

static double dropped(void) {
  unsigned long values[256];
  double sum = 0;
  if (variable_length == 0) return 0;
  MPI_T_pvar_read(session, variable, values);
  for (int i = 0; i < variable_length; i++) sum += (double)values[i];
  return sum;
}

static void go(void) { MPI_Send(NULL, 0, MPI_BYTE, 0, kGo, MPI_COMM_WORLD); }

// How long the receive took, µs.
static double receive(char* in, int bytes, int when) {
  MPI_Request request;
  double start;
  if (kWhen[when].posted) {
    MPI_Irecv(in, bytes, MPI_BYTE, 0, kData, MPI_COMM_WORLD, &request);
    start = bench_now();
    go();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    int flag;
    go();
    MPI_Probe(0, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (start = bench_now(); bench_now() - start < kWhen[when].delay;)
      MPI_Iprobe(0, kOther, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
    start = bench_now();
    MPI_Recv(in, bytes, MPI_BYTE, 0, kData, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  return (bench_now() - start) * 1e6;
}

static void send(char* out, int bytes) {
  MPI_Recv(NULL, 0, MPI_BYTE, 1, kGo, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Send(out, bytes, MPI_BYTE, 1, kData, MPI_COMM_WORLD);
}

static double measure(char* data, int bytes, int when, int rounds, int rank) {
  double us[kMost];
  for (int i = 0; i < rounds; i++) {
    if (rank == 1) us[i] = receive(data, bytes, when);
    if (rank == 0) send(data, bytes);
  }
  return rank == 1 ? bench_median(us, rounds) : 0;
}

static void point(const char* way, char* data, int bytes, int when, int rank) {
  char metric[80], in_vain[80];
  snprintf(metric, sizeof metric, "long-%s-%s", kWhen[when].name, way);
  snprintf(in_vain, sizeof in_vain, "dropped-%s-%s", kWhen[when].name, way);
  if (rank == 1) bench_begin(metric, (size_t)bytes, "us");
  measure(data, bytes, when, 5, rank);
  double once = measure(data, bytes, when, 5, rank) * 1e-6 + kWhen[when].delay;
  int rounds = once > 0 && kSeconds / once < kMost ? (int)(kSeconds / once) : kMost;
  if (rounds < kLeast) rounds = kLeast;
  MPI_Bcast(&rounds, 1, MPI_INT, 1, MPI_COMM_WORLD);
  const double before = dropped();
  const double us = measure(data, bytes, when, rounds, rank);
  if (rank != 1) return;
  bench_result(metric, (size_t)bytes, us, "us");
  if (variable_length != 0) bench_result(in_vain, (size_t)bytes, (dropped() - before) / rounds, "B");
}

int main(int argc, char** argv) {
  bench_pin();
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int when = 0;
  while (argc > 3 && when < kWhens && strcmp(argv[2], kWhen[when].name) != 0) when++;
  if (size != 2 || argc < 4 || when == kWhens) {
    if (rank == 0) fprintf(stderr, "long: needs 2 ranks, has %d; a way; posted, found, late or later; sizes\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  find_variable();
  for (int i = 3; i < argc; i++) {
    const int bytes = atoi(argv[i]);
    char* data = aligned_alloc(4096, ((size_t)bytes + 4095) / 4096 * 4096);
    memset(data, rank, (size_t)bytes);
    point(argv[1], data, bytes, when, rank);
    free(data);
  }
  if (variable_length != 0) MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  MPI_Finalize();
  return 0;
}
