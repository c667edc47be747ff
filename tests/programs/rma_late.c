// Memory that its owner detaches while operations on it are on their way. Where the target does them they fail with
// MPI_ERR_RMA_RANGE at the call that completes them, whose error handler is the window's (MPI 5.0, 12.6), and all goes on.
//   rma_late               where the target does them, and its ranks share a host
#include <sched.h>

#include "rma.h"

enum { kLongs = 64 };

static int heard;
static MPI_Win heard_of = MPI_WIN_NULL;
static int heard_class;

static void hear(MPI_Win* win, int* code, ...) {
  heard++;
  heard_of = *win;
  MPI_Error_class(*code, &heard_class);
}

// Two turns, told without MPI: OUTSIDE, rank 1 has left the barrier and lets no operation happen; ASKED, rank 0's is on its way.
enum { OUTSIDE, ASKED };
static volatile int64_t* turns;

static void wait_for(int which, int64_t turn) {
  while (turns[which] < turn) sched_yield();
}

static void check_heard(MPI_Win win, int code, int times) {
  CHECK_EQ(error_class(code), MPI_ERR_RMA_RANGE);
  CHECK_EQ(heard, times);
  CHECK_EQ(heard_class, MPI_ERR_RMA_RANGE);
  CHECK(heard_of == win, "another window's error handler was called");
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Win flags, win;
  MPI_Errhandler handler;
  MPI_Aint size, there = 0;
  int unit, turn = 0, times = 0;
  int64_t *base, memory[kLongs] = {0}, one[kLongs], got[kLongs];
  MPI_Request request;
  // Where errors must not go; fatal.
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Win_allocate_shared(world_rank == 1 ? 2 * sizeof *base : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &flags);
  MPI_Win_shared_query(flags, 1, &size, &unit, &base);
  turns = base;
  if (world_rank == 1) turns[OUTSIDE] = turns[ASKED] = 0;
  MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_create_errhandler(hear, &handler);
  MPI_Win_set_errhandler(win, handler);
  if (world_rank == 1) MPI_Get_address(memory, &there);
  MPI_Bcast(&there, 1, MPI_AINT, 1, MPI_COMM_WORLD);
  for (int kind = 0; kind < 4; kind++) {
    for (int i = 0; i < kLongs; i++) one[i] = 1, got[i] = -1;
    if (world_rank == 1) MPI_Win_attach(win, memory, sizeof memory);
    MPI_Barrier(MPI_COMM_WORLD);
    turn++;
    if (world_rank == 0) {
      int code;
      MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
      wait_for(OUTSIDE, turn);
      times++;
      if (kind == 0) {
        MPI_Rget(got, kLongs, MPI_INT64_T, 1, there, kLongs, MPI_INT64_T, win, &request);
        turns[ASKED] = turn;
        code = MPI_Wait(&request, MPI_STATUS_IGNORE);
      } else if (kind == 1) {
        MPI_Rget_accumulate(one, kLongs, MPI_INT64_T, got, kLongs, MPI_INT64_T, 1, there, kLongs, MPI_INT64_T, MPI_SUM,
                            win, &request);
        turns[ASKED] = turn;
        code = MPI_Waitall(1, &request, MPI_STATUSES_IGNORE);
        CHECK_EQ(error_class(code), MPI_ERR_IN_STATUS);
        CHECK_EQ(heard_class, MPI_ERR_IN_STATUS);
        heard_class = code = MPI_ERR_RMA_RANGE;
      } else if (kind == 2) {
        MPI_Put(one, kLongs, MPI_INT64_T, 1, there, kLongs, MPI_INT64_T, win);
        turns[ASKED] = turn;
        code = MPI_Win_flush(1, win);
      } else {
        MPI_Accumulate(one, kLongs, MPI_INT64_T, 1, there, kLongs, MPI_INT64_T, MPI_SUM, win);
        turns[ASKED] = turn;
        code = MPI_Win_flush_all(win);
      }
      check_heard(win, code, times);
      for (int i = 0; i < kLongs; i++) CHECK_EQ(got[i], -1);
      MPI_Win_unlock_all(win);
      CHECK_EQ(heard, times);
    }
    if (world_rank == 1) {
      turns[OUTSIDE] = turn;
      wait_for(ASKED, turn);
      MPI_Win_detach(win, memory);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank == 1) {
      for (int i = 0; i < kLongs; i++) CHECK_EQ(memory[i], 0);
    }
  }
  // The window is as good as new.
  if (world_rank == 1) MPI_Win_attach(win, memory, sizeof memory);
  MPI_Win_fence(0, win);
  if (world_rank == 0) MPI_Put(one, kLongs, MPI_INT64_T, 1, there, kLongs, MPI_INT64_T, win);
  MPI_Win_fence(0, win);
  if (world_rank == 1) {
    for (int i = 0; i < kLongs; i++) CHECK_EQ(memory[i], 1);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) MPI_Win_detach(win, memory);
  MPI_Errhandler_free(&handler);
  MPI_Win_free(&win);
  MPI_Win_free(&flags);
  return finish();
}
