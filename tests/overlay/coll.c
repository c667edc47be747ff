// Planned collectives over another MPI, each against what its definition says. Every call is made on several communicators, in place or not, with
// datatypes that lie in one piece and such that do not.
//   coll [blocking | nonblocking | persistent | few | mixed | late | opened | errors | truncated | subsets | profile | profile_messages |
//         profile_nodes | profile_part | profile_host | given] [threads]
#include <unistd.h>

#include "../programs/check.h"
#include "launched.h"

enum way { kBlocking, kNonblocking, kPersistent };
static enum way way = kBlocking;

// Item i of rank r's data; small enough for sums of all ranks to be exact.
static long item(int r, long i, unsigned seed) { return (long)((i * 31 + r * 1009 + seed * 17 + 5) % 4001); }

static void finish_request(MPI_Request* r, unsigned n) {
  int flag = 0;
  if (way == kPersistent) MPI_Start(r);
  if (n % 2) {
    MPI_Wait(r, MPI_STATUS_IGNORE);
  } else {
    while (!flag) MPI_Test(r, &flag, MPI_STATUS_IGNORE);
  }
  if (way == kNonblocking) CHECK(*r == MPI_REQUEST_NULL, "a nonblocking one is over, and its request is not null");
}

// call(...) by the way of this run; a persistent one runs as often as `times` says, after `again`.
#define BY_WAY(name, times, before, ...)                  \
  do {                                                    \
    MPI_Request r_;                                       \
    if (way == kBlocking) {                               \
      for (int t_ = 0; t_ < (times); t_++) {              \
        before;                                           \
        MPI_##name(__VA_ARGS__);                          \
      }                                                   \
    } else if (way == kNonblocking) {                     \
      for (int t_ = 0; t_ < (times); t_++) {              \
        before;                                           \
        MPI_I##name##_(__VA_ARGS__, &r_);                 \
        finish_request(&r_, (unsigned)t_);                \
      }                                                   \
    } else {                                              \
      MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &r_); \
      for (int t_ = 0; t_ < (times); t_++) {              \
        before;                                           \
        finish_request(&r_, (unsigned)t_);                \
      }                                                   \
      MPI_Request_free(&r_);                              \
    }                                                     \
  } while (0)
#define MPI_IBarrier_ MPI_Ibarrier
#define MPI_IBcast_ MPI_Ibcast
#define MPI_IReduce_ MPI_Ireduce
#define MPI_IAllreduce_ MPI_Iallreduce
#define MPI_IAllgather_ MPI_Iallgather
#define MPI_IReduce_scatter_block_ MPI_Ireduce_scatter_block
#define MPI_IAlltoall_ MPI_Ialltoall

static int rank, size;
static MPI_Comm comm;
static MPI_Datatype sparse;  // every other long

enum { kTimes = 3 };
static const long kLengths[] = {1, 2, 13, 700, 1500, 9001, 40000};
static size_t lengths = sizeof kLengths / sizeof *kLengths;

// A guard behind the data, and between those of a sparse type.
static long* data_of(long n, int stride) {
  long* d = malloc(((size_t)n * (size_t)stride + 1) * sizeof *d);
  for (long i = 0; i <= n * stride; i++) d[i] = -77;
  return d;
}
static void check_guards(const long* d, long n, int stride) {
  CHECK_EQ(d[n * stride], -77);
  for (long i = 0; i < n && stride == 2; i++) CHECK_EQ(d[2 * i + 1], -77);
}

static void bcast(long n, int root, int stride, unsigned seed) {
  long* d = data_of(n, stride);
  const MPI_Datatype type = stride == 2 ? sparse : MPI_LONG;
  BY_WAY(Bcast, kTimes, for (long i = 0; i < n; i++) d[i * stride] = rank == root ? item(root, i, seed + t_) : -1;
         , d, (int)n, type, root, comm);
  for (long i = 0; i < n; i++) CHECK_EQ(d[i * stride], item(root, i, seed + kTimes - 1));
  check_guards(d, n, stride);
  free(d);
}

