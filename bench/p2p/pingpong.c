// One-way time of a message between two ranks: blocking send and receive, back and forth, median of several batches.
//   pingpong [seconds per size [bytes]...]
#include "../common/bench.h"

#include <mpi.h>

enum { kBatches = 7, kMax = 4 << 20 };

static double batch(char* out, char* in, int bytes, int rounds, int rank) {
  double start = bench_now();
  for (int i = 0; i < rounds; i++) {
    if (rank == 0) {
      MPI_Send(out, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(in, bytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, bytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
    }
  }
  return (bench_now() - start) / rounds / 2 * 1e6;
}

int main(int argc, char** argv) {
  static const int usual[] = {8, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20};
  bench_pin();
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) fprintf(stderr, "pingpong: needs 2 ranks, has %d\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double seconds = argc > 1 ? atof(argv[1]) : 0.15;
  char* out = aligned_alloc(4096, kMax);
  char* in = aligned_alloc(4096, kMax);
  memset(out, 1, kMax);
  memset(in, 2, kMax);
  int given = argc > 2 ? argc - 2 : 0, count = given ? given : (int)(sizeof usual / sizeof *usual);
  for (int s = 0; s < count; s++) {
    int bytes = given ? atoi(argv[2 + s]) : usual[s];
    if (bytes < 0 || bytes > kMax) {
      if (rank == 0) fprintf(stderr, "pingpong: 0 to %d bytes, not %d\n", kMax, bytes);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
    batch(out, in, bytes, 20, rank);
    double once = batch(out, in, bytes, 20, rank);  // µs: sets how many rounds make up a batch
    int rounds = (int)(seconds * 1e6 / kBatches / (2 * once));
    if (rounds < 5) rounds = 5;
    MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
    double us[kBatches];
    for (int b = 0; b < kBatches; b++) us[b] = batch(out, in, bytes, rounds, rank);
    if (rank == 0) bench_result("latency", (size_t)bytes, bench_median(us, kBatches), "us");
  }
  MPI_Finalize();
  return 0;
}
