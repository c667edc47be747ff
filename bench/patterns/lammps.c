// LAMMPS with the Lennard-Jones potential: a staged exchange with six neighbours.
//
// Neighbours: a periodic 3-D grid of ranks, two in each dimension; where a dimension has two ranks both are the same one, and
//             where it has one nothing is sent.
// Order:      six swaps, one after the other: down and up in x, then y, then z, because the later carry what the earlier
//             brought. Each swap is an Irecv, a blocking Send, a Wait. Forces go back by the same swaps in reverse.
//             All tags are 0.
//             A step sends positions forward and forces back. Every 20th moves atoms to their new owners instead (for each
//             dimension Sendrecv of how many, then of the atoms; a second time to the other side where a dimension has more
//             than two ranks) and sets up the borders (each swap tells its size by Sendrecv first). The last step
//             reduces what is printed of the state.
// Sizes:      two layers of edge² atoms at a face, 3 words of an atom forward and back, 6 in the borders; 0 to 3 atoms of 11
//             words move.
// Source:     the public code's brick communication and its LJ melt (neigh_modify delay 0 every 20 check no, newton on).
// Left out:   growing of later swaps by the ghosts of earlier ones; load balancing; multiple cutoffs.
#include <stdlib.h>

#include "patterns.h"

enum { kEvery = 20, kSwaps = 6, kMoving = 11, kMostMoving = 3, kTag = 0 };

struct Brick {
  struct Link to[kSwaps], from[kSwaps];  // of swap i the two sides; one of their buffers each
  int alone[3], few[3];                  // a dimension with one rank; with two at most
  int layer;                             // atoms
};

// `to` sends `words`, `from` receives as many. The exchange's number keeps swaps with one peer apart.
static void swap(const struct World* world, struct Link* to, struct Link* from, int words, int exchange) {
  MPI_Request request;
  to->words = from->words = words;
  link_irecv(world, from, kTag, &request);
  link_send(world, to, kTag, exchange);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  link_check(world, from, kTag, exchange);
}

// Of how many words the other one's message will be.
static int told(const struct World* world, const struct Link* to, const struct Link* from, int words) {
  int theirs = 0;
  MPI_Sendrecv(&words, 1, MPI_INT, to->peer, kTag, &theirs, 1, MPI_INT, from->peer, kTag, world->comm,
               MPI_STATUS_IGNORE);
  return theirs;
}

static void forward(const struct World* world, struct Brick* brick, int words, int exchange) {
  for (int i = 0; i < kSwaps; i++)
    if (!brick->alone[i / 2]) swap(world, &brick->to[i], &brick->from[i], words, exchange + i);
}

static void reverse(const struct World* world, struct Brick* brick, int words, int exchange) {
  for (int i = kSwaps - 1; i >= 0; i--)
    if (!brick->alone[i / 2]) swap(world, &brick->from[i], &brick->to[i], words, exchange + i);
}

static int leaving(const struct World* world, int rank, int exchange) {
  return kMoving * (int)(mixed(world->seed, (uint64_t)rank, (uint64_t)exchange, 1) % (kMostMoving + 1));
}

static void migrate(const struct World* world, struct Brick* brick, int exchange) {
  for (int d = 0; d < 3; d++) {
    if (brick->alone[d]) continue;
    int sides = brick->few[d] ? 1 : 2, mine = leaving(world, world->rank, exchange + d), theirs[2];
    for (int side = 0; side < sides; side++)
      theirs[side] = told(world, &brick->to[2 * d + side], &brick->from[2 * d + side], mine);
    for (int side = 0; side < sides; side++) {
      struct Link *to = &brick->to[2 * d + side], *from = &brick->from[2 * d + side];
      MPI_Request request;
      from->words = theirs[side];
      to->words = mine;
      link_irecv(world, from, kTag, &request);
      link_send(world, to, kTag, exchange + d);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      link_check(world, from, kTag, exchange + d);
    }
  }
}

static void borders(const struct World* world, struct Brick* brick, int exchange) {
  for (int i = 0; i < kSwaps; i++) {
    if (brick->alone[i / 2]) continue;
    int words = told(world, &brick->to[i], &brick->from[i], 6 * brick->layer);
    swap(world, &brick->to[i], &brick->from[i], words, exchange + i);
  }
}

void run_lammps(const struct World* world) {
  struct Grid grid = grid_of(world, 3);
  struct Brick brick = {.layer = 2 * world->edge * world->edge};
  int room = 6 * brick.layer + kMoving * kMostMoving;
  for (int i = 0; i < kSwaps; i++) {
    int hop[3] = {0}, back[3] = {0}, d = i / 2;
    hop[d] = i % 2 ? 1 : -1;
    back[d] = -hop[d];
    brick.alone[d] = grid.dims[d] == 1;
    brick.few[d] = grid.dims[d] <= 2;
    link_open(&brick.to[i], grid_peer(&grid, hop, 1), room);
    link_open(&brick.from[i], grid_peer(&grid, back, 1), room);
  }
  for (int step = 0; step < world->iterations; step++) {
    int exchange = 4 * kSwaps * step;
    if (step % kEvery == 0) {
      migrate(world, &brick, exchange);
      borders(world, &brick, exchange + kSwaps);
    } else {
      forward(world, &brick, 3 * brick.layer, exchange);
    }
    compute(world, step);
    reverse(world, &brick, 3 * brick.layer, exchange + 2 * kSwaps);
  }
  double state[6] = {1, 1, 1, 1, 1, 1}, sums[6];  // temperature, energy; pressure's tensor
  MPI_Allreduce(state, sums, 1, MPI_DOUBLE, MPI_SUM, world->comm);
  MPI_Allreduce(state, sums, 1, MPI_DOUBLE, MPI_SUM, world->comm);
  MPI_Allreduce(state, sums, 6, MPI_DOUBLE, MPI_SUM, world->comm);
  if (sums[5] != world->size) fail("patterns: lammps: the sum over %d ranks is %g", world->size, sums[5]);
  link_close(brick.to, kSwaps);
  link_close(brick.from, kSwaps);
}