static long sum_of(long i, unsigned seed) {
  long all = 0;
  for (int r = 0; r < size; r++) all += item(r, i, seed);
  return all;
}
static long most_of(long i, unsigned seed) {
  long all = -1;
  for (int r = 0; r < size; r++) all = item(r, i, seed) > all ? item(r, i, seed) : all;
  return all;
}

static void reduce(long n, int root, int in_place, int everywhere, unsigned seed) {
  long *in = data_of(n, 1), *out = data_of(n, 1);
  const int gets = everywhere || rank == root, here = in_place && gets;
  const MPI_Op op = seed % 2 ? MPI_MAX : MPI_SUM;
  long* own = here ? out : in;
  const void* send = here ? MPI_IN_PLACE : in;
  if (everywhere) {
    BY_WAY(Allreduce, kTimes, for (long i = 0; i < n; i++) own[i] = item(rank, i, seed + t_);
           , send, out, (int)n, MPI_LONG, op, comm);
  } else {
    BY_WAY(Reduce, kTimes, for (long i = 0; i < n; i++) own[i] = item(rank, i, seed + t_);
           , send, out, (int)n, MPI_LONG, op, root, comm);
  }
  for (long i = 0; i < n && gets; i++) {
    CHECK_EQ(out[i], (seed % 2 ? most_of : sum_of)(i, seed + kTimes - 1));
  }
  for (long i = 0; i < n && !here; i++) CHECK_EQ(in[i], item(rank, i, seed + kTimes - 1));
  check_guards(out, n, 1);
  free(in);
  free(out);
}

static void allgather(long n, int in_place, int stride, unsigned seed) {
  long *in = data_of(n, 1), *out = data_of(n * size, stride);
  const MPI_Datatype type = stride == 2 ? sparse : MPI_LONG;
  long* own = in_place ? out + rank * n * stride : in;
  const int step = in_place ? stride : 1;
  BY_WAY(Allgather, kTimes, for (long i = 0; i < n * size; i++) out[i * stride] = -1;
         for (long i = 0; i < n; i++) own[i * step] = item(rank, i, seed + t_);
         , in_place ? MPI_IN_PLACE : in, (int)n, MPI_LONG, out, (int)n, type, comm);
  for (int r = 0; r < size; r++) {
    for (long i = 0; i < n; i++) CHECK_EQ(out[(r * n + i) * stride], item(r, i, seed + kTimes - 1));
  }
  check_guards(out, n * size, stride);
  free(in);
  free(out);
}

static void reduce_scatter_block(long n, int in_place, unsigned seed) {
  long *in = data_of(n * size, 1), *out = data_of(n * size, 1);
  long* own = in_place ? out : in;
  BY_WAY(Reduce_scatter_block, kTimes, for (long i = 0; i < n * size; i++) own[i] = item(rank, i, seed + t_);
         , in_place ? MPI_IN_PLACE : in, out, (int)n, MPI_LONG, MPI_SUM, comm);
  for (long i = 0; i < n; i++) CHECK_EQ(out[i], sum_of(rank * n + i, seed + kTimes - 1));
  check_guards(out, n * size, 1);
  free(in);
  free(out);
}

static void alltoall(long n, int in_place, int stride, unsigned seed) {
  long *in = data_of(n * size, stride), *out = data_of(n * size, stride);
  const MPI_Datatype type = stride == 2 ? sparse : MPI_LONG;
  long* own = in_place ? out : in;
  BY_WAY(Alltoall, kTimes, for (long i = 0; i < n * size; i++) own[i * stride] = item(rank, i, seed + t_);
         , in_place ? MPI_IN_PLACE : in, (int)n, type, out, (int)n, type, comm);
  for (int r = 0; r < size; r++) {
    for (long i = 0; i < n; i++) CHECK_EQ(out[(r * n + i) * stride], item(r, rank * n + i, seed + kTimes - 1));
  }
  check_guards(out, n * size, stride);
  free(in);
  free(out);
}

