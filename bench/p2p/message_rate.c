// Messages per second from rank 0 to rank 1: windows of 64 nonblocking sends of 8 bytes, one empty answer per window.
//   message_rate [seconds]
#include "../common/bench.h"

#include <mpi.h>

enum { kWindow = 64, kBytes = 8, kBatches = 7 };

static double batch(int windows, int rank) {
  char data[kWindow][kBytes];
  MPI_Request requests[kWindow];
  memset(data, 1, sizeof data);
  double start = bench_now();
  for (int w = 0; w < windows; w++) {
    for (int i = 0; i < kWindow; i++) {
      if (rank == 0)
        MPI_Isend(data[i], kBytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
      else
        MPI_Irecv(data[i], kBytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
      MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
  }
  return (double)windows * kWindow / (bench_now() - start) / 1e6;
}

int main(int argc, char** argv) {
  bench_pin();
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) fprintf(stderr, "message_rate: needs 2 ranks, has %d\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double seconds = argc > 1 ? atof(argv[1]) : 0.5;
  batch(100, rank);
  double once = batch(200, rank);  // M/s
  int windows = (int)(seconds / kBatches * once * 1e6 / kWindow);
  if (windows < 10) windows = 10;
  MPI_Bcast(&windows, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double rates[kBatches];
  for (int b = 0; b < kBatches; b++) rates[b] = batch(windows, rank);
  if (rank == 0) bench_result("rate", kBytes, bench_median(rates, kBatches), "M/s");
  MPI_Finalize();
  return 0;
}
