// Messages of 8 bytes from a process to itself: what bench/run counts the instructions of, under callgrind.
//   instructions <expected|unexpected> <rounds>    the receive is posted before the send, or after it
#include "../common/bench.h"

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 3) {
    fprintf(stderr, "instructions: say expected or unexpected, and how many rounds\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  int expected = strcmp(argv[1], "expected") == 0;
  char out[8] = {0}, in[8];
  for (int rounds = atoi(argv[2]); rounds > 0; rounds--) {
    MPI_Request requests[2];
    if (expected) MPI_Irecv(in, sizeof in, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, sizeof out, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[1]);
    if (!expected) MPI_Irecv(in, sizeof in, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
