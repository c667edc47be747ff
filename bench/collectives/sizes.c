// Collectives by size: what one of a row of them takes.
//   sizes <barrier|bcast|reduce|allreduce|reducescatter|allgather|alltoall> <bytes>...
// Bytes are of the vector; of each rank's block in reducescatter, allgather, alltoall. Each form is measured: blocking; nonblocking,
// waited for at once; persistent; init, to make and to free the request of a persistent one. A batch takes kSeconds or so; the forms take
// turns, fewer when one has taken kPatience in them; the slowest rank counts. A last one is checked.
#include "../common/bench.h"

#include <mpi.h>

#include "../common/fail.h"

enum { kWarm = 3, kMost = 1 << 15, kTurns = 7, kFewestTurns = 3 };
static const double kSeconds = 0.01, kPatience = 2;

typedef enum { kBarrier, kBcast, kReduce, kAllreduce, kReduceScatter, kAllgather, kAlltoall, kCollectives } Collective;
static const char* const names[] = {"barrier",       "bcast",     "reduce",  "allreduce",
                                    "reducescatter", "allgather", "alltoall"};

typedef enum { kInit = 3, kForms } Form;
static const char* const forms[kForms] = {"blocking", "nonblocking", "persistent", "init"};

static int rank, size, n, all;  // doubles in a block, and of a rank's in all
static double *in, *out;

static void call(Collective what) {
  const MPI_Comm w = MPI_COMM_WORLD;
  switch (what) {
    case kBarrier:
      MPI_Barrier(w);
      break;
    case kBcast:
      MPI_Bcast(rank == 0 ? in : out, n, MPI_DOUBLE, 0, w);
      break;
    case kReduce:
      MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, w);
      break;
    case kAllreduce:
      MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, w);
      break;
    case kReduceScatter:
      MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, w);
      break;
    case kAllgather:
      MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w);
      break;
    case kAlltoall:
      MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w);
      break;
    case kCollectives:
      break;
  }
}

static MPI_Request begin(Collective what) {
  const MPI_Comm w = MPI_COMM_WORLD;
  MPI_Request r = MPI_REQUEST_NULL;
  switch (what) {
    case kBarrier:
      MPI_Ibarrier(w, &r);
      break;
    case kBcast:
      MPI_Ibcast(rank == 0 ? in : out, n, MPI_DOUBLE, 0, w, &r);
      break;
    case kReduce:
      MPI_Ireduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, w, &r);
      break;
    case kAllreduce:
      MPI_Iallreduce(in, out, n, MPI_DOUBLE, MPI_SUM, w, &r);
      break;
    case kReduceScatter:
      MPI_Ireduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, w, &r);
      break;
    case kAllgather:
      MPI_Iallgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w, &r);
      break;
    case kAlltoall:
      MPI_Ialltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w, &r);
      break;
    case kCollectives:
      break;
  }
  return r;
}

static MPI_Request make(Collective what) {
  const MPI_Comm w = MPI_COMM_WORLD;
  const MPI_Info i = MPI_INFO_NULL;
  MPI_Request r = MPI_REQUEST_NULL;
  switch (what) {
    case kBarrier:
      MPI_Barrier_init(w, i, &r);
      break;
    case kBcast:
      MPI_Bcast_init(rank == 0 ? in : out, n, MPI_DOUBLE, 0, w, i, &r);
      break;
    case kReduce:
      MPI_Reduce_init(in, out, n, MPI_DOUBLE, MPI_SUM, 0, w, i, &r);
      break;
    case kAllreduce:
      MPI_Allreduce_init(in, out, n, MPI_DOUBLE, MPI_SUM, w, i, &r);
      break;
    case kReduceScatter:
      MPI_Reduce_scatter_block_init(in, out, n, MPI_DOUBLE, MPI_SUM, w, i, &r);
      break;
    case kAllgather:
      MPI_Allgather_init(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w, i, &r);
      break;
    case kAlltoall:
      MPI_Alltoall_init(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w, i, &r);
      break;
    case kCollectives:
      break;
  }
  return r;
}

// Rank r's element i; block b of its vector begins at element b * n.
static double element(int r, int i) { return r + 1 + i % 7; }

