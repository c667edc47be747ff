// HPCG: a conjugate gradient with a multigrid preconditioner, 27-point halos on four levels.
//
// Neighbours: up to 26, a 3-D grid of ranks that is not periodic; in the order of ranks.
// Order:      Irecvs from all, blocking Sends to all in the same order, a Wait for each receive in the order of posting. Tag 99.
//             One iteration: preconditioner (on each of the three finer levels an exchange before the smoother, one before
//             the residual, then the coarser level, and one before the second smoother; on the coarsest one), dot product, an
//             exchange before the sparse product, dot product, norm. Dot products are MPI_Allreduce of one double.
// Sizes:      a word of a point, edge² at a face; half the edge on each coarser level.
// Source:     the public reference code. Left out: the set-up; the timing runs; the test for convergence.
#include "patterns.h"

enum { kLevels = 4, kTag = 99 };

struct Level {
  struct Link links[kBox];
  MPI_Request requests[kBox];
  int count;
};

static void exchange(const struct World* world, struct Level* level, int step) {
  for (int i = 0; i < level->count; i++) link_irecv(world, &level->links[i], kTag, &level->requests[i]);
  for (int i = 0; i < level->count; i++) link_send(world, &level->links[i], kTag, step);
  for (int i = 0; i < level->count; i++) MPI_Wait(&level->requests[i], MPI_STATUS_IGNORE);
  for (int i = 0; i < level->count; i++) link_check(world, &level->links[i], kTag, step);
}

static void dot_product(const struct World* world) {
  double mine = 1, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, world->comm);
  if (sum != world->size) fail("patterns: hpcg: the sum over %d ranks is %g", world->size, sum);
}

// The number of exchanges so far is in `step`, on all ranks alike.
static void precondition(const struct World* world, struct Level* levels, int depth, int* step) {
  exchange(world, &levels[depth], (*step)++);
  compute(world, *step);
  if (depth == kLevels - 1) return;
  exchange(world, &levels[depth], (*step)++);
  compute(world, *step);
  precondition(world, levels, depth + 1, step);
  exchange(world, &levels[depth], (*step)++);
  compute(world, *step);
}

void run_hpcg(const struct World* world) {
  struct Grid grid = grid_of(world, 3);
  struct Level levels[kLevels];
  for (int l = 0; l < kLevels; l++) {
    int edge = world->edge >> l;
    levels[l].count = box_open(&grid, box_by_rank, edge > 0 ? edge : 1, 1, levels[l].links);
  }
  for (int iteration = 0, step = 0; iteration < world->iterations; iteration++) {
    precondition(world, levels, 0, &step);
    dot_product(world);
    exchange(world, &levels[0], step++);
    compute(world, step);
    dot_product(world);
    dot_product(world);
  }
  for (int l = 0; l < kLevels; l++) link_close(levels[l].links, levels[l].count);
}
