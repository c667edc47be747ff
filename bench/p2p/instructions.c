// Messages of 8 bytes from a process to itself: what bench/run counts the instructions of, under callgrind, which collects
// inside send_side() and receive_side_*() alone.
//   instructions <single|multiple> <rounds>    the thread level
#include "../common/bench.h"

#include <mpi.h>

static char out[8], in[8];

__attribute__((noinline)) static void send_side(void) {
  MPI_Request request;
  MPI_Isend(out, sizeof out, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

__attribute__((noinline)) static void receive_side_begin(MPI_Request* request) {
  MPI_Irecv(in, sizeof in, MPI_BYTE, 0, 1, MPI_COMM_WORLD, request);
}

__attribute__((noinline)) static void receive_side_end(MPI_Request* request) { MPI_Wait(request, MPI_STATUS_IGNORE); }

int main(int argc, char** argv) {
  int multiple = argc == 3 && strcmp(argv[1], "multiple") == 0, provided;
  if (argc != 3 || (!multiple && strcmp(argv[1], "single") != 0)) {
    fprintf(stderr, "instructions: say single or multiple, and how many rounds\n");
    return 2;
  }
  MPI_Init_thread(&argc, &argv, multiple ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  for (int rounds = atoi(argv[2]); rounds > 0; rounds--) {
    MPI_Request request;
    receive_side_begin(&request);
    send_side();
    receive_side_end(&request);
  }
  MPI_Finalize();
  return 0;
}
