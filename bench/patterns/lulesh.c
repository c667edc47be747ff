// LULESH: three exchanges of a time step with up to 26 neighbours, each with another set of them and another tag.
//
// Neighbours: a cube of ranks that is not periodic; faces, edges and corners.
// Order:      all Irecvs first (faces z, y, x, each low before high; then the twelve edges; then the corners), Isends in the same
//             order, Waitall of the sends, then the receives one Wait after the other in the order of posting. Forces
//             (tag 1024): all 26, posted before the forces are computed. Positions and velocities (tag 2048): only from the high
//             sides, only to the low ones (of a mixed edge or corner the dimension that varies slowest decides), posted before
//             the nodes are moved. Gradients (tag 3072): the six faces. One reduction of the time step.
// Sizes:      3, 6 and 3 words of a point; faces of (edge + 1)² nodes, for gradients edge² elements.
// Source:     the public LULESH 2.0. Left out: nothing of the time step's messages; the exchange of masses at the start.
#include <string.h>

#include "patterns.h"

enum { kForces = 1024, kPositions = 2048, kGradients = 3072 };

static const int directions[kBox][3] = {
    {0, 0, -1},   {0, 0, 1},   {0, -1, 0},  {0, 1, 0},  {-1, 0, 0},  {1, 0, 0},   // faces
    {-1, -1, 0},  {0, -1, -1}, {-1, 0, -1}, {1, 1, 0},  {0, 1, 1},   {1, 0, 1},   // edges
    {-1, 1, 0},   {0, -1, 1},  {-1, 0, 1},  {1, -1, 0}, {0, 1, -1},  {1, 0, -1},  //
    {-1, -1, -1}, {-1, -1, 1}, {1, -1, -1}, {1, -1, 1}, {-1, 1, -1}, {-1, 1, 1}, {1, 1, -1}, {1, 1, 1}};

// Whether the slowest dimension of the direction that is not level goes up.
static int is_high(const int* direction) {
  int d = 2;
  while (direction[d] == 0) d--;
  return direction[d] > 0;
}

struct Exchange {
  struct Link links[kBox];
  int count, receives[kBox], sends[kBox];  // of which links
  int tag;
  MPI_Request in[kBox], out[kBox];
};

static void open_exchange(struct Exchange* e, const struct Grid* grid, int edge, int fields, int tag) {
  memset(e, 0, sizeof *e);
  e->tag = tag;
  e->count = box_open(grid, directions, edge, fields, e->links);
  for (int i = 0, at = 0; i < kBox; i++) {
    if (grid_peer(grid, directions[i], 0) == MPI_PROC_NULL) continue;
    int planes_only = tag == kGradients && i >= 6, one_way = tag == kPositions;
    e->receives[at] = !planes_only && (!one_way || is_high(directions[i]));
    e->sends[at] = !planes_only && (!one_way || !is_high(directions[i]));
    at++;
  }
}

static void post(const struct World* world, struct Exchange* e) {
  for (int i = 0; i < e->count; i++) {
    e->in[i] = e->out[i] = MPI_REQUEST_NULL;
    if (e->receives[i]) link_irecv(world, &e->links[i], e->tag, &e->in[i]);
  }
}

static void send_and_wait(const struct World* world, struct Exchange* e, int step) {
  for (int i = 0; i < e->count; i++)
    if (e->sends[i]) link_isend(world, &e->links[i], e->tag, step, &e->out[i]);
  MPI_Waitall(e->count, e->out, MPI_STATUSES_IGNORE);
  for (int i = 0; i < e->count; i++) {
    if (!e->receives[i]) continue;
    MPI_Wait(&e->in[i], MPI_STATUS_IGNORE);
    link_check(world, &e->links[i], e->tag, step);
  }
}

void run_lulesh(const struct World* world) {
  struct Grid grid = grid_of(world, 3);
  struct Exchange forces, positions, gradients;
  open_exchange(&forces, &grid, world->edge + 1, 3, kForces);
  open_exchange(&positions, &grid, world->edge + 1, 6, kPositions);
  open_exchange(&gradients, &grid, world->edge, 3, kGradients);
  for (int step = 0; step < world->iterations; step++) {
    double mine = 1 + world->rank, least = 0;
    MPI_Allreduce(&mine, &least, 1, MPI_DOUBLE, MPI_MIN, world->comm);
    if (least != 1) fail("patterns: lulesh: the least time step is %g", least);
    post(world, &forces);
    compute(world, 3 * step);
    send_and_wait(world, &forces, step);
    post(world, &positions);
    compute(world, 3 * step + 1);
    send_and_wait(world, &positions, step);
    post(world, &gradients);
    compute(world, 3 * step + 2);
    send_and_wait(world, &gradients, step);
  }
  link_close(forces.links, forces.count);
  link_close(positions.links, positions.count);
  link_close(gradients.links, gradients.count);
}
