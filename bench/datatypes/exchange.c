// One-way time of a message of a strided type between two ranks, back and forth, median of several batches.
//   exchange [seconds per size]
#include "../common/bench.h"

#include <mpi.h>

enum { kBatches = 7, kMax = 1 << 20 };

static double batch(char* out, char* in, MPI_Datatype type, int rounds, int rank) {
  double start = bench_now();
  for (int i = 0; i < rounds; i++) {
    if (rank == 0) {
      MPI_Send(out, 1, type, 1, 0, MPI_COMM_WORLD);
      MPI_Recv(in, 1, type, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, 1, type, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, 1, type, 0, 0, MPI_COMM_WORLD);
    }
  }
  return (bench_now() - start) / rounds / 2 * 1e6;
}

static void measure(const char* what, int bytes, int block, int stride, char* out, char* in, int rank, double seconds) {
  MPI_Datatype type;
  MPI_Type_create_hvector(bytes / block, block, stride, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  batch(out, in, type, 20, rank);
  double once = batch(out, in, type, 20, rank);  // µs: sets how many rounds make up a batch
  int rounds = (int)(seconds * 1e6 / kBatches / (2 * once));
  if (rounds < 5) rounds = 5;
  MPI_Bcast(&rounds, 1, MPI_INT, 0, MPI_COMM_WORLD);
  double us[kBatches];
  for (int b = 0; b < kBatches; b++) us[b] = batch(out, in, type, rounds, rank);
  if (rank == 0) bench_result(what, (size_t)bytes, bench_median(us, kBatches), "us");
  MPI_Type_free(&type);
}

int main(int argc, char** argv) {
  bench_pin();
  MPI_Init(&argc, &argv);
  int rank, size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    if (rank == 0) fprintf(stderr, "exchange: needs 2 ranks, has %d\n", size);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  double seconds = argc > 1 ? atof(argv[1]) : 0.1;
  char* out = aligned_alloc(4096, 8 * kMax);
  char* in = aligned_alloc(4096, 8 * kMax);
  memset(out, 1, 8 * kMax);
  memset(in, 2, 8 * kMax);
  for (int bytes = 1 << 10; bytes <= kMax; bytes *= 32) {
    measure("send-blocks", bytes, 256, 512, out, in, rank, seconds);
    measure("send-column", bytes, 8, 64, out, in, rank, seconds);
  }
  MPI_Finalize();
  return 0;
}
