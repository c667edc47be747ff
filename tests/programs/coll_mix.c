// A random sequence of collectives, the same at all ranks, on a few communicators that come and go: with roots that do not wait for
// the others, ranks that come late, data of a word, of a cache line and of several pages, and everything verified.
//   coll_mix SEED ROUNDS [WINDOW]
// With a window three of four are nonblocking, of which so many are under way; each rank waits for them in an order of its own.
#include "check.h"

enum { kMost = 40000, kComms = 3, kKinds = 11, kWindow = 40 };

static unsigned long long state;
static unsigned next_random(unsigned n) {  // the same sequence at all ranks
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % n;
}

static MPI_Comm comms[kComms];
static MPI_Op compose;
static int *out, *in;  // of the collective that is looked at

// One collective: what it was called with.
typedef struct {
  MPI_Request request;  // MPI_REQUEST_NULL: it is over
  int kind, round, n, root, rank, size;
  int *out, *in;
} Call;

// a*x + b after c*x + d, mod 2^32: associative, and does not commute.
static void compose_maps(void* lower, void* higher, int* length, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *length; i += 1) {
    const unsigned *f = (unsigned*)lower + 2 * i, c = ((unsigned*)higher)[2 * i], d = ((unsigned*)higher)[2 * i + 1];
    ((unsigned*)higher)[2 * i] = c * f[0];
    ((unsigned*)higher)[2 * i + 1] = c * f[1] + d;
  }
}

static int value(int rank, int round, int i) { return rank * 7919 + round * 131 + i * 17 + 1; }

static void prepare(int rank, int round, int n) {
  for (int i = 0; i < n; i++) out[i] = value(rank, round, i);
  for (int i = 0; i < n; i++) in[i] = -1;
}

// Item i of the maps of ranks [0, last], composed.
static void expect_map(int last, int round, int i, unsigned map[2]) {
  map[0] = (unsigned)value(0, round, 2 * i), map[1] = (unsigned)value(0, round, 2 * i + 1);
  for (int r = 1; r <= last; r++) {
    const unsigned c = (unsigned)value(r, round, 2 * i), d = (unsigned)value(r, round, 2 * i + 1);
    map[0] = c * map[0];
    map[1] = c * map[1] + d;
  }
}

static void check_maps(int last, int round, int first, int n) {
  for (int i = 0; i < n; i++) {
    unsigned map[2];
    expect_map(last, round, first + i, map);
    CHECK((unsigned)in[2 * i] == map[0] && (unsigned)in[2 * i + 1] == map[1], "round %d, item %d", round, i);
  }
}

static void check_values(int rank, int round, int from, int at, int n) {
  for (int i = 0; i < n; i++) CHECK_EQ(in[at + i], value(rank, round, from + i));
}

// MPI_Bcast(...), or MPI_Ibcast(..., request).
#define RUN(Blocking, nonblocking_name, ...)         \
  do {                                               \
    if (request == NULL) {                           \
      MPI_##Blocking(__VA_ARGS__);                   \
    } else {                                         \
      MPI_I##nonblocking_name(__VA_ARGS__, request); \
    }                                                \
  } while (0)

// `n` ints, or n/2 maps, of each rank. Without a request it blocks.
static void begin(const Call* c, MPI_Comm comm, MPI_Datatype map, MPI_Request* request) {
  const int n = c->n, maps = n / 2, block = n / c->size;
  out = c->out, in = c->in;
  prepare(c->rank, c->round, kMost);
  switch (c->kind) {
    case 0:
      RUN(Barrier, barrier, comm);
      break;
    case 1:
      if (c->rank == c->root) memcpy(in, out, sizeof *in * (size_t)n);
      RUN(Bcast, bcast, in, n, MPI_INT, c->root, comm);
      break;
    case 2:
      RUN(Gather, gather, out, block, MPI_INT, in, block, MPI_INT, c->root, comm);
      break;
    case 3:
      RUN(Allgather, allgather, out, block, MPI_INT, in, block, MPI_INT, comm);
      break;
    case 4:
      RUN(Scatter, scatter, out, block, MPI_INT, in, block, MPI_INT, c->root, comm);
      break;
    case 5:
      RUN(Alltoall, alltoall, out, block, MPI_INT, in, block, MPI_INT, comm);
      break;
    case 6:
      RUN(Reduce, reduce, out, in, maps, map, compose, c->root, comm);
      break;
    case 7:
      memcpy(in, out, sizeof *in * (size_t)n);
      RUN(Allreduce, allreduce, MPI_IN_PLACE, in, maps, map, compose, comm);
      break;
    case 8:
      RUN(Reduce_scatter_block, reduce_scatter_block, out, in, maps / c->size, map, compose, comm);
      break;
    case 9:
      RUN(Scan, scan, out, in, maps, map, compose, comm);
      break;
    default:
      RUN(Exscan, exscan, out, in, maps, map, compose, comm);
  }
}

