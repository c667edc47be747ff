// What it takes to make a communicator or a window, use it a little, and free it, all ranks at once; µs of the slowest rank.
//   objects <point>...
//   communicator    MPI_Comm_dup, a barrier, an allreduce of 8 bytes, MPI_Comm_free
//   create          MPI_Win_create of 8 bytes, a fence, a put to the next rank, a fence, MPI_Win_free
//   allocate        the same of MPI_Win_allocate of 256 KiB
#include "rma.h"

enum { kLong = 256 << 10 };
static const double kSeconds = 0.2;

static void communicator(void* context) {
  int64_t* sum = context;
  const int64_t mine = rank + 1;
  MPI_Comm copy;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(copy);
  MPI_Allreduce(&mine, sum, 1, MPI_INT64_T, MPI_SUM, copy);
  MPI_Comm_free(&copy);
}

static void use(MPI_Win win, int64_t* mine) {
  const int64_t value = rank + 1;
  MPI_Win_fence(0, win);
  MPI_Put(&value, 8, MPI_BYTE, (rank + 1) % ranks, 0, 8, MPI_BYTE, win);
  MPI_Win_fence(0, win);
  if (*mine != (rank + ranks - 1) % ranks + 1) fail("objects: the put of the rank before did not come");
  MPI_Win_free(&win);
}

static void create(void* context) {
  int64_t* memory = context;
  MPI_Win win;
  MPI_Win_create(memory, 8, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  use(win, memory);
}

static void allocate(void* context) {
  (void)context;
  int64_t* memory;
  MPI_Win win;
  MPI_Win_allocate(kLong, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win);
  use(win, memory);
}

static const Point kPoints[] = {{"communicator", communicator, 0}, {"create", create, 0}, {"allocate", allocate, 0}};

int main(int argc, char** argv) {
  rma_init(&argc, &argv, "objects", 2);
  for (int i = 1; i < argc; i++) {
    const Point* point = point_of(kPoints, sizeof kPoints / sizeof *kPoints, argv[i]);
    char metric[64];
    snprintf(metric, sizeof metric, "make-%s", argv[i]);
    if (rank == 0) bench_begin(metric, (size_t)ranks, "us");
    int64_t context = 0;
    const double us = measure_all(point->step, &context, kSeconds);
    if (is(argv[i], "communicator") && context != (int64_t)ranks * (ranks + 1) / 2) fail("objects: the sum is wrong");
    if (rank == 0) bench_result(metric, (size_t)ranks, us, "us");
  }
  MPI_Finalize();
  return 0;
}
