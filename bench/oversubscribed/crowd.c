// More ranks than cores: what one operation of all ranks takes when most of them must wait for a core first.
//   crowd <ring|barrier|allreduce>...
//     ring         MPI_Sendrecv of 8 bytes, to the right and from the left
//     barrier      MPI_Barrier
//     allreduce    the sum of one double
// Each received value and each sum is checked. Batches of rounds grow until kSeconds are over.
#include "../common/bench.h"

#include <mpi.h>

enum { kWarm = 3, kBatch = 5, kMost = 2000 };
static const double kSeconds = 0.4;

static void one(const char* what, int round, int rank, int size) {
  if (strcmp(what, "ring") == 0) {
    int left = (rank + size - 1) % size;
    long out = (long)round << 16 | rank, in = -1;
    MPI_Sendrecv(&out, sizeof out, MPI_BYTE, (rank + 1) % size, 1, &in, sizeof in, MPI_BYTE, left, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    if (in == ((long)round << 16 | left)) return;
    fprintf(stderr, "crowd: round %d: rank %d received %ld of rank %ld\n", round, rank, in >> 16, in & 0xffff);
  } else if (strcmp(what, "barrier") == 0) {
    MPI_Barrier(MPI_COMM_WORLD);
    return;
  } else {
    double mine = round + rank, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    if (sum == (double)round * size + 0.5 * size * (size - 1)) return;
    fprintf(stderr, "crowd: round %d: the sum at rank %d is %g\n", round, rank, sum);
  }
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// µs of one, by the slowest rank.
static double measure(const char* what, int rank, int size) {
  double seconds = 0;
  int done = 0;
  for (int batch = kBatch; seconds < kSeconds; batch = batch * 2 < kMost ? batch * 2 : kMost) {
    MPI_Barrier(MPI_COMM_WORLD);
    double start = bench_now(), mine, slowest;
    for (int i = 0; i < batch; i++) one(what, done++, rank, size);
    mine = bench_now() - start;
    MPI_Allreduce(&mine, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    seconds += slowest;
  }
  return seconds / done * 1e6;
}

int main(int argc, char** argv) {
  bench_pin();
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 1; i < argc; i++) {
    if (rank == 0) bench_begin(argv[i], (size_t)size, "us");
    for (int round = 0; round < kWarm; round++) one(argv[i], round, rank, size);
    double us = measure(argv[i], rank, size);
    if (rank == 0) bench_result(argv[i], (size_t)size, us, "us");
  }
  MPI_Finalize();
  return 0;
}
