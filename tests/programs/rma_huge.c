// Accesses over 2 GiB, by a count that needs 64 bits: all of it arrives, and nothing beside it changes. The first rank alone has
// a buffer and the second alone a window, so that both need 4 GiB and a little.
//   rma_huge [flavor...]
#include "rma.h"

enum { kEdge = 64 };  // on both sides of what is accessed

static const size_t kBytes = ((size_t)2 << 30) + 4099;
static unsigned char* data;

// The second rank looks at its memory, of which every byte is the sum of one or two patterns.
static void check_window(const Window* w, int is_sum) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) {
    const unsigned char* held = w->base + kEdge;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w->win);
    for (size_t i = 0; i < kBytes; i++) {
      const unsigned char want = (unsigned char)(pattern(i, 1) + (is_sum ? pattern(i, 2) : 0));
      CHECK(held[i] == want, "byte %zu is %d, expected %d", i, held[i], want);
    }
    for (size_t i = 0; i < kEdge; i++) CHECK(w->base[i] == 0 && held[kBytes + i] == 0, "byte %zu beside it", i);
    MPI_Win_unlock(1, w->win);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

static void test(int flavor) {
  const MPI_Count n = (MPI_Count)kBytes;
  Window w;
  window_open(&w, flavor, world_rank == 1 ? (MPI_Aint)(kBytes + 2 * kEdge) : 0, 1);
  const MPI_Aint there = at(&w, 1, kEdge);
  if (world_rank == 0) {
    fill(data, kBytes, 1);
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w.win);
    MPI_Put_c(data, n, MPI_BYTE, 1, there, n, MPI_BYTE, w.win);
    MPI_Win_unlock(1, w.win);
  }
  check_window(&w, 0);
  if (world_rank == 0) {
    memset(data, 0, kBytes);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w.win);
    MPI_Get_c(data, n, MPI_BYTE, 1, there, n, MPI_BYTE, w.win);
    MPI_Win_unlock(1, w.win);
    CHECK_PATTERN(data, kBytes, 1);
    fill(data, kBytes, 2);
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w.win);
    MPI_Accumulate_c(data, n, MPI_UINT8_T, 1, there, n, MPI_UINT8_T, MPI_SUM, w.win);
    MPI_Win_unlock(1, w.win);
  }
  check_window(&w, 1);
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (world_rank == 0) {
    data = malloc(kBytes);
    CHECK(data != NULL, "this test needs %zu bytes per rank", kBytes);
  }
  each_flavor(argc, argv, test);
  free(data);
  return finish();
}
