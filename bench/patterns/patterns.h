// What the proxies of exchange patterns share: the world they run in, links with a neighbour, process grids.
//
// A pattern is a function that repeats the communication of one application: which neighbours, in what order receives are
// posted and messages sent, how large they are, what is waited for when, which reductions stand between. It computes
// nothing, but for a spin of a length of its own on each rank where `--imbalance` asks for one. Each file says what
// it follows and what it leaves out.
//
// Content: word i of a message is a hash of (sender, receiver, tag, number of the exchange), plus i times an odd constant; every
//          word is checked, and the job ends at the first wrong one.
#ifndef HEDDLE_BENCH_PATTERNS_H
#define HEDDLE_BENCH_PATTERNS_H

#include <mpi.h>
#include <stdint.h>

#include "../common/fail.h"

struct World {
  MPI_Comm comm;  // the pattern's alone: what its messages cost can be told from all other traffic
  int rank, size;
  int iterations;
  int edge;       // points along one side of a rank's part, the applications' usual parameter
  int imbalance;  // µs: a spin lasts from 0 to twice that, otherwise in each rank and step
  unsigned seed;
};

struct Pattern {
  const char* name;
  const char* what;
  void (*run)(const struct World* world);
  int cube;  // the number of ranks has to be one
};

void run_lammps(const struct World* world);
void run_lulesh(const struct World* world);
void run_hpcg(const struct World* world);
void run_minife(const struct World* world);
void run_milc(const struct World* world);
void run_cth(const struct World* world);
void run_rings(const struct World* world);
void run_ordered(const struct World* world);

// A number that all ranks can compute, of whatever it is about.
uint64_t mixed(uint64_t a, uint64_t b, uint64_t c, uint64_t d);

// What stands for the computation of that step.
void compute(const struct World* world, int step);

// A neighbour, with room for one message each way. `peer` is MPI_PROC_NULL where there is none.
struct Link {
  int peer, words;
  uint64_t *out, *in;
};

void link_open(struct Link* link, int peer, int words);
void link_close(struct Link* links, int count);
// The message of that exchange is made and sent; what came is compared with what the neighbour must have made.
void link_isend(const struct World* world, struct Link* link, int tag, int step, MPI_Request* request);
void link_send(const struct World* world, struct Link* link, int tag, int step);
void link_irecv(const struct World* world, struct Link* link, int tag, MPI_Request* request);
void link_check(const struct World* world, const struct Link* link, int tag, int step);

enum { kMostDims = 4, kBox = 26 };

// Ranks in a grid as cubic as their number allows, x fastest.
struct Grid {
  int n, dims[kMostDims], at[kMostDims];
};

struct Grid grid_of(const struct World* world, int n);
// MPI_PROC_NULL beyond an edge, unless the grid is periodic.
int grid_peer(const struct Grid* grid, const int* hop, int periodic);

// The 26 directions of a box, lexicographic by (z, y, x): the order of ranks.
extern const int box_by_rank[kBox][3];

// A link for each of the directions that lead to a rank, in that order; a face has edge² points, an edge `edge`, a corner one.
int box_open(const struct Grid* grid, const int (*directions)[3], int edge, int words_per_point, struct Link* links);

#endif
