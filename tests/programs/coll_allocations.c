// After a plan is bound nothing is allocated: a persistent collective's start and wait, and a blocking one that was called before.
// A message that comes before its receive is kept, and that takes memory, so as many allocations are let pass; and some that a ring
// which is full, or flow control, makes now and then: fewer than one in kSome runs, in most batches of them.
//   coll_allocations short|long     vectors of 1 and 100 doubles; of 20,000 and of kMost. Of blocking ones by messages, which are bound
//                                   in each call, those that need no more scratch than a schedule has in itself
#include <errno.h>

#include "check.h"

enum { kMost = 100000, kMostRanks = 8, kWarm = 40, kRuns = 20, kSome = 4, kBatches = 15 };

// The library's, the allocator of whose C++ parts calls these, too.
extern void* __libc_malloc(size_t bytes);
extern void* __libc_calloc(size_t count, size_t bytes);
extern void* __libc_realloc(void* old, size_t bytes);
extern void* __libc_memalign(size_t alignment, size_t bytes);

static long allocations;
static void count_one(void) { __atomic_fetch_add(&allocations, 1, __ATOMIC_RELAXED); }

void* malloc(size_t bytes) {
  count_one();
  return __libc_malloc(bytes);
}
void* calloc(size_t count, size_t bytes) {
  count_one();
  return __libc_calloc(count, bytes);
}
void* realloc(void* old, size_t bytes) {
  count_one();
  return __libc_realloc(old, bytes);
}
void* memalign(size_t alignment, size_t bytes) {
  count_one();
  return __libc_memalign(alignment, bytes);
}
void* aligned_alloc(size_t alignment, size_t bytes) {
  count_one();
  return __libc_memalign(alignment, bytes);
}
int posix_memalign(void** out, size_t alignment, size_t bytes) {
  count_one();
  *out = __libc_memalign(alignment, bytes);
  return *out == NULL ? ENOMEM : 0;
}

static MPI_T_pvar_session session;
static MPI_T_pvar_handle unexpected;

// Messages that came before their receive.
static long kept(void) {
  unsigned long values[16] = {0};
  long sum = 0;
  CHECK_EQ(MPI_T_pvar_read(session, unexpected, values), MPI_SUCCESS);
  for (int i = 0; i < 16; i++) sum += (long)values[i];
  return sum;
}

static double in[kMost * kMostRanks], out[kMost * kMostRanks];

typedef enum { kBarrier, kBcast, kReduce, kAllreduce, kAllgather, kAlltoall, kReduceScatter, kScan, kKinds } Kind;
static const char* const names[kKinds] = {"barrier",   "bcast",    "reduce",         "allreduce",
                                          "allgather", "alltoall", "reduce_scatter", "scan"};

static void call(Kind kind, int n) {
  const MPI_Comm w = MPI_COMM_WORLD;
  if (kind == kBarrier) MPI_Barrier(w);
  if (kind == kBcast) MPI_Bcast(world_rank == 0 ? in : out, n, MPI_DOUBLE, 0, w);
  if (kind == kReduce) MPI_Reduce(in, out, n, MPI_DOUBLE, MPI_SUM, 0, w);
  if (kind == kAllreduce) MPI_Allreduce(in, out, n, MPI_DOUBLE, MPI_SUM, w);
  if (kind == kAllgather) MPI_Allgather(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w);
  if (kind == kAlltoall) MPI_Alltoall(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w);
  if (kind == kReduceScatter) MPI_Reduce_scatter_block(in, out, n, MPI_DOUBLE, MPI_SUM, w);
  if (kind == kScan) MPI_Scan(in, out, n, MPI_DOUBLE, MPI_SUM, w);
}

