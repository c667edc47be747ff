// Synchronous sends back and forth, of growing sizes: an answer may never wait for the acknowledgement of what it answers.
//   p2p_ssend [rounds]
#include "check.h"

int main(int argc, char** argv) {
  start(&argc, &argv);
  int rounds = argc > 1 ? atoi(argv[1]) : 50, other = 1 - world_rank;
  size_t largest = 4 << 20;
  unsigned char* data = malloc(largest);
  for (size_t bytes = 0; bytes <= largest && world_rank < 2; bytes = bytes ? bytes * 2 : 1) {
    int n = bytes > (256 << 10) ? rounds / 20 + 1 : rounds;
    for (int i = 0; i < n; i++) {
      unsigned seed = (unsigned)(i * 2 + 1);
      if (world_rank == 0) {
        fill(data, bytes, seed);
        MPI_Ssend(data, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
        MPI_Recv(data, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_PATTERN(data, bytes, seed + 1);
      } else {
        MPI_Recv(data, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        CHECK_PATTERN(data, bytes, seed);
        fill(data, bytes, seed + 1);
        MPI_Ssend(data, (int)bytes, MPI_BYTE, other, 1, MPI_COMM_WORLD);
      }
    }
  }
  free(data);
  return finish();
}
