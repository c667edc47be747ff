// compute SECONDS [LATE]: the last rank calls nothing of MPI for that long while the others wait for it, in a receive and in
// MPI_Finalize. With LATE, that rank calls MPI_Init so much later, and each says how long that took for it.
#include <time.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char** argv) {
  int seconds = argc > 1 ? atoi(argv[1]) : 1, mine, sum;
  const char* number = getenv("PMI_RANK");
  if (argc > 2 && number != NULL && atoi(number) == atoi(argv[2])) sleep((unsigned)seconds);
  time_t before = time(NULL);
  start(&argc, &argv);
  if (argc > 2) {
    printf("rank %d: MPI_Init took %d s\n", world_rank, (int)(time(NULL) - before));
    MPI_Finalize();
    return 0;
  }
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
