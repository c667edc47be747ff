// A program that does nothing but start and end; bench/run times it from outside.
//   empty        MPI_Init, MPI_Finalize
//   empty rss    also the largest resident size of a rank right after MPI_Init
#include "../common/bench.h"
#include "../common/memory.h"

#include <mpi.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc > 1 && strcmp(argv[1], "rss") == 0) {
    double mine = (double)memory_kib("VmRSS") / 1024, largest = 0;
    int rank, size;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Reduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) bench_result("rss", (size_t)size, largest, "MB");
  }
  MPI_Finalize();
  return 0;
}
