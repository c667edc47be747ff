// MILC: the staggered conjugate gradient of lattice QCD with the asqtad action, gathers in flight in 16 directions.
//
// Neighbours: a periodic 4-D grid of ranks; 8 of them, twice each: the nearest sites and those three away.
// Order:      a gather is an Irecv from any source, with a tag of its own, and an Isend. A product with the Dirac operator
//             starts the 8 gathers from above (nearest x y z t, third x y z t), computes, starts the 8 from below, waits for the
//             first 8 in order (receive, then send), computes, waits for the other 8. An iteration has two, of the odd and
//             of the even sites, each followed by a reduction of one double. A dimension with one rank needs no message.
// Tags:       4 + the number of the gather among those in flight: 4 to 19.
// Sizes:      6 words of a site, half the sites of a face; three faces for the third neighbours. A rank has (edge ÷ 4)⁴ sites, an
//             edge of 4 at least.
// Source:     the public code's generic communication and its staggered operator. Left out: the gauge force and the fermion
//             force; what numbers gathers get when more of them are in flight elsewhere.
#include "patterns.h"

enum { kBaseTag = 4, kGathers = 16, kWords = 6 };

struct Gathers {
  struct Link to[kGathers], from[kGathers];
  MPI_Request in[kGathers], out[kGathers];
};

static void start(const struct World* world, struct Gathers* g, int first, int step) {
  for (int i = first; i < first + kGathers / 2; i++) {
    g->in[i] = g->out[i] = MPI_REQUEST_NULL;
    if (g->from[i].peer == MPI_PROC_NULL) continue;
    MPI_Irecv(g->from[i].in, g->from[i].words, MPI_UINT64_T, MPI_ANY_SOURCE, kBaseTag + i, world->comm, &g->in[i]);
    link_isend(world, &g->to[i], kBaseTag + i, step, &g->out[i]);
  }
}

static void wait_for(const struct World* world, struct Gathers* g, int first, int step) {
  for (int i = first; i < first + kGathers / 2; i++) {
    if (g->from[i].peer == MPI_PROC_NULL) continue;
    MPI_Wait(&g->in[i], MPI_STATUS_IGNORE);
    link_check(world, &g->from[i], kBaseTag + i, step);
    MPI_Wait(&g->out[i], MPI_STATUS_IGNORE);
  }
}

void run_milc(const struct World* world) {
  struct Grid grid = grid_of(world, 4);
  struct Gathers gathers;
  int edge = world->edge / 4 < 4 ? 4 : world->edge / 4, face = edge * edge * edge / 2 * kWords;
  for (int i = 0; i < kGathers; i++) {
    int d = i % 4, third = i / 4 % 2, above = i < kGathers / 2, hop[kMostDims] = {0}, back[kMostDims] = {0};
    hop[d] = above ? 1 : -1;
    back[d] = -hop[d];
    int alone = grid.dims[d] == 1;
    link_open(&gathers.from[i], alone ? MPI_PROC_NULL : grid_peer(&grid, hop, 1), face * (third ? 3 : 1));
    link_open(&gathers.to[i], alone ? MPI_PROC_NULL : grid_peer(&grid, back, 1), face * (third ? 3 : 1));
  }
  for (int step = 0; step < 2 * world->iterations; step++) {
    start(world, &gathers, 0, step);
    compute(world, 2 * step);
    start(world, &gathers, kGathers / 2, step);
    wait_for(world, &gathers, 0, step);
    compute(world, 2 * step + 1);
    wait_for(world, &gathers, kGathers / 2, step);
    double mine = 1, sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, world->comm);
    if (sum != world->size) fail("patterns: milc: the sum over %d ranks is %g", world->size, sum);
  }
  link_close(gathers.to, kGathers);
  link_close(gathers.from, kGathers);
}
