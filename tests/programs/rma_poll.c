// A rank that waits in a loop for a word of its own memory in one window, while the others have to get at another window of it
// before they can write that word.
#include "rma.h"

static void test(int flavor) {
  Window flags, data;
  window_open(&flags, flavor, 64, 1);
  window_open(&data, flavor, 64, 1);
  const int64_t one = 1;
  if (world_rank == 0) {
    volatile int64_t* flag = (volatile int64_t*)flags.base;
    MPI_Win_lock_all(0, flags.win);
    while (*flag != world_size - 1) MPI_Win_sync(flags.win);
    MPI_Win_unlock_all(flags.win);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, data.win);
    CHECK_EQ(*(int64_t*)data.base, world_size - 1);
    MPI_Win_unlock(0, data.win);
  } else {
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, data.win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at(&data, 0, 0), 1, MPI_INT64_T, MPI_SUM, data.win);
    MPI_Win_unlock(0, data.win);
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, flags.win);
    MPI_Accumulate(&one, 1, MPI_INT64_T, 0, at(&flags, 0, 0), 1, MPI_INT64_T, MPI_SUM, flags.win);
    MPI_Win_unlock(0, flags.win);
  }
  window_close(&flags);
  window_close(&data);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  each_flavor(argc, argv, test);
  return finish();
}
