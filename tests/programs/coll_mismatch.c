// Collectives whose ranks do not agree about how much data there is. Nobody hangs, nothing is written beyond a buffer,
// whoever sees it reports it, and the next collective on the communicator is a good one. A message that is longer than the
// receive is MPI_ERR_TRUNCATE; Heddle says MPI_ERR_NOT_SAME of a shorter one, and others may take it.
#include "coll.h"

// Ints of the ranks that are right, and of the one that is not: inline, eager, rendezvous; and such that each alone would go another
// way through a board, though no plan has a limit between them.
static const int pairs[][2] = {{4, 3}, {4, 5},    {3000, 2250}, {3000, 3750},  {20000, 15000}, {20000, 25000},
                               {4, 0}, {3000, 0}, {0, 4},       {5000, 20000}, {20000, 5000}};
static int n, room;
static int outcome;    // this rank's error class
static int *out, *in;  // `room` ints

#undef RUN
#define RUN(Blocking, nonblocking_name, ...)                                \
  do {                                                                      \
    MPI_Request request_ = MPI_REQUEST_NULL;                                \
    int code_;                                                              \
    if (form == kNonblocking) {                                             \
      code_ = MPI_I##nonblocking_name(__VA_ARGS__, &request_);              \
      CHECK_EQ(code_, MPI_SUCCESS);                                         \
      code_ = MPI_Wait(&request_, MPI_STATUS_IGNORE);                       \
    } else if (form == kPersistent) {                                       \
      code_ = MPI_##Blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &request_); \
      CHECK_EQ(code_, MPI_SUCCESS);                                         \
      MPI_Start(&request_);                                                 \
      code_ = MPI_Wait(&request_, MPI_STATUS_IGNORE);                       \
      MPI_Request_free(&request_);                                          \
    } else {                                                                \
      code_ = MPI_##Blocking(__VA_ARGS__);                                  \
    }                                                                       \
    outcome = error_class(code_);                                           \
  } while (0)

static void prepare(void) {
  for (int i = 0; i < room; i++) out[i] = element(rank, 0, i), in[i] = -1;
}

