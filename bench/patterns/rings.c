// HPCC's rings: every rank talks to the one before it and the one behind it, in the order of ranks and in random orders.
//
// Neighbours: left and right in a periodic ring of all ranks, in natural order and in a seeded permutation, another one in
//             each iteration.
// Order:      twice over each ring with each size: two Sendrecvs (to the right, then to the left), and two Irecvs (left,
//             right), two Isends (right, left), one Waitall. The tag tells the direction: 1 to the right, 2 to the left.
// Sizes:      one word, and 16 edge² words.
// Source:     HPCC's latency and bandwidth part. Left out: its ping-pong, its repetitions, its 2 MB messages; the rest of HPCC,
//             which runs as it is (tests/clients/hpcc).
#include <stdlib.h>

#include "../common/random.h"
#include "patterns.h"

enum { kRight = 1, kLeft = 2 };

// The ring's neighbours of this rank; the permutation is the same on all.
static void neighbours(const struct World* world, int turn, int* left, int* right) {
  int n = world->size, *order = malloc((size_t)n * sizeof *order), at = 0;
  for (int i = 0; i < n; i++) order[i] = i;
  uint64_t state = mixed(world->seed, (uint64_t)turn, 0, 2);
  if (turn > 0) random_shuffle(&state, order, n);
  while (order[at] != world->rank) at++;
  *left = order[(at + n - 1) % n];
  *right = order[(at + 1) % n];
  free(order);
}

static void send_and_receive(const struct World* world, struct Link* to, struct Link* from, int tag, int step) {
  uint64_t first = mixed(world->seed, (uint64_t)world->rank, (uint64_t)tag, (uint64_t)step);
  for (int i = 0; i < to->words; i++) to->out[i] = first + (uint64_t)i;
  MPI_Sendrecv(to->out, to->words, MPI_UINT64_T, to->peer, tag, from->in, from->words, MPI_UINT64_T, from->peer, tag,
               world->comm, MPI_STATUS_IGNORE);
  first = mixed(world->seed, (uint64_t)from->peer, (uint64_t)tag, (uint64_t)step);
  for (int i = 0; i < from->words; i++)
    if (from->in[i] != first + (uint64_t)i) fail("patterns: rings: word %d from rank %d is wrong", i, from->peer);
}

static void around(const struct World* world, int left, int right, int words, int step) {
  struct Link before, behind;
  MPI_Request requests[4];
  link_open(&before, left, words);
  link_open(&behind, right, words);
  send_and_receive(world, &behind, &before, kRight, step);
  send_and_receive(world, &before, &behind, kLeft, step);
  link_irecv(world, &before, kRight, &requests[0]);
  link_irecv(world, &behind, kLeft, &requests[1]);
  link_isend(world, &behind, kRight, step, &requests[2]);
  link_isend(world, &before, kLeft, step, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  link_check(world, &before, kRight, step);
  link_check(world, &behind, kLeft, step);
  link_close(&before, 1);
  link_close(&behind, 1);
}

void run_rings(const struct World* world) {
  for (int step = 0; step < world->iterations; step++) {
    for (int random = 0; random < 2; random++) {
      int left, right;
      neighbours(world, random ? step + 1 : 0, &left, &right);
      around(world, left, right, 1, step);
      around(world, left, right, 16 * world->edge * world->edge, step);
    }
    compute(world, step);
  }
}