static int entered;  // of MPI_COMM_WORLD, as a window of one's own: who has come to a barrier
static void barrier(void) {
  MPI_Win win;
  int* at;
  MPI_Win_allocate(sizeof entered, 1, MPI_INFO_NULL, comm, &at, &win);
  *at = 0;
  PMPI_Barrier(comm);
  for (int t = 0; t < 5; t++) {
    int one = 1, got;
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, win);
    MPI_Win_unlock(0, win);
    BY_WAY(Barrier, 1, (void)0, comm);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win);
    MPI_Fetch_and_op(NULL, &got, MPI_INT, 0, 0, MPI_NO_OP, win);
    MPI_Win_unlock(0, win);
    CHECK(got >= (t + 1) * size, "%d of %d had entered barrier %d", got, (t + 1) * size, t);
    PMPI_Barrier(comm);
  }
  MPI_Win_free(&win);
}

static void on(MPI_Comm c) {
  comm = c;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  barrier();
  for (size_t l = 0; l < lengths; l++) {
    const long n = kLengths[l];
    for (int root = 0; root<size; root += size> 4 ? 3 : 1) {
      bcast(n, root, 1, (unsigned)root);
      bcast(n, root, 2, (unsigned)root + 3);
      for (int k = 0; k < 4; k++) reduce(n, root, k & 1, 0, (unsigned)(root + k));
    }
    for (int k = 0; k < 4; k++) {
      reduce(n, 0, k & 1, 1, (unsigned)k);
      allgather(n, k & 1, 1 + k / 2, (unsigned)k);
      alltoall(n, k & 1, 1 + k / 2, (unsigned)k);
      reduce_scatter_block(n, k & 1, (unsigned)k);
    }
  }
}

// On the world, a duplicate, its ranks backwards, and parts of it, of which some have one rank.
static void everywhere(void) {
  MPI_Comm dup, turned, part;
  on(MPI_COMM_WORLD);
  MPI_Comm_dup(MPI_COMM_WORLD, &dup);
  MPI_Comm_split(dup, 0, -world_rank, &turned);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0, 0, &part);
  on(turned);
  MPI_Comm_free(&turned);
  on(part);
  MPI_Comm_free(&part);
  MPI_Comm_free(&dup);
}

// The host's: no plan has this operation.
static void least_of_all(MPI_Comm c) {
  struct {
    double value;
    int at;
  } mine = {world_rank, world_rank}, least;
  MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE_INT, MPI_MINLOC, c);
  CHECK_EQ(least.at, 0);
}

// Does not commute.
static void keep_left(void* left, void* right, int* n, MPI_Datatype* type) {
  (void)type;
  memcpy(right, left, (size_t)*n * sizeof(long));
}

// A broadcast whose ranks describe the same bytes differently.
static void subsets(void) {
  on(MPI_COMM_WORLD);
  long d[26];
  for (int t = 0; t < 4; t++) {
    for (int i = 0; i < 26; i++) d[i] = world_rank == 0 ? item(0, i, (unsigned)t) : -77;
    const int is_sparse = world_rank % 2 == t % 2;
    for (int i = 0; i < 13 && world_rank == 0; i++) d[is_sparse ? 2 * i : i] = item(0, i, (unsigned)t);
    if (is_sparse) {
      MPI_Bcast(d, 13, sparse, 0, MPI_COMM_WORLD);
    } else {
      MPI_Bcast(d, 13 * (int)sizeof *d, MPI_BYTE, 0, MPI_COMM_WORLD);
    }
    for (int i = 0; i < 13; i++) CHECK_EQ(d[is_sparse ? 2 * i : i], item(0, i, (unsigned)t));
  }
  // Operations that differ by type, a user's among them, and an intercommunicator: the host's.
  double x = world_rank + 0.5, sum = 0;
  MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  CHECK(sum == world_size * (world_size - 1) / 2.0 + 0.5 * world_size, "%g", sum);
  least_of_all(MPI_COMM_WORLD);
  MPI_Op left;
  MPI_Op_create(keep_left, 0, &left);
  long first = 100 + world_rank, got = -1;
  MPI_Allreduce(&first, &got, 1, MPI_LONG, left, MPI_COMM_WORLD);
  CHECK_EQ(got, 100);
  MPI_Op_free(&left);
  // Rank 0, and all others.
  MPI_Comm part, inter;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == 0, 0, &part);
  MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, world_rank == 0, 5, &inter);
  long one = 1;
  MPI_Allreduce(&one, &got, 1, MPI_LONG, MPI_SUM, inter);
  CHECK_EQ(got, world_rank == 0 ? world_size - 1 : 1);
  MPI_Comm_free(&inter);
  MPI_Comm_free(&part);
}