static MPI_Request made(Kind kind, int n) {
  const MPI_Comm w = MPI_COMM_WORLD;
  const MPI_Info i = MPI_INFO_NULL;
  MPI_Request r = MPI_REQUEST_NULL;
  if (kind == kBarrier) MPI_Barrier_init(w, i, &r);
  if (kind == kBcast) MPI_Bcast_init(world_rank == 0 ? in : out, n, MPI_DOUBLE, 0, w, i, &r);
  if (kind == kReduce) MPI_Reduce_init(in, out, n, MPI_DOUBLE, MPI_SUM, 0, w, i, &r);
  if (kind == kAllreduce) MPI_Allreduce_init(in, out, n, MPI_DOUBLE, MPI_SUM, w, i, &r);
  if (kind == kAllgather) MPI_Allgather_init(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w, i, &r);
  if (kind == kAlltoall) MPI_Alltoall_init(in, n, MPI_DOUBLE, out, n, MPI_DOUBLE, w, i, &r);
  if (kind == kReduceScatter) MPI_Reduce_scatter_block_init(in, out, n, MPI_DOUBLE, MPI_SUM, w, i, &r);
  if (kind == kScan) MPI_Scan_init(in, out, n, MPI_DOUBLE, MPI_SUM, w, i, &r);
  return r;
}

// The first element of the result: rank r's operand begins with r + 1.
static void check_result(Kind kind) {
  const double all = world_size * (world_size + 1) / 2;
  if (kind == kBcast) CHECK_EQ(world_rank == 0 ? in[0] : out[0], 1);
  if (kind == kAllreduce || kind == kReduceScatter || (kind == kReduce && world_rank == 0)) CHECK_EQ(out[0], all);
  if (kind == kAllgather || kind == kAlltoall) CHECK_EQ(out[0], 1);
  if (kind == kScan) CHECK_EQ(out[0], (world_rank + 1) * (world_rank + 2) / 2);
}

static void measure(Kind kind, int n, int persistent) {
  MPI_Request request = persistent ? made(kind, n) : MPI_REQUEST_NULL;
  int good = 0;
  long most = 0;
  out[0] = -1;
  for (int run = 0; run < kWarm + kBatches * kRuns;) {
    const long kept_before = kept(), before = __atomic_load_n(&allocations, __ATOMIC_RELAXED);
    const int end = run < kWarm ? kWarm : run + kRuns, counts = run >= kWarm;
    for (; run < end; run++) {
      if (persistent) {
        MPI_Start(&request);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else {
        call(kind, n);
      }
    }
    const long here = __atomic_load_n(&allocations, __ATOMIC_RELAXED) - before;
    if (counts) good += here <= kept() - kept_before + kRuns / kSome, most = here > most ? here : most;
  }
  check_result(kind);
  CHECK(good > kBatches / 2, "%s %s of %d: %d of %d batches of %d had few enough allocations; up to %ld",
        persistent ? "persistent" : "blocking", names[kind], n, good, kBatches, kRuns, most);
  if (persistent) MPI_Request_free(&request);
}

int main(int argc, char** argv) {
  const int sizes[] = {1, 100, 20000, kMost};
  start(&argc, &argv);
  const int is_long = argc > 1 && strcmp(argv[1], "long") == 0;
  const char* after = getenv("HEDDLE_BOARD_AFTER");
  const int by_messages = after != NULL && atoi(after) < 0;
  for (int i = 0; i < kMost * kMostRanks; i++) in[i] = world_rank + 1;
  int provided, index, vcis;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&session);
  MPI_T_pvar_get_index("messages_unexpected", MPI_T_PVAR_CLASS_COUNTER, &index);
  MPI_T_pvar_handle_alloc(session, index, NULL, &unexpected, &vcis);
  CHECK(vcis <= 16, "%d", vcis);
  MPI_T_pvar_start(session, unexpected);
  CHECK(allocations > 50, "%ld of the library's were counted in MPI_Init", allocations);
  for (Kind kind = 0; kind < kKinds; kind++) {
    for (int s = is_long ? 2 : 0; s < (is_long ? 4 : 2); s++) {
      measure(kind, sizes[s], 1);
      if (by_messages ? sizes[s] == 1 : kind != kScan || !is_long) measure(kind, sizes[s], 0);
    }
  }
  MPI_T_pvar_session_free(&session);
  MPI_T_finalize();
  return finish();
}