static void check(Collective what) {
  const int i = n - 1;
  double sum = 0, want = 0, got = n > 0 ? out[i] : 0;
  const int at = what == kReduceScatter ? rank * n + i : i;
  for (int r = 0; r < size; r++) sum += element(r, at);
  if (what == kBarrier || n == 0) return;
  if (what == kBcast) want = element(0, i), got = rank == 0 ? want : got;
  if (what == kReduce) want = sum, got = rank == 0 ? got : want;
  if (what == kAllreduce || what == kReduceScatter) want = sum;
  if (what == kAllgather) want = element(size - 1, i), got = out[(size - 1) * n + i];
  if (what == kAlltoall) want = element(size - 1, rank * n + i), got = out[(size - 1) * n + i];
  if (got != want) fail("%s of %d doubles: rank %d has %g, not %g", names[what], n, rank, got, want);
}

static void one(Collective what, const char* form, MPI_Request* request) {
  if (strcmp(form, "blocking") == 0) return call(what);
  if (strcmp(form, "nonblocking") == 0) {
    MPI_Request begun = begin(what);
    MPI_Wait(&begun, MPI_STATUS_IGNORE);
    return;
  }
  if (strcmp(form, "init") == 0) {
    MPI_Request made = make(what);
    MPI_Request_free(&made);
    return;
  }
  MPI_Start(request);
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

// Seconds of so many, by the slowest rank.
static double batch_of(Collective what, const char* form, MPI_Request* request, int count) {
  MPI_Barrier(MPI_COMM_WORLD);
  double mine = bench_now(), slowest;
  for (int i = 0; i < count; i++) one(what, form, request);
  mine = bench_now() - mine;
  MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

// us of one of each form: the median of batches in turns, so that the forms meet the machine in one mood. All ranks know `slowest`, and
// so how many a batch has.
static void measure(Collective what, size_t bytes) {
  MPI_Request request = make(what);
  double us[kForms][kTurns], spent[kForms] = {0};
  int counts[kForms], turns[kForms] = {0};
  for (int f = 0; f < kForms; f++) {
    double took = batch_of(what, forms[f], &request, kWarm);
    for (counts[f] = 1; took < kSeconds && counts[f] < kMost; counts[f] *= 2)
      took = batch_of(what, forms[f], &request, 2 * counts[f]);
  }
  for (int turn = 0; turn < kTurns; turn++) {
    for (int f = 0; f < kForms; f++) {
      if (turn >= kFewestTurns && spent[f] > kPatience) continue;
      const double took = batch_of(what, forms[f], &request, counts[f]);
      us[f][turns[f]++] = took / counts[f] * 1e6;
      spent[f] += took;
    }
  }
  for (int f = 0; f < kForms; f++) {
    for (int i = 0; i < all; i++) out[i] = 0;
    if (f < kInit) one(what, forms[f], &request), check(what);  // once more, and what comes is looked at
    qsort(us[f], (size_t)turns[f], sizeof us[f][0], bench_compare);
    char metric[64];
    snprintf(metric, sizeof metric, "coll-%s-%s-%d", forms[f], names[what], size);
    if (rank == 0) bench_result(metric, bytes, us[f][turns[f] / 2], "us");
  }
  MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  bench_pin();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  Collective what = kBarrier;
  while (argc > 2 && what < kCollectives && strcmp(names[what], argv[1]) != 0) what++;
  if (argc < 3 || what == kCollectives) fail("sizes COLLECTIVE BYTES...");
  for (int a = 2; a < argc; a++) {
    const size_t bytes = strtoull(argv[a], NULL, 10);
    char metric[64];
    snprintf(metric, sizeof metric, "coll-%s-%s-%d", forms[0], names[what], size);
    if (rank == 0) bench_begin(metric, bytes, "us");
    n = (int)(bytes / sizeof(double));
    all = what < kReduceScatter ? n : n * size;
    in = malloc((size_t)(all + 1) * sizeof *in);
    out = malloc((size_t)(all + 1) * sizeof *out);
    if (in == NULL || out == NULL) fail("no memory for %d doubles", all);
    for (int i = 0; i < all; i++) in[i] = element(rank, i), out[i] = 0;
    measure(what, bytes);
    free(in);
    free(out);
  }
  MPI_Finalize();
  return 0;
}
