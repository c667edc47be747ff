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
  return finish();
}
