// Long broadcasts of two ranks, several under way, on communicators that come and go. Where each is read, and some reads fail, the
// ranks hear of that in different ones.
#include "check.h"

enum { kRounds = 60, kUnderWay = 6, kInts = 20000 };

static int value(int round, int which, int i) { return round * 7919 + which * 131 + i; }

int main(int argc, char** argv) {
  start(&argc, &argv);
  static int data[kUnderWay][kInts];
  for (int round = 0; round < kRounds; round++) {
    MPI_Comm comm;
    MPI_Request requests[kUnderWay];
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Barrier(comm);
    for (int k = 0; k < kUnderWay; k++) {
      for (int i = 0; i < kInts; i++) data[k][i] = world_rank == k % world_size ? value(round, k, i) : -1;
    }
    for (int k = 0; k < kUnderWay; k++) MPI_Ibcast(data[k], kInts, MPI_INT, k % world_size, comm, &requests[k]);
    for (int k = 0; k < kUnderWay; k++) {
      MPI_Wait(&requests[world_rank == 0 ? k : kUnderWay - 1 - k], MPI_STATUS_IGNORE);
    }
    for (int k = 0; k < kUnderWay; k++) {
      for (int i = 0; i < kInts; i++) CHECK_EQ(data[k][i], value(round, k, i));
    }
    MPI_Comm_free(&comm);
  }
  return finish();
}
