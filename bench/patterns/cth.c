// CTH: shock physics; bulk exchanges of many variables at once with the six faces of a box.
//
// Neighbours: a 3-D grid of ranks that is not periodic; two in each dimension.
// Order:      x, then y, then z, because the later faces carry the edges that the earlier brought; in each two Irecvs (low,
//             high), two Isends (low, high), one Waitall. Twice in a time step, with half of the variables each; the tag tells the
//             direction and the half: 10 × half + 2 × dimension + (1 where the message goes up). Then two reductions: the
//             time step, and a sum.
// Sizes:      20 variables in one message, edge², edge (edge + 2) and (edge + 2)² points: 40 KiB and more at an edge of 16.
// Source:     the public descriptions of CTH's communication (few, large, aggregated face exchanges in a bulk-synchronous step, two
//             small reductions), as its mini-application miniGhost models it. The code itself is not public.
// Left out:   adaptive refinement; the imbalance of the explosion, but for `--imbalance`; the exact number of exchanges and tags.
#include "patterns.h"

enum { kVariables = 20, kHalves = 2 };

static int tag_of(int half, int dimension, int goes_up) { return 10 * half + 2 * dimension + goes_up; }

static void exchange(const struct World* world, struct Link sides[2], int dimension, int half, int step) {
  MPI_Request requests[4];
  for (int side = 0; side < 2; side++)  // what comes from below goes up
    link_irecv(world, &sides[side], tag_of(half, dimension, side == 0), &requests[side]);
  for (int side = 0; side < 2; side++)
    link_isend(world, &sides[side], tag_of(half, dimension, side == 1), step, &requests[2 + side]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  for (int side = 0; side < 2; side++) link_check(world, &sides[side], tag_of(half, dimension, side == 0), step);
}

void run_cth(const struct World* world) {
  struct Grid grid = grid_of(world, 3);
  struct Link sides[3][2];
  int edge = world->edge, points[3] = {edge * edge, edge * (edge + 2), (edge + 2) * (edge + 2)};
  for (int d = 0; d < 3; d++)
    for (int side = 0; side < 2; side++) {
      int hop[3] = {0};
      hop[d] = side == 0 ? -1 : 1;
      link_open(&sides[d][side], grid_peer(&grid, hop, 0), points[d] * kVariables);
    }
  for (int step = 0; step < world->iterations; step++) {
    for (int half = 0; half < kHalves; half++) {
      for (int d = 0; d < 3; d++) exchange(world, sides[d], d, half, step);
      compute(world, kHalves * step + half);
    }
    double mine = 1 + world->rank, least = 0, sum = 0;
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, world->comm);
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, world->comm);
    if (least != 1) fail("patterns: cth: the least time step is %g", least);
  }
  for (int d = 0; d < 3; d++) link_close(sides[d], 2);
}
