// What the synchronisation of a window takes, with no communication in it, by the slowest rank of all that do it at once.
//   synchronisation <point>...
//     fence       MPI_Win_fence
//     pscw        post, start, complete, wait: each rank to its right, and for its left
//     shared      MPI_Win_lock and unlock of rank 0, shared, by all ranks
//     exclusive   the same, exclusive
//     lockall     MPI_Win_lock_all and unlock_all
//     flush       MPI_Win_flush of rank 0 inside of MPI_Win_lock_all, behind nothing
//     flushput    MPI_Put of 8 bytes to rank 0, and its flush
#include "rma.h"

static const double kSeconds = 0.3;

typedef struct {
  MPI_Win win;
  MPI_Group right, left;
  int64_t value;
} Context;

static void fence(void* context) { MPI_Win_fence(0, ((Context*)context)->win); }

static void pscw(void* context) {
  Context* c = context;
  MPI_Win_post(c->left, 0, c->win);
  MPI_Win_start(c->right, 0, c->win);
  MPI_Win_complete(c->win);
  MPI_Win_wait(c->win);
}

static void shared(void* context) {
  MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, ((Context*)context)->win);
  MPI_Win_unlock(0, ((Context*)context)->win);
}

static void exclusive(void* context) {
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, ((Context*)context)->win);
  MPI_Win_unlock(0, ((Context*)context)->win);
}

static void lockall(void* context) {
  MPI_Win_lock_all(0, ((Context*)context)->win);
  MPI_Win_unlock_all(((Context*)context)->win);
}

static void flush(void* context) { MPI_Win_flush(0, ((Context*)context)->win); }

static void flushput(void* context) {
  Context* c = context;
  MPI_Put(&c->value, 8, MPI_BYTE, 0, 8 * rank, 8, MPI_BYTE, c->win);
  MPI_Win_flush(0, c->win);
}

static const Point kPoints[] = {{"fence", fence, 0},         {"pscw", pscw, 0},       {"shared", shared, 0},
                                {"exclusive", exclusive, 0}, {"lockall", lockall, 0}, {"flush", flush, 1},
                                {"flushput", flushput, 1}};

int main(int argc, char** argv) {
  rma_init(&argc, &argv, "synchronisation", 2);
  int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
  MPI_Group world;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  for (int i = 1; i < argc; i++) {
    const Point* point = point_of(kPoints, sizeof kPoints / sizeof *kPoints, argv[i]);
    char metric[64];
    snprintf(metric, sizeof metric, "sync-%s", argv[i]);
    if (rank == 0) bench_begin(metric, (size_t)ranks, "us");
    Memory memory = memory_make("allocate", 8 * ranks);
    Context context = {memory.win, MPI_GROUP_EMPTY, MPI_GROUP_EMPTY, rank + 1};
    MPI_Group_incl(world, 1, &right, &context.right);
    MPI_Group_incl(world, 1, &left, &context.left);
    if (point->in_lock_all) MPI_Win_lock_all(0, memory.win);
    double us = measure_all(point->step, &context, kSeconds);
    if (point->in_lock_all) MPI_Win_unlock_all(memory.win);
    MPI_Barrier(MPI_COMM_WORLD);
    if (is(argv[i], "flushput") && rank == 0)
      for (int r = 0; r < ranks; r++)
        if (((int64_t*)memory.base)[r] != r + 1) fail("synchronisation: rank %d's put did not come", r);
    if (rank == 0) bench_result(metric, (size_t)ranks, us, "us");
    MPI_Group_free(&context.right);
    MPI_Group_free(&context.left);
    memory_free(&memory);
  }
  MPI_Group_free(&world);
  MPI_Finalize();
  return 0;
}
