// compute SECONDS: the last rank calls nothing of MPI for that long while the others wait for it, in a receive and in
// MPI_Finalize.
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 1, mine, sum;
  start(&argc, &argv);
  int last = world_size - 1, computes = world_rank == last;
  mine = world_rank;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (computes) {
    sleep((unsigned)seconds);
    for (int rank = 0; rank < last; rank++) MPI_Send(&sum, 1, MPI_INT, rank, 1, MPI_COMM_WORLD);
  } else {
    int told = -1;
    MPI_Recv(&told, 1, MPI_INT, last, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(told, world_size * (world_size - 1) / 2);
  }
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(sum, world_size * (world_size - 1) / 2);
  if (computes) sleep((unsigned)seconds);
  MPI_Finalize();
  return 0;
}
