// Barriers: nobody leaves before all have come, blocking and nonblocking, many in a row, several outstanding at once.
#include "coll.h"

// Each rank tells rank 0 before the barrier; after it, rank 0 must find all of them without waiting.
static void nobody_early(void) {
  for (int round = 0; round < 50; round++) {
    if (rank != 0) MPI_Send(&round, 1, MPI_INT, 0, 5, comm);
    if (form != kBlocking) {
      MPI_Request request;
      int flag = 0;
      MPI_Ibarrier(comm, &request);
      while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    } else {
      MPI_Barrier(comm);
    }
    for (int r = 1; r < size && rank == 0; r++) {
      int got;
      MPI_Recv(&got, 1, MPI_INT, r, 5, comm, MPI_STATUS_IGNORE);
      CHECK_EQ(got, round);
    }
  }
}

// The last rank enters only when told so by point-to-point: until then nobody's barrier is complete.
static void waits_for_the_last(void) {
  if (size < 2) return;
  MPI_Request request;
  int flag, last = size - 1;
  if (rank == last) MPI_Recv(NULL, 0, MPI_INT, 0, 6, comm, MPI_STATUS_IGNORE);
  MPI_Ibarrier(comm, &request);
  if (rank == 0) {
    for (int i = 0; i < 100; i++) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      CHECK(!flag, "the last rank has not come");
    }
    MPI_Send(NULL, 0, MPI_INT, last, 6, comm);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

// Several different ones outstanding, completed in another order, with point-to-point traffic and wildcards beside
// them.
static void outstanding(void) {
  enum { kCount = 3000 };
  static int sum[kCount], ones[kCount], all[64], from_root[kCount];
  int right = (rank + 1) % size, wild = -1, mine = rank * 5;
  MPI_Request requests[6];
  for (int i = 0; i < kCount; i++) ones[i] = i + rank, sum[i] = -1, from_root[i] = rank == size - 1 ? i * 3 : -1;
  MPI_Irecv(&wild, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[0]);
  MPI_Iallreduce(ones, sum, kCount, MPI_INT, MPI_SUM, comm, &requests[1]);
  MPI_Ibcast(from_root, kCount, MPI_INT, size - 1, comm, &requests[2]);
  MPI_Iallgather(&mine, 1, MPI_INT, all, 1, MPI_INT, comm, &requests[3]);
  MPI_Ibarrier(comm, &requests[4]);
  MPI_Isend(&mine, 1, MPI_INT, right, 9, comm, &requests[5]);
  MPI_Wait(&requests[4], MPI_STATUS_IGNORE);
  MPI_Wait(&requests[3], MPI_STATUS_IGNORE);
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
  CHECK_EQ(wild, (rank + size - 1) % size * 5);
  for (int r = 0; r < size; r++) CHECK_EQ(all[r], r * 5);
  for (int i = 0; i < kCount; i++) {
    CHECK_EQ(sum[i], i * size + size * (size - 1) / 2);
    CHECK_EQ(from_root[i], i * 3);
  }
  MPI_Barrier(comm);  // or a message of the next check could meet the wildcard of a rank that is behind
}

static void checks(void) {
  nobody_early();
  waits_for_the_last();
  outstanding();
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  on_each_comm(checks);
  return finish();
}