// What some rank has to report: what has come was longer, or shorter. One that sees both sides of it may say either.
static void check_reports(int longer, int shorter) {
  int seen[2] = {outcome == MPI_ERR_TRUNCATE, outcome == MPI_ERR_NOT_SAME}, any[2] = {0, 0};
  CHECK(outcome == MPI_SUCCESS || seen[0] || seen[1], "error class %d", outcome);
  MPI_Allreduce(seen, any, 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (longer) CHECK(any[0], "no rank reports that a message was longer");
  if (shorter) CHECK(any[1], "no rank reports that a message was shorter");
}

// Afterwards, a collective that is right.
static void check(int longer, int shorter) {
  int sum = 0, one = 1;
  check_reports(longer, shorter);
  outcome = error_class(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(outcome, MPI_SUCCESS);
  CHECK_EQ(sum, size);
}

static void check_between(int longer, int shorter) {
  int others, sum = 0, one = 1;
  check_reports(longer, shorter);
  MPI_Comm_remote_size(comm, &others);
  outcome = error_class(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
  CHECK_EQ(outcome, MPI_SUCCESS);
  CHECK_EQ(sum, others);
}

static void check_fence(int from) {
  for (int i = from; i < room; i++) CHECK_EQ(in[i], -1);
}

// `mine` ints at the odd one, and n at the others.
static void bcasts(int mine) {
  for (int root = 0; root < size; root++) {
    const int count = rank == root ? mine : n;
    prepare();
    if (rank == root) memcpy(in, out, sizeof(int) * (size_t)mine);
    RUN(Bcast, bcast, in, count, MPI_INT, root, comm);
    if (rank != root) {
      check_fence(n);
      const int good = outcome != MPI_SUCCESS ? 0 : mine < n ? mine : n;
      for (int i = 0; i < good; i++) CHECK_EQ(in[i], element(root, 0, i));
    }
    check(mine > n, mine < n);
  }
}

static void gathers(int mine) {
  const int odd = size - 1;
  for (int root = 0; root < size; root++) {
    prepare();
    RUN(Gather, gather, out, rank == odd ? mine : n, MPI_INT, in, n, MPI_INT, root, comm);
    check_fence(rank == root ? n * size : 0);
    check(mine > n, mine < n);
  }
}

static void scatters(int mine) {
  for (int root = 0; root < size; root++) {
    prepare();
    RUN(Scatter, scatter, out, n, MPI_INT, in, rank == size - 1 ? mine : n, MPI_INT, root, comm);
    check_fence(rank == size - 1 ? mine : n);
    check(mine<n, mine> n);
  }
}

static void gathervs(int mine) {
  int *counts = malloc(sizeof(int) * (size_t)size), *displs = malloc(sizeof(int) * (size_t)size);
  for (int i = 0; i < size; i++) counts[i] = n, displs[i] = i * n;
  prepare();
  RUN(Gatherv, gatherv, out, rank == size - 1 ? mine : n, MPI_INT, in, counts, displs, MPI_INT, 0, comm);
  if (rank == 0) {
    check_fence(n * size);
    for (int r = 0; r < size - 1; r++)
      for (int i = 0; i < n; i++) CHECK_EQ(in[r * n + i], element(r, 0, i));
  }
  check(mine > n, mine < n);
  prepare();
  RUN(Scatterv, scatterv, out, counts, displs, MPI_INT, in, rank == size - 1 ? mine : n, MPI_INT, 0, comm);
  check_fence(rank == size - 1 ? mine : n);
  if (rank < size - 1)
    for (int i = 0; i < n; i++) CHECK_EQ(in[i], element(0, 0, rank * n + i));
  check(mine<n, mine> n);
  free(counts);
  free(displs);
}

static void alltoalls(int mine) {
  const int sent = rank == 0 ? mine : n;
  prepare();
  RUN(Alltoall, alltoall, out, sent, MPI_INT, in, n, MPI_INT, comm);
  check_fence(n * size);
  if (outcome == MPI_SUCCESS)
    for (int r = 0; r < size; r++)
      for (int i = 0; i < n; i++) CHECK_EQ(in[r * n + i], element(r, 0, rank * n + i));
  check(mine > n, mine < n);
}

static void allgathers(int mine) {
  prepare();
  RUN(Allgather, allgather, out, rank == 0 ? mine : n, MPI_INT, in, n, MPI_INT, comm);  // its own block, seen by rank 0
  check_fence(n * size);
  check(mine > n, mine < n);
}

// A rank that reduces more than the others gets less than it waits for, and they get more.
static void reductions(int mine) {
  const int count = rank == size - 1 ? mine : n;
  prepare();
  RUN(Allreduce, allreduce, out, in, count, MPI_INT, MPI_SUM, comm);
  check_fence(count);
  check(1, 1);
  prepare();
  RUN(Reduce, reduce, out, in, count, MPI_INT, MPI_SUM, 0, comm);
  check_fence(rank == 0 ? n : 0);
  check(mine > n, mine < n);
  prepare();
  RUN(Scan, scan, out, in, count, MPI_INT, MPI_SUM, comm);
  check_fence(count);
  check(mine<n, mine> n);  // the last rank needs the others, and they need not hear of it
}

// Rank 0 adds up all that the others have, and deals it out.
static void reduce_scatters(int mine) {
  prepare();
  RUN(Reduce_scatter_block, reduce_scatter_block, out, in, rank == size - 1 ? mine : n, MPI_INT, MPI_SUM, comm);
  check_fence(rank == size - 1 ? mine : n);
  check(1, 1);
}

// Where each rank has a count for each other one: of rank 0's block, or of what goes from rank 0 to the last one.
static void vectors(int mine) {
  const int last = size - 1;
  int *sends = malloc(sizeof(int) * (size_t)size), *receives = malloc(sizeof(int) * (size_t)size);
  int *displs = malloc(sizeof(int) * (size_t)size), *bytes = malloc(sizeof(int) * (size_t)size);
  MPI_Datatype* types = malloc(sizeof(MPI_Datatype) * (size_t)size);
  for (int i = 0; i < size; i++) {
    sends[i] = receives[i] = n;
    displs[i] = i * n, bytes[i] = i * n * (int)sizeof(int);
    types[i] = MPI_INT;
  }
  if (rank == 0) receives[0] = mine, displs[0] = size * n;  // its own block, where it does no harm
  prepare();
  RUN(Allgatherv, allgatherv, out, rank == 0 ? mine : n, MPI_INT, in, receives, displs, MPI_INT, comm);
  check_fence(rank == 0 ? size * n + mine : size * n);
  check(mine > n, mine < n);
  receives[0] = n, displs[0] = 0;
  if (rank == 0) sends[last] = mine;
  prepare();
  RUN(Alltoallv, alltoallv, out, sends, displs, MPI_INT, in, receives, displs, MPI_INT, comm);
  check_fence(n * size);
  for (int r = rank == last; r < size; r++)
    for (int i = 0; i < n; i++) CHECK_EQ(in[r * n + i], element(r, 0, rank * n + i));
  check(mine > n, mine < n);
  prepare();
  RUN(Alltoallw, alltoallw, out, sends, bytes, types, in, receives, bytes, types, comm);
  check_fence(n * size);
  for (int r = rank == last; r < size; r++)
    for (int i = 0; i < n; i++) CHECK_EQ(in[r * n + i], element(r, 0, rank * n + i));
  check(mine > n, mine < n);
  free(sends);
  free(receives);
  free(displs);
  free(bytes);
  free(types);
}

// Round a ring, where rank 0 sends another length than the others wait for.
static void neighbors(int mine) {
  MPI_Comm outer = comm, ring;
  const int one = 1;
  MPI_Cart_create(comm, 1, &size, &one, 0, &ring);
  comm = ring;
  prepare();
  RUN(Neighbor_allgather, neighbor_allgather, out, rank == 0 ? mine : n, MPI_INT, in, n, MPI_INT, comm);
  check_fence(2 * n);
  check(mine > n, mine < n);
  prepare();
  RUN(Neighbor_alltoall, neighbor_alltoall, out, rank == 0 ? mine : n, MPI_INT, in, n, MPI_INT, comm);
  check_fence(2 * n);
  check(mine > n, mine < n);
  int sends[2] = {rank == 0 ? mine : n, rank == 0 ? mine : n}, receives[2] = {n, n}, displs[2] = {0, n};
  prepare();
  RUN(Neighbor_allgatherv, neighbor_allgatherv, out, rank == 0 ? mine : n, MPI_INT, in, receives, displs, MPI_INT,
      comm);
  check_fence(2 * n);
  check(mine > n, mine < n);
  prepare();
  RUN(Neighbor_alltoallv, neighbor_alltoallv, out, sends, displs, MPI_INT, in, receives, displs, MPI_INT, comm);
  check_fence(2 * n);
  check(mine > n, mine < n);
  comm = outer;
  MPI_Comm_free(&ring);
}

// Between the even ranks and the odd ones, of which the even ones are wrong.
static void between_groups(int mine) {
  MPI_Comm outer = comm, half, inter;
  const int odd = world_rank % 2, count = odd ? n : mine, root = odd ? 0 : world_rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Comm_split(comm, odd, 0, &half);
  MPI_Intercomm_create(half, 0, comm, 1 - odd, 0, &inter);
  MPI_Comm_free(&half);
  comm = inter;
  prepare();
  RUN(Bcast, bcast, odd ? in : out, count, MPI_INT, root, comm);
  check_fence(n);
  check_between(mine > n, mine < n);
  prepare();
  RUN(Allgather, allgather, out, count, MPI_INT, in, n, MPI_INT, comm);
  check_fence(n * size);
  check_between(mine > n, mine < n);
  prepare();
  RUN(Allreduce, allreduce, out, in, count, MPI_INT, MPI_SUM, comm);
  check_fence(count);
  check_between(1, 1);
  comm = outer;
  MPI_Comm_free(&inter);
}

static void mismatches(void) {
  for (size_t p = 0; p < sizeof pairs / sizeof *pairs; p++) {
    const int mine = pairs[p][1];
    n = pairs[p][0];
    room = 2 * (n + mine) * size;
    out = malloc(sizeof(int) * (size_t)room);
    in = malloc(sizeof(int) * (size_t)room);
    bcasts(mine);
    gathers(mine);
    scatters(mine);
    gathervs(mine);
    neighbors(mine);
    between_groups(mine);
    vectors(mine);
    alltoalls(mine);
    allgathers(mine);
    reductions(mine);
    reduce_scatters(mine);
    free(out);
    free(in);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  rank = world_rank, size = world_size;
  for (form = kBlocking; size > 1 && form < kForms; form++) mismatches();
  MPI_Comm_free(&comm);
  return finish();
}
