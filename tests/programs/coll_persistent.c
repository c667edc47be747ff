// Persistent collectives over many runs: fresh data in each, different orders of starting, other collectives between, and
// arguments that the program no longer holds.
#include "check.h"

enum { kOps = 5, kRounds = 40, kInts = 3000 };

static int sums_in[kInts], sums_out[kInts], sent[kInts], prefix_in, prefix_out, *all;
static MPI_Request requests[kOps];

static int value(int rank, int round, int i) { return rank * 10007 + round * 101 + i; }

static void make(void) {
  MPI_Datatype pair;
  int* counts = malloc((size_t)world_size * 2 * sizeof *counts);
  int* displacements = counts + world_size;
  for (int r = 0; r < world_size; r++) counts[r] = r % 3, displacements[r] = 3 * r;
  MPI_Type_contiguous(2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Allreduce_init(sums_in, sums_out, kInts, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[0]);
  MPI_Bcast_init(sent, kInts / 2, pair, world_size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[1]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[2]);
  MPI_Scan_init(&prefix_in, &prefix_out, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[3]);
  MPI_Allgatherv_init(sent, world_rank % 3, MPI_INT, all, counts, displacements, MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &requests[4]);
  MPI_Type_free(&pair);
  memset(counts, 0x7f, (size_t)world_size * 2 * sizeof *counts);
  free(counts);
}

static void check_round(int round) {
  int sum = 0, prefix = 0;
  for (int r = 0; r < world_size; r++) sum += value(r, round, 0);
  for (int r = 0; r <= world_rank; r++) prefix += value(r, round, 0);
  for (int i = 0; i < kInts; i++) CHECK_EQ(sums_out[i], sum + world_size * i);
  CHECK_EQ(prefix_out, prefix);
}

// Runs of which nobody waits for all: a root is ahead of the others, and what they had not read yet must stay.
static void root_ahead(int ints) {
  int *mine = malloc((size_t)ints * sizeof *mine),
      *gathered = malloc((size_t)ints * (size_t)world_size * sizeof *gathered);
  MPI_Request down, up;
  MPI_Bcast_init(mine, ints, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &down);
  MPI_Gather_init(mine, ints, MPI_INT, gathered, ints, MPI_INT, world_size - 1, MPI_COMM_WORLD, MPI_INFO_NULL, &up);
  for (int round = 0; round < 200; round++) {
    for (int i = 0; i < ints; i++) mine[i] = world_rank == 0 ? value(3, round, i) : -1;
    MPI_Start(&down);
    MPI_Wait(&down, MPI_STATUS_IGNORE);
    for (int i = 0; i < ints; i++) CHECK_EQ(mine[i], value(3, round, i));
  }
  for (int round = 0; round < 200; round++) {
    for (int i = 0; i < ints; i++) mine[i] = value(world_rank, round, i);
    MPI_Start(&up);
    MPI_Wait(&up, MPI_STATUS_IGNORE);
    for (int r = 0; r < world_size && world_rank == world_size - 1; r++)
      for (int i = 0; i < ints; i++) CHECK_EQ(gathered[r * ints + i], value(r, round, i));
  }
  MPI_Request_free(&down);
  MPI_Request_free(&up);
  free(gathered);
  free(mine);
}

// MPI_Start is local, also where the run cannot begin yet because the others are far behind.
static void start_is_local(int ints) {
  int* data = calloc((size_t)ints, sizeof *data);
  int runs = 0;
  MPI_Request request;
  MPI_Bcast_init(data, ints, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  if (world_rank == 0) {
    for (int flag = 1; flag && runs < 500; runs++) {
      MPI_Start(&request);
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    }
    for (int r = 1; r < world_size; r++) MPI_Send(&runs, 1, MPI_INT, r, 2, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(&runs, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < runs; i++) {
      MPI_Start(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
  MPI_Request_free(&request);
  free(data);
}

// Does not commute: the lowest rank's operand.
static void take_first(void* in, void* inout, int* length, MPI_Datatype* type) {
  (void)type;
  memcpy(inout, in, (size_t)*length * sizeof(int));
}

// Every kind that needs one turn, in place and not, while the caller waits for a message that its peer sends only after its own
// has ended: any call of MPI carries all of them on.
static void every_kind(int ints) {
  enum { kKinds = 10 };
  const int last = world_size - 1, next = (world_rank + 1) % world_size, before = (world_rank + last) % world_size;
  const size_t room = (size_t)ints * (size_t)world_size;
  int* in[kKinds];
  int* out[kKinds];
  for (int k = 0; k < kKinds; k++) in[k] = malloc(room * sizeof(int)), out[k] = malloc(room * sizeof(int));
  MPI_Op op;
  MPI_Op_create(take_first, 0, &op);
  MPI_Request r[kKinds];
  const MPI_Comm w = MPI_COMM_WORLD;
  MPI_Bcast_init(out[0], ints, MPI_INT, last, w, MPI_INFO_NULL, &r[0]);
  MPI_Gather_init(in[1], ints, MPI_INT, out[1], ints, MPI_INT, last, w, MPI_INFO_NULL, &r[1]);
  MPI_Scatter_init(in[2], ints, MPI_INT, out[2], ints, MPI_INT, last, w, MPI_INFO_NULL, &r[2]);
  MPI_Allgather_init(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, out[3], ints, MPI_INT, w, MPI_INFO_NULL, &r[3]);
  MPI_Alltoall_init(in[4], ints, MPI_INT, out[4], ints, MPI_INT, w, MPI_INFO_NULL, &r[4]);
  MPI_Reduce_init(in[5], out[5], ints, MPI_INT, MPI_SUM, last, w, MPI_INFO_NULL, &r[5]);
  MPI_Allreduce_init(MPI_IN_PLACE, out[6], ints, MPI_INT, op, w, MPI_INFO_NULL, &r[6]);
  MPI_Reduce_scatter_block_init(in[7], out[7], ints, MPI_INT, MPI_SUM, w, MPI_INFO_NULL, &r[7]);
  MPI_Scan_init(in[8], out[8], ints, MPI_INT, MPI_SUM, w, MPI_INFO_NULL, &r[8]);
  MPI_Exscan_init(in[9], out[9], ints, MPI_INT, MPI_SUM, w, MPI_INFO_NULL, &r[9]);
  MPI_Op_free(&op);
  for (int round = 0; round < 20; round++) {
    int token = round;
    for (int k = 0; k < kKinds; k++) {
      for (size_t i = 0; i < room; i++) in[k][i] = value(world_rank, round, (int)i), out[k][i] = -1;
    }
    for (int i = 0; i < ints; i++) {
      if (world_rank == last) out[0][i] = value(last, round, i);
      out[3][world_rank * ints + i] = value(world_rank, round, i);
      out[6][i] = value(world_rank, round, i);
    }
    for (int k = 0; k < kKinds; k++) MPI_Start(&r[(k + round + world_rank) % kKinds]);
    // A chain: rank 0 completes its own first, rank 1 only when it has heard of that.
    if (world_rank != 0) MPI_Recv(&token, 1, MPI_INT, before, 1, w, MPI_STATUS_IGNORE);
    CHECK_EQ(token, round);
    MPI_Waitall(kKinds, r, MPI_STATUSES_IGNORE);
    if (world_rank != last) MPI_Send(&token, 1, MPI_INT, next, 1, w);
    for (int i = 0; i < ints; i++) {
      int sum = 0, scanned = 0, mine = 0;
      for (int q = 0; q <= last; q++) {
        const int v = value(q, round, i);
        sum += v;
        if (q < world_rank) mine += v;
        if (q <= world_rank) scanned += v;
        if (world_rank == last) CHECK_EQ(out[1][q * ints + i], v);
        CHECK_EQ(out[3][q * ints + i], v);
        CHECK_EQ(out[4][q * ints + i], value(q, round, world_rank * ints + i));
      }
      CHECK_EQ(out[0][i], value(last, round, i));
      CHECK_EQ(out[2][i], value(last, round, world_rank * ints + i));
      if (world_rank == last) CHECK_EQ(out[5][i], sum);
      CHECK_EQ(out[6][i], value(0, round, i));
      CHECK_EQ(out[7][i], sum + world_size * world_rank * ints);
      CHECK_EQ(out[8][i], scanned);
      if (world_rank != 0) CHECK_EQ(out[9][i], mine);
    }
  }
  for (int k = 0; k < kKinds; k++) {
    MPI_Request_free(&r[k]);
    free(in[k]);
    free(out[k]);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  all = calloc((size_t)world_size * 3, sizeof *all);
  make();
  for (int i = 0; i < kOps; i++) {
    int flag = 0;
    MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
    CHECK(flag && requests[i] != MPI_REQUEST_NULL, "operation %d is inactive", i);
  }
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kInts; i++) sums_in[i] = value(world_rank, round, i);
    prefix_in = value(world_rank, round, 0);
    for (int i = 0; i < kInts; i++) sent[i] = world_rank == world_size - 1 ? value(7, round, i) : -1;
    // Operation 4 sends what operation 1 brings, so it comes after the others; those start in any order.
    for (int i = 0; i < 4; i++) MPI_Start(&requests[(i + world_rank + round) % 4]);
    if (round % 2) {
      int one = 1, ranks;
      MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
      CHECK_EQ(ranks, world_size);
    }
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    check_round(round);
    for (int i = 0; i < kInts; i++) CHECK_EQ(sent[i], value(7, round, i));
    MPI_Startall(1, &requests[4]);
    MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
    for (int r = 0; r < world_size; r++)
      for (int i = 0; i < r % 3; i++) CHECK_EQ(all[3 * r + i], value(7, round, i));
  }
  MPI_Request_free(&requests[2]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Start(&requests[0]);
  CHECK_CLASS(MPI_Start(&requests[0]), MPI_ERR_REQUEST);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
  for (int i = 0; i < kOps; i++)
    if (i != 2) MPI_Request_free(&requests[i]);
  free(all);
  // In a line, a small cell, a cell, and by messages.
  static const int lengths[] = {1, 12, 40, 300, 70000};
  for (int i = 0; i < 5; i++) {
    root_ahead(lengths[i] > 300 ? 20000 : lengths[i]);
    start_is_local(lengths[i] > 300 ? 20000 : lengths[i]);
    // Then long enough that an alltoall of 5 ranks is longer than a cell, and its blocks are shorter than what is read: by messages.
    every_kind(lengths[i] > 300 ? 5000 : lengths[i]);
  }
  return finish();
}