static void check(const Call* c) {
  const int rank = c->rank, size = c->size, round = c->round, maps = c->n / 2, block = c->n / size;
  out = c->out, in = c->in;
  switch (c->kind) {
    case 0:
      break;
    case 1:
      check_values(c->root, round, 0, 0, c->n);
      break;
    case 2:
      for (int r = 0; r < size && rank == c->root; r++) check_values(r, round, 0, r * block, block);
      break;
    case 3:
      for (int r = 0; r < size; r++) check_values(r, round, 0, r * block, block);
      break;
    case 4:
      check_values(c->root, round, rank * block, 0, block);
      break;
    case 5:
      for (int r = 0; r < size; r++) check_values(r, round, rank * block, r * block, block);
      break;
    case 6:
      if (rank == c->root) check_maps(size - 1, round, 0, maps);
      break;
    case 7:
      check_maps(size - 1, round, 0, maps);
      break;
    case 8:
      check_maps(size - 1, round, rank * (maps / size), maps / size);
      break;
    case 9:
      check_maps(rank, round, 0, maps);
      break;
    default:
      if (rank > 0) check_maps(rank - 1, round, 0, maps);
  }
  for (int i = c->n; i < kMost; i++) CHECK_EQ(in[i], -1);
}

static Call calls[kWindow + 1];

// Ends call `c` if it is under way, in one of several ways, which differ from rank to rank.
static void end(int c, unsigned how, int window) {
  if (calls[c].request == MPI_REQUEST_NULL) return;
  if (how % 3 == 0) {
    for (int done = 0; !done;) MPI_Test(&calls[c].request, &done, MPI_STATUS_IGNORE);
  } else if (how % 3 == 1) {  // another one first
    end((c + 1 + (int)(how / 3) % window) % window, 2, window);
  }
  if (calls[c].request != MPI_REQUEST_NULL) MPI_Wait(&calls[c].request, MPI_STATUS_IGNORE);
  check(&calls[c]);
}

static void come_late(void) {
  const double until = MPI_Wtime() + 2e-4;
  while (MPI_Wtime() < until) continue;
}

// The same arguments give the same bits, at every rank and each time.
static void same_bits(MPI_Comm comm) {
  enum { kTimes = 9, kDoubles = 300 };
  static double mine[kDoubles], sum[kDoubles], first[kDoubles], highest[2 * kDoubles];
  for (int i = 0; i < kDoubles; i++) mine[i] = 1.0 / (3 + i + 1000 * world_rank);
  for (int t = 0; t < kTimes; t++) {
    MPI_Allreduce(mine, sum, kDoubles, MPI_DOUBLE, MPI_SUM, comm);
    if (t == 0) memcpy(first, sum, sizeof sum);
    CHECK(memcmp(first, sum, sizeof sum) == 0, "time %d gave other bits", t);
  }
  struct {
    double value;
    int rank;
  } pair = {mine[0], world_rank}, most;
  MPI_Allreduce(&pair, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC, comm);
  CHECK_EQ(most.rank, 0);
  int size;
  MPI_Comm_size(comm, &size);
  MPI_Sendrecv(first, kDoubles, MPI_DOUBLE, (world_rank + 1) % size, 0, highest, kDoubles, MPI_DOUBLE,
               (world_rank + size - 1) % size, 0, comm, MPI_STATUS_IGNORE);
  CHECK(memcmp(first, highest, sizeof first) == 0, "the left neighbour has other bits");
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  state = argc > 1 ? (unsigned long long)atoll(argv[1]) : 1;
  const int rounds = argc > 2 ? atoi(argv[2]) : 1000;
  static const int most[] = {2, 12, 60, 600, 9000, kMost};
  MPI_Datatype map;
  MPI_Type_contiguous(2, MPI_UNSIGNED, &map);
  MPI_Type_commit(&map);
  MPI_Op_create(compose_maps, 0, &compose);
  const int window = argc > 3 ? atoi(argv[3]) : 0;
  CHECK(window <= kWindow);
  for (int c = 0; c <= window; c++) {
    calls[c].request = MPI_REQUEST_NULL;
    calls[c].out = malloc(sizeof *out * kMost);
    calls[c].in = malloc(sizeof *in * kMost);
  }
  for (int c = 0; c < kComms; c++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
  same_bits(comms[0]);
  for (int round = 0; round < rounds; round++) {
    const int c = (int)next_random(kComms), kind = (int)next_random(kKinds), root = (int)next_random(64);
    const unsigned limit = (unsigned)most[next_random(6)];
    const int n = (int)next_random(limit + 1), late = (int)next_random(4 * (unsigned)world_size);
    if (late == world_rank) come_late();
    const int at =
        window != 0 && next_random(4) != 0 ? (int)next_random((unsigned)window) : window;  // the last one blocks
    Call* call = &calls[at];
    if (at != window) end(at, (unsigned)(round * 7 + world_rank * 5), window);
    MPI_Comm_rank(comms[c], &call->rank);
    MPI_Comm_size(comms[c], &call->size);
    call->kind = kind, call->round = round, call->n = n, call->root = root % call->size;
    begin(call, comms[c], map, at != window ? &call->request : NULL);
    if (at == window) check(call);
    if (next_random(40) != 0) continue;
    MPI_Comm_free(&comms[c]);
    if (next_random(2) == 0) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
    } else {
      MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comms[c]);
    }
  }
  for (int c = 0; c < window; c++) end((c + world_rank) % window, 2, window);
  for (int c = 0; c < kComms; c++) MPI_Comm_free(&comms[c]);
  for (int c = 0; c <= window; c++) free(calls[c].out), free(calls[c].in);
  MPI_Op_free(&compose);
  MPI_Type_free(&map);
  return finish();
}
