// Links with neighbours, process grids and the spin: see patterns.h. One thread.
#include "../common/bench.h"  // first: it asks for more of the system's headers
#include "../common/random.h"
#include "patterns.h"

const int box_by_rank[kBox][3] = {
    {-1, -1, -1}, {0, -1, -1}, {1, -1, -1}, {-1, 0, -1}, {0, 0, -1}, {1, 0, -1}, {-1, 1, -1}, {0, 1, -1}, {1, 1, -1},
    {-1, -1, 0},  {0, -1, 0},  {1, -1, 0},  {-1, 0, 0},  {1, 0, 0},  {-1, 1, 0}, {0, 1, 0},   {1, 1, 0},  {-1, -1, 1},
    {0, -1, 1},   {1, -1, 1},  {-1, 0, 1},  {0, 0, 1},   {1, 0, 1},  {-1, 1, 1}, {0, 1, 1},   {1, 1, 1}};

uint64_t mixed(uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  return random_mixed(random_mixed(random_mixed(random_mixed(a + kRandomStride) + b) + c) + d);
}

void compute(const struct World* world, int step) {
  if (world->imbalance == 0) return;
  uint64_t nanoseconds = (uint64_t)world->imbalance * 2000;
  uint64_t mine = mixed(world->seed, (uint64_t)world->rank, (uint64_t)step, 0) % nanoseconds;
  for (double end = bench_now() + 1e-9 * (double)mine; bench_now() < end;) continue;
}

void link_open(struct Link* link, int peer, int words) {
  *link = (struct Link){peer, 0, NULL, NULL};
  if (peer == MPI_PROC_NULL) return;
  link->words = words;
  link->out = malloc((size_t)(words + 1) * sizeof *link->out);
  link->in = malloc((size_t)(words + 1) * sizeof *link->in);
  if (!link->out || !link->in) fail("patterns: no memory for messages of %d words", words);
}

void link_close(struct Link* links, int count) {
  for (int i = 0; i < count; i++) {
    free(links[i].out);
    free(links[i].in);
  }
}

static uint64_t word_of(int from, int to, int tag, int step) {
  return mixed((uint64_t)from, (uint64_t)to, (uint64_t)tag, (uint64_t)step);
}

static void fill(const struct World* world, struct Link* link, int tag, int step) {
  if (link->peer == MPI_PROC_NULL) return;
  uint64_t first = word_of(world->rank, link->peer, tag, step);
  for (int i = 0; i < link->words; i++) link->out[i] = first + (uint64_t)i * kRandomStride;
}

void link_isend(const struct World* world, struct Link* link, int tag, int step, MPI_Request* request) {
  fill(world, link, tag, step);
  MPI_Isend(link->out, link->words, MPI_UINT64_T, link->peer, tag, world->comm, request);
}

void link_send(const struct World* world, struct Link* link, int tag, int step) {
  fill(world, link, tag, step);
  MPI_Send(link->out, link->words, MPI_UINT64_T, link->peer, tag, world->comm);
}

void link_irecv(const struct World* world, struct Link* link, int tag, MPI_Request* request) {
  MPI_Irecv(link->in, link->words, MPI_UINT64_T, link->peer, tag, world->comm, request);
}

void link_check(const struct World* world, const struct Link* link, int tag, int step) {
  if (link->peer == MPI_PROC_NULL) return;
  uint64_t first = word_of(link->peer, world->rank, tag, step);
  for (int i = 0; i < link->words; i++)
    if (link->in[i] != first + (uint64_t)i * kRandomStride)
      fail("patterns: rank %d: word %d of %d from rank %d with tag %d is wrong in exchange %d", world->rank, i,
           link->words, link->peer, tag, step);
}

struct Grid grid_of(const struct World* world, int n) {
  struct Grid grid = {.n = n};
  MPI_Dims_create(world->size, n, grid.dims);
  for (int d = 0, rest = world->rank; d < n; rest /= grid.dims[d++]) grid.at[d] = rest % grid.dims[d];
  return grid;
}

int grid_peer(const struct Grid* grid, const int* hop, int periodic) {
  int rank = 0;
  for (int d = grid->n - 1; d >= 0; d--) {
    int at = grid->at[d] + hop[d], most = grid->dims[d];
    if (!periodic && (at < 0 || at >= most)) return MPI_PROC_NULL;
    rank = rank * most + (at + most) % most;
  }
  return rank;
}

int box_open(const struct Grid* grid, const int (*directions)[3], int edge, int words_per_point, struct Link* links) {
  int count = 0;
  for (int i = 0; i < kBox; i++) {
    int peer = grid_peer(grid, directions[i], 0), points = 1;
    if (peer == MPI_PROC_NULL) continue;
    for (int d = 0; d < 3; d++) points *= directions[i][d] == 0 ? edge : 1;
    link_open(&links[count++], peer, points * words_per_point);
  }
  return count;
}
