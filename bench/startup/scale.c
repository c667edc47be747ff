// What a rank of a large node holds in memory: its share of what is resident (Pss, which divides shared pages among those
// who map them), the largest of all ranks.
//   scale <communicators> <neighbours>    after MPI_Init; with so many communicators, each on a VCI of its own where the
//                                         library has that; and when each rank has talked to so many others on each
#include "../common/bench.h"

#include <mpi.h>

static double share_kb(void) {
  FILE* rollup = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  long kb = -1;
  while (rollup && fgets(line, sizeof line, rollup))
    if (sscanf(line, "Pss: %ld kB", &kb) == 1) break;
  if (rollup) fclose(rollup);
  return (double)kb;
}

static void report(const char* metric) {
  double mine, largest = 0;
  int rank, size;
  MPI_Barrier(MPI_COMM_WORLD);
  mine = share_kb();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Reduce(&mine, &largest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0) bench_result(metric, (size_t)size, largest, "kB");
}

int main(int argc, char** argv) {
  int provided, rank, size, communicators = argc > 1 ? atoi(argv[1]) : 0, neighbours = argc > 2 ? atoi(argv[2]) : 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  report("scale-init");
  MPI_Comm* comm = malloc((size_t)communicators * sizeof *comm);
  for (int c = 0; c < communicators; c++) MPI_Comm_dup(MPI_COMM_WORLD, &comm[c]);
  report("scale-comms");
  for (int c = 0; c < communicators; c++) {
    for (int n = 1; n <= neighbours; n++) {
      int to = (rank + n) % size, from = (rank + size - n) % size, out = rank * 100 + n, in = -1;
      MPI_Sendrecv(&out, 1, MPI_INT, to, c, &in, 1, MPI_INT, from, c, comm[c], MPI_STATUS_IGNORE);
      if (in != from * 100 + n) {
        fprintf(stderr, "scale: rank %d received %d from rank %d\n", rank, in, from);
        MPI_Abort(MPI_COMM_WORLD, 1);
      }
    }
  }
  report("scale-talk");
  for (int c = 0; c < communicators; c++) MPI_Comm_free(&comm[c]);
  free(comm);
  MPI_Finalize();
  return 0;
}