static void expect(int class, const char* what, int want) {
  int c = MPI_SUCCESS;
  MPI_Error_class(class, &c);
  CHECK(c == want, "%s: class %d, expected %d", what, c, want);
}
static int heard, heard_class;
static void hear(MPI_Comm* c, int* code, ...) {
  (void)c;
  heard++;
  MPI_Error_class(*code, &heard_class);
}

// All ranks make the same mistake. The classes are the standard's, and each goes to the communicator's handler.
static void errors(void) {
  MPI_Comm c;
  MPI_Errhandler handler;
  long d[4] = {0}, e[4];
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  expect(MPI_Bcast(d, 1, MPI_LONG, world_size, c), "root", MPI_ERR_ROOT);
  expect(MPI_Bcast(d, -1, MPI_LONG, 0, c), "count", MPI_ERR_COUNT);
  expect(MPI_Bcast(d, 1, MPI_DATATYPE_NULL, 0, c), "type", MPI_ERR_TYPE);
  expect(MPI_Allreduce(d, e, 1, MPI_DOUBLE, MPI_BAND, c), "op", MPI_ERR_OP);
  expect(MPI_Allreduce(d, e, 1, MPI_LONG, MPI_OP_NULL, c), "op", MPI_ERR_OP);
  expect(MPI_Reduce(d, e, 1, MPI_LONG, MPI_SUM, -3, c), "root", MPI_ERR_ROOT);
  MPI_Comm_create_errhandler(hear, &handler);
  MPI_Comm_set_errhandler(c, handler);
  MPI_Bcast(d, 1, MPI_LONG, -3, c);
  CHECK_EQ(heard, 1);
  CHECK_EQ(heard_class, MPI_ERR_ROOT);
  MPI_Barrier(c);  // it is as good as before
  MPI_Allreduce(&(long){1}, e, 1, MPI_LONG, MPI_SUM, c);
  CHECK_EQ(e[0], world_size);
  CHECK_EQ(heard, 1);
  MPI_Errhandler_free(&handler);
  MPI_Comm_free(&c);
}

// The root sends more than the others have room for, by messages: they hear of it, and nobody waits for ever.
static void truncated(void) {
  enum { kMore = 3000 };
  static long d[kMore];
  MPI_Comm c;
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  const int rc = MPI_Bcast(d, world_rank == 0 ? kMore : kMore - 1, MPI_LONG, 0, c);
  if (world_rank != 0) expect(rc, "a broadcast that is too long", MPI_ERR_TRUNCATE);
  MPI_Comm_free(&c);
}

