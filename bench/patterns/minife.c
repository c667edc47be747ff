// miniFE: the conjugate gradient of an implicit finite-element code.
//
// Neighbours: up to 26 boxes of a 3-D grid that is not periodic, in the order in which the rows of a rank's matrix first name
//             points of theirs: the rows by (z, y, x), the columns of a row too.
// Order:      Irecvs from all, blocking Sends to all in the same order, a Wait for each receive in the order of posting. Tag 99.
//             One iteration: an exchange before the sparse product, and two dot products (MPI_Allreduce of one double).
// Sizes:      a word of a node, edge² at a face.
// Source:     the public reference code. Left out: the assembly; boxes of unequal size, so each has the same neighbours on each side.
#include "patterns.h"

enum { kTag = 99 };

// Rows at the low face, inside, at the high face of each dimension come first in that order; so these stand for all rows.
static void order_of_appearance(int order[kBox][3]) {
  int seen[27] = {0}, count = 0;
  for (int row = 0; row < 27; row++) {
    for (int column = 0; column < 27; column++) {
      int direction[3], index = 0;
      for (int d = 0, of_row = row, of_column = column, weight = 1; d < 3; d++, weight *= 3) {
        int at = of_row % 3 - 1, step = of_column % 3 - 1;  // -1 is the low face
        direction[d] = at == step ? step : 0;
        index += weight * (direction[d] + 1);
        of_row /= 3;
        of_column /= 3;
      }
      if (index == 13 || seen[index]) continue;
      seen[index] = 1;
      for (int d = 0; d < 3; d++) order[count][d] = direction[d];
      count++;
    }
  }
}

static void dot_product(const struct World* world) {
  double mine = 1, sum = 0;
  MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, world->comm);
  if (sum != world->size) fail("patterns: minife: the sum over %d ranks is %g", world->size, sum);
}

void run_minife(const struct World* world) {
  struct Grid grid = grid_of(world, 3);
  struct Link links[kBox];
  MPI_Request requests[kBox];
  int order[kBox][3];
  order_of_appearance(order);
  int count = box_open(&grid, (const int(*)[3])order, world->edge, 1, links);
  for (int step = 0; step < world->iterations; step++) {
    dot_product(world);
    for (int i = 0; i < count; i++) link_irecv(world, &links[i], kTag, &requests[i]);
    for (int i = 0; i < count; i++) link_send(world, &links[i], kTag, step);
    for (int i = 0; i < count; i++) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    for (int i = 0; i < count; i++) link_check(world, &links[i], kTag, step);
    compute(world, step);
    dot_product(world);
  }
  link_close(links, count);
}
