// What a launcher gives a program, and takes from it.
//   launched stdin BYTES      rank 0 reads so much of its standard input after MPI_Init, every rank gets it
//   launched exit RANK CODE   that rank ends with CODE after MPI_Finalize
//   launched wait             every rank says its process id and waits for a message that nobody sends
#include <unistd.h>

#include "check.h"

static void read_input(int most) {
  static char data[1 << 20];
  int bytes = 0;
  for (ssize_t n = 1; world_rank == 0 && bytes < most && n > 0; bytes += (int)n) {
    n = read(STDIN_FILENO, data + bytes, (size_t)(most - bytes));
    CHECK(n >= 0);
  }
  MPI_Bcast(&bytes, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Bcast(data, bytes, MPI_CHAR, 0, MPI_COMM_WORLD);
  unsigned sum = 0;
  for (int i = 0; i < bytes; i++) sum = sum * 31 + (unsigned char)data[i];
  printf("rank %d of %d: %d bytes, sum %08x\n", world_rank, world_size, bytes, sum);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const char* how = argc > 1 ? argv[1] : "stdin";
  if (strcmp(how, "stdin") == 0) read_input(argc > 2 ? atoi(argv[2]) : 0);
  if (strcmp(how, "wait") == 0) {
    printf("rank %d waits: %d\n", world_rank, (int)getpid());
    fflush(stdout);
    MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return argc > 3 && atoi(argv[2]) == world_rank ? atoi(argv[3]) : 0;
}