// Several of one communicator under way at once, ended in the other order, beside messages of the host; persistent ones started in an
// order of each rank's own.
static void mixed(void) {
  enum { kMany = 6 };
  static long in[kMany][3000], out[kMany][3000];
  MPI_Comm c;
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  size = world_size;
  const int next = (world_rank + 1) % world_size, before = (world_rank + world_size - 1) % world_size;
  for (unsigned t = 0; t < 5; t++) {
    MPI_Request all[kMany + 3];
    int sent = world_rank * 10 + (int)t, got = -1, index, n, indices[kMany + 3];
    MPI_Status statuses[kMany + 3], status;
    MPI_Irecv(&got, 1, MPI_INT, before, 3, c, &all[kMany]);
    for (int k = 0; k < kMany; k++) {
      const int count = k % 2 ? 3000 : 5;
      for (int i = 0; i < count; i++) in[k][i] = item(world_rank, i, t + (unsigned)k);
      memset(out[k], 0xff, sizeof out[k]);
      MPI_Iallreduce(in[k], out[k], count, MPI_LONG, MPI_SUM, c, &all[k]);
    }
    all[kMany + 1] = MPI_REQUEST_NULL;
    MPI_Isend(&sent, 1, MPI_INT, next, 3, c, &all[kMany + 2]);
    if (t == 0) {
      for (int k = 0; k < kMany + 3; k++) statuses[k].MPI_ERROR = 99;
      MPI_Waitall(kMany + 3, all, statuses);
      CHECK_EQ(statuses[kMany].MPI_SOURCE, before);
      // By a measured profile it may be the host's, which has its own ways.
      if (getenv("HEDDLE_OVERLAY_PROFILE") == NULL) CHECK_EQ(statuses[0].MPI_SOURCE, MPI_ANY_SOURCE);
    } else if (t == 1) {
      for (int left = kMany + 2; left != 0; left -= n) {
        MPI_Waitsome(kMany + 3, all, &n, indices, statuses);
        CHECK(n > 0 && n <= left, "%d of %d", n, left);
      }
      MPI_Waitsome(kMany + 3, all, &n, indices, statuses);
      CHECK_EQ(n, MPI_UNDEFINED);
    } else if (t == 2) {
      for (int k = 0; k < kMany + 2; k++) {
        MPI_Waitany(kMany + 3, all, &index, &status);
        CHECK(index >= 0 && index < kMany + 3 && index != kMany + 1, "%d", index);
      }
      MPI_Waitany(kMany + 3, all, &index, &status);
      CHECK_EQ(index, MPI_UNDEFINED);
    } else if (t == 3) {
      for (int k = kMany + 2; k >= 0; k--) MPI_Wait(&all[k], MPI_STATUS_IGNORE);
    } else {
      int flag = 0;
      while (!flag) MPI_Testall(kMany + 3, all, &flag, MPI_STATUSES_IGNORE);
    }
    for (int k = 0; k < kMany + 3; k++) CHECK(all[k] == MPI_REQUEST_NULL, "request %d is left", k);
    CHECK_EQ(got, before * 10 + (int)t);
    for (int k = 0; k < kMany; k++) {
      for (int i = 0; i < (k % 2 ? 3000 : 5); i++) CHECK_EQ(out[k][i], sum_of(i, t + (unsigned)k));
    }
  }
  MPI_Request kept[kMany];
  for (int k = 0; k < kMany; k++)
    MPI_Allreduce_init(in[k], out[k], 3000, MPI_LONG, MPI_SUM, c, MPI_INFO_NULL, &kept[k]);
  for (unsigned t = 0; t < 3; t++) {
    for (int k = 0; k < kMany; k++) {
      for (int i = 0; i < 3000; i++) in[k][i] = item(world_rank, i, t * 7 + (unsigned)k);
    }
    for (int k = 0; k < kMany; k++) MPI_Start(&kept[world_rank % 2 ? k : kMany - 1 - k]);
    MPI_Waitall(kMany, kept, MPI_STATUSES_IGNORE);
    for (int k = 0; k < kMany; k++) {
      CHECK(kept[k] != MPI_REQUEST_NULL, "a persistent request is gone");
      for (int i = 0; i < 3000; i++) CHECK_EQ(out[k][i], sum_of(i, t * 7 + (unsigned)k));
    }
  }
  for (int k = 0; k < kMany; k++) MPI_Request_free(&kept[k]);
  MPI_Comm_free(&c);
}

