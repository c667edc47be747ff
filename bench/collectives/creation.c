// Plans at the creation of a communicator, beside plans at first use.
//   creation
// Of each of kComms copies of MPI_COMM_WORLD, one way and the other in turns: to make it; the first barrier, bcast, reduce, allreduce, allgather,
// alltoall and reduce_scatter_block of 8 bytes together; the same once more. Medians of the slowest rank's us.
#include "../common/bench.h"

#include <mpi.h>

#include "../common/fail.h"

enum { kComms = 50, kMostRanks = 64, kSteps = 3 };
static const char* const steps[kSteps] = {"make", "first", "second"};
static const char* const ways[2] = {"use", "creation"};

static double in[kMostRanks], out[kMostRanks];
static int rank, size;

static void all_of_them(MPI_Comm comm) {
  MPI_Barrier(comm);
  MPI_Bcast(out, 1, MPI_DOUBLE, 0, comm);
  MPI_Reduce(in, out, 1, MPI_DOUBLE, MPI_SUM, 0, comm);
  MPI_Allreduce(in, out, 1, MPI_DOUBLE, MPI_SUM, comm);
  if (out[0] != size * (size + 1) / 2) fail("rank %d has the sum %g", rank, out[0]);
  MPI_Allgather(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
  MPI_Alltoall(in, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, comm);
  if (out[size - 1] != size) fail("rank %d has %g of the last rank", rank, out[size - 1]);
  MPI_Reduce_scatter_block(in, out, 1, MPI_DOUBLE, MPI_SUM, comm);
}

int main(int argc, char** argv) {
  static double took[2][kSteps][kComms], slowest[kComms];
  MPI_Info info;
  bench_pin();
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size > kMostRanks) fail("at most %d ranks", kMostRanks);
  for (int i = 0; i < size; i++) in[i] = rank + 1;
  MPI_Info_create(&info);
  MPI_Info_set(info, "heddle_plans_at_creation", "true");
  all_of_them(MPI_COMM_WORLD);
  for (int c = 0; c < kComms; c++) {
    for (int way = 0; way < 2; way++) {
      MPI_Comm comm;
      for (int step = 0; step < kSteps; step++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double begin = bench_now();
        if (step == 0) {
          MPI_Comm_dup_with_info(MPI_COMM_WORLD, way == 0 ? MPI_INFO_NULL : info, &comm);
        } else {
          all_of_them(comm);
        }
        took[way][step][c] = (bench_now() - begin) * 1e6;
      }
      MPI_Comm_free(&comm);
    }
  }
  for (int way = 0; way < 2; way++) {
    for (int step = 0; step < kSteps; step++) {
      char metric[64];
      MPI_Reduce(took[way][step], slowest, kComms, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
      snprintf(metric, sizeof metric, "plans-at-%s-%s", ways[way], steps[step]);
      if (rank == 0) bench_result(metric, (size_t)size, bench_median(slowest, kComms), "us");
    }
  }
  MPI_Info_free(&info);
  MPI_Finalize();
  return 0;
}
