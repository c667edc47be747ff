// A random sequence of blocking collectives, the same at all ranks, on a few communicators that come and go: with roots that do
// not wait for the others, ranks that come late, data of a word, of a cache line and of several pages, and everything verified.
//   coll_mix SEED ROUNDS
#include "check.h"

enum { kMost = 40000, kComms = 3, kKinds = 11 };

static unsigned long long state;
static unsigned next_random(unsigned n) {  // the same sequence at all ranks
  state = state * 6364136223846793005ull + 1442695040888963407ull;
  return (unsigned)(state >> 33) % n;
}

static MPI_Comm comms[kComms];
static MPI_Op compose;
static int *out, *in;

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

// `n` ints, or n/2 maps, of each rank.
static void collective(int kind, MPI_Comm comm, int round, int n, int root, MPI_Datatype map) {
  int rank, size;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  root %= size;
  const int maps = n / 2, block = n / size, map_block = maps / size;
  prepare(rank, round, kMost);
  switch (kind) {
    case 0:
      MPI_Barrier(comm);
      break;
    case 1:
      if (rank == root) memcpy(in, out, sizeof *in * (size_t)n);
      MPI_Bcast(in, n, MPI_INT, root, comm);
      check_values(root, round, 0, 0, n);
      break;
    case 2:
      MPI_Gather(out, block, MPI_INT, in, block, MPI_INT, root, comm);
      for (int r = 0; r < size && rank == root; r++) check_values(r, round, 0, r * block, block);
      break;
    case 3:
      MPI_Allgather(out, block, MPI_INT, in, block, MPI_INT, comm);
      for (int r = 0; r < size; r++) check_values(r, round, 0, r * block, block);
      break;
    case 4:
      MPI_Scatter(out, block, MPI_INT, in, block, MPI_INT, root, comm);
      check_values(root, round, rank * block, 0, block);
      break;
    case 5:
      MPI_Alltoall(out, block, MPI_INT, in, block, MPI_INT, comm);
      for (int r = 0; r < size; r++) check_values(r, round, rank * block, r * block, block);
      break;
    case 6:
      MPI_Reduce(out, in, maps, map, compose, root, comm);
      if (rank == root) check_maps(size - 1, round, 0, maps);
      break;
    case 7:
      memcpy(in, out, sizeof *in * (size_t)n);
      MPI_Allreduce(MPI_IN_PLACE, in, maps, map, compose, comm);
      check_maps(size - 1, round, 0, maps);
      break;
    case 8:
      MPI_Reduce_scatter_block(out, in, map_block, map, compose, comm);
      check_maps(size - 1, round, rank * map_block, map_block);
      break;
    case 9:
      MPI_Scan(out, in, maps, map, compose, comm);
      check_maps(rank, round, 0, maps);
      break;
    default:
      MPI_Exscan(out, in, maps, map, compose, comm);
      if (rank > 0) check_maps(rank - 1, round, 0, maps);
  }
  for (int i = n; i < kMost; i++) CHECK_EQ(in[i], -1);
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
  out = malloc(sizeof *out * kMost);
  in = malloc(sizeof *in * kMost);
  for (int c = 0; c < kComms; c++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
  same_bits(comms[0]);
  for (int round = 0; round < rounds; round++) {
    const int c = (int)next_random(kComms), kind = (int)next_random(kKinds), root = (int)next_random(64);
    const unsigned limit = (unsigned)most[next_random(6)];
    const int n = (int)next_random(limit + 1), late = (int)next_random(4 * (unsigned)world_size);
    if (late == world_rank) come_late();
    collective(kind, comms[c], round, n, root, map);
    if (next_random(40) != 0) continue;
    MPI_Comm_free(&comms[c]);
    if (next_random(2) == 0) {
      MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
    } else {
      MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, -world_rank, &comms[c]);
    }
  }
  for (int c = 0; c < kComms; c++) MPI_Comm_free(&comms[c]);
  MPI_Op_free(&compose);
  MPI_Type_free(&map);
  return finish();
}