// A rank that waits in MPI for something else lets what it has begun go on; a nonblocking one waits for nobody, the first one
// of a communicator included.
static void late(void) {
  long one = 1, sum[3] = {0};
  int token = 0;
  MPI_Comm c;
  MPI_Request r[3];
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  const int last = world_size - 1;
  if (world_rank == last) MPI_Recv(&token, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int k = 0; k < 3; k++) MPI_Iallreduce(&one, &sum[k], 1, MPI_LONG, MPI_SUM, c, &r[k]);
  if (world_rank == 0) MPI_Send(&token, 1, MPI_INT, last, 1, MPI_COMM_WORLD);
  // Rank 0 waits for the end of the others, who cannot come to it without what it has begun.
  if (world_rank != 0) {
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
    MPI_Send(&token, 1, MPI_INT, 0, 2, MPI_COMM_WORLD);
  } else {
    for (int k = 1; k < world_size; k++) MPI_Recv(&token, 1, MPI_INT, k, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Waitall(3, r, MPI_STATUSES_IGNORE);
  }
  for (int k = 0; k < 3; k++) CHECK_EQ(sum[k], world_size);
  // The host's collective on the same communicator while one is under way.
  MPI_Iallreduce(&one, &sum[0], 1, MPI_LONG, MPI_SUM, c, &r[0]);
  if (world_rank == 0) MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  least_of_all(c);
  if (world_rank != 0) MPI_Wait(&r[0], MPI_STATUS_IGNORE);
  CHECK_EQ(sum[0], world_size);
  MPI_Comm_free(&c);
}

// What a communicator needs for its first blocking or persistent collective by a plan, or for one of the host, lets what is under way go on:
// rank 0 comes to it before it waits, the others wait first. `first` is on the same communicator or on a fresh one.
enum first { kBarrierFirst, kInitFirst, kHostFirst, kFirsts };
static void first_one(enum first first, MPI_Comm on) {
  if (first == kBarrierFirst) MPI_Barrier(on);
  if (first == kHostFirst) least_of_all(on);
  if (first == kInitFirst) {
    MPI_Request r;
    MPI_Barrier_init(on, MPI_INFO_NULL, &r);
    MPI_Request_free(&r);
  }
}
static void opened_late(enum first first, int afresh, int persists) {
  static long in[3000], out[3000];
  MPI_Comm c, fresh;
  MPI_Request r;
  size = world_size;
  for (int i = 0; i < 3000; i++) in[i] = item(world_rank, i, (unsigned)first), out[i] = -1;
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  if (persists) {
    MPI_Allreduce_init(in, out, 3000, MPI_LONG, MPI_SUM, c, MPI_INFO_NULL, &r);
  } else {
    MPI_Iallreduce(in, out, 3000, MPI_LONG, MPI_SUM, c, &r);
  }
  if (world_rank != 0) {
    if (persists && first == kHostFirst) first_one(first, c);  // before the start: they need rank 0's word in it
    if (persists) MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    if (!persists || first != kHostFirst) first_one(first, afresh ? fresh : c);
  } else {
    if (persists) MPI_Start(&r);
    first_one(first, afresh ? fresh : c);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  for (int i = 0; i < 3000; i++) CHECK_EQ(out[i], sum_of(i, (unsigned)first));
  if (persists) MPI_Request_free(&r);
  MPI_Comm_free(&fresh);
  MPI_Comm_free(&c);
}
static void opened_in_any_order(void) {
  for (enum first first = 0; first < kFirsts; first++) {
    for (int k = 0; k < 2; k++) opened_late(first, 0, k);
    if (first != kHostFirst) opened_late(first, 1, 0);
  }
}

// Profiles of this host, of which rank 0's is read; the others' would let nothing go by plans.
static const char* const profiles[][2] = {
    {"profile", "planned allreduce blocking 2 64 16383\n"},
    {"profile_messages",
     "measured 2 1\nplanned allreduce blocking 2 64 2047\nmessages allreduce blocking 2 2048 16383\n"},
    {"profile_nodes", "measured 2 2\nplanned allreduce blocking 2 64 16383\nplanned barrier blocking 2 0 0\n"},
    {"profile_part", "partitioned persistent 1 1023\npartitioned rma 1024 65535\n"},
    {"profile_host", "partitioned host 1 65535\n"},
};
static const char* profile_for(const char* what) {
  for (size_t i = 0; i < sizeof profiles / sizeof profiles[0]; i++) {
    if (strcmp(what, profiles[i][0]) == 0) return profiles[i][1];
  }
  return NULL;
}
static char profile_path[64];
static void write_profile(const char* lines) {
  char host[MPI_MAX_LIBRARY_VERSION_STRING];
  int n = 0;
  MPI_Get_library_version(host, &n);
  host[strcspn(host, "\n")] = '\0';
  for (size_t i = 0; host[i] != '\0'; i++) host[i] = host[i] < ' ' ? ' ' : host[i];
  for (size_t i = strlen(host); i > 0 && host[i - 1] == ' '; i--) host[i - 1] = '\0';
  snprintf(profile_path, sizeof profile_path, "/tmp/heddle-overlay-test-%ld", (long)getpid());
  FILE* file = fopen(profile_path, "w");
  if (file == NULL) abort();
  fprintf(file, "heddle overlay profile 1\nhost %s\n%send\n", host, rank_before_init() == 0 ? lines : "");
  fclose(file);
  setenv("HEDDLE_OVERLAY_PROFILE", profile_path, 1);
}
// To the next rank, once below and once above the limit.
static void partitioned_by_profile(void) {
  static char in[2048], out[2048];
  for (int each = 64; each <= 512; each *= 8) {
    MPI_Request r[2];
    for (int i = 0; i < 4 * each; i++) in[i] = (char)(i + world_rank), out[i] = 0;
    MPI_Precv_init(out, 4, each, MPI_CHAR, 1 - world_rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]);
    MPI_Psend_init(in, 4, each, MPI_CHAR, 1 - world_rank, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
    MPI_Startall(2, r);
    MPI_Pready_range(0, 3, r[1]);
    MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
    for (int i = 0; i < 4 * each; i++) CHECK_EQ(out[i], (char)(i + 1 - world_rank));
    for (int i = 0; i < 2; i++) MPI_Request_free(&r[i]);
  }
}
static void by_profile(void) {
  static long in[4096], out[4096];
  size = world_size;
  for (int n = 1; n <= 4096; n *= 2) {  // 2^k longs are 2^(k+3) bytes: eight of the thirteen are in the range
    for (int i = 0; i < n; i++) in[i] = item(world_rank, i, (unsigned)n);
    MPI_Allreduce(in, out, n, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < n; i++) CHECK_EQ(out[i], sum_of(i, (unsigned)n));
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "blocking";
  const char* profile = profile_for(what);
  if (profile != NULL) write_profile(profile);
  argc > 2 ? start_threaded(&argc, &argv) : start(&argc, &argv);  // `threads`
  if (profile != NULL) unlink(profile_path);
  if (strcmp(what, "profile_part") == 0 || strcmp(what, "profile_host") == 0) partitioned_by_profile();
  if (profile != NULL || strcmp(what, "given") == 0) by_profile();
  MPI_Datatype one;
  MPI_Type_vector(1, 1, 2, MPI_LONG, &one);
  MPI_Type_create_resized(one, 0, 2 * sizeof(long), &sparse);
  MPI_Type_commit(&sparse);
  MPI_Type_free(&one);
  if (strcmp(what, "few") == 0) lengths = 3;
  if (strcmp(what, "blocking") == 0) everywhere();
  if (strcmp(what, "few") == 0) on(MPI_COMM_WORLD);
  if (strcmp(what, "nonblocking") == 0) way = kNonblocking;
  if (strcmp(what, "persistent") == 0) way = kPersistent;
  if (way != kBlocking) everywhere();
  if (strcmp(what, "mixed") == 0) mixed();
  if (strcmp(what, "late") == 0) late();
  if (strcmp(what, "opened") == 0) opened_in_any_order();
  if (strcmp(what, "subsets") == 0) subsets();
  if (strcmp(what, "errors") == 0) errors();
  if (strcmp(what, "truncated") == 0) truncated();
  MPI_Type_free(&sparse);
  return finish();
}
