// Exchanges whose order of arrival is the program's own: the running library and the simulator must count the same.
//
// Method: a message is sent only when a barrier of another communicator has told that all its receiver has to do before
//         was done; what is sent after it comes from one sender, in the order of sending, or one message at a time.
//   queue  from the left neighbour: receives of 8 tags stand, messages come in an order of their own
//   heap   from the left neighbour: 8 messages come while only the last one's receive stands; then the others are received in
//          another order
//   turns  from those up to 3 away in a ring on either side: receives of all stand, then one message a turn
// Sizes:  8 B, every fourth 256 KiB.
// Orders: permutations by the seed, the same on all ranks, another in each iteration.
#include <stdlib.h>

#include "../common/random.h"
#include "patterns.h"

enum { kMessages = 8, kLast = 100, kTurn = 200, kMostTurns = 6, kShort = 1, kLong = 32 << 10 };

static void permutation(const struct World* world, int what, int step, int n, int* order) {
  for (int i = 0; i < n; i++) order[i] = i;
  uint64_t state = mixed(world->seed, (uint64_t)what, (uint64_t)step, 1);
  random_shuffle(&state, order, n);
}

static int words_of(int message) { return message % 4 == 3 ? kLong : kShort; }

static void in_step(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void queue(const struct World* world, struct Link* left, struct Link* right, int step) {
  int order[kMessages];
  MPI_Request requests[2 * kMessages];
  permutation(world, 0, step, kMessages, order);
  for (int i = 0; i < kMessages; i++) link_irecv(world, &left[i], i, &requests[i]);
  in_step();
  for (int i = 0; i < kMessages; i++) link_isend(world, &right[order[i]], order[i], step, &requests[kMessages + i]);
  MPI_Waitall(2 * kMessages, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMessages; i++) link_check(world, &left[i], i, step);
  in_step();
}

static void heap(const struct World* world, struct Link* left, struct Link* right, int step) {
  int order[kMessages], sent[kMessages];
  MPI_Request last[2], in[kMessages], out[kMessages];
  struct Link from, to;
  permutation(world, 1, step, kMessages, order);
  permutation(world, 2, step, kMessages, sent);
  link_open(&from, left[0].peer, 1);
  link_open(&to, right[0].peer, 1);
  link_irecv(world, &from, kLast, &last[0]);
  in_step();
  for (int i = 0; i < kMessages; i++) link_isend(world, &right[sent[i]], sent[i], step, &out[i]);
  link_isend(world, &to, kLast, step, &last[1]);
  MPI_Waitall(2, last, MPI_STATUSES_IGNORE);
  link_check(world, &from, kLast, step);
  for (int i = 0; i < kMessages; i++) link_irecv(world, &left[order[i]], order[i], &in[i]);
  MPI_Waitall(kMessages, in, MPI_STATUSES_IGNORE);
  MPI_Waitall(kMessages, out, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kMessages; i++) link_check(world, &left[i], i, step);
  link_close(&from, 1);
  link_close(&to, 1);
  in_step();
}

// Direction i leads from each rank to the one that is hops[i] further.
static void turns(const struct World* world, int step) {
  static const int hops[kMostTurns] = {1, -1, 2, -2, 3, -3};
  int n = world->size, count = n > 3 ? 6 : n == 3 ? 4 : 2, order[kMostTurns];  // nobody is his own neighbour
  struct Link to[kMostTurns], from[kMostTurns];
  MPI_Request in[kMostTurns], out;
  permutation(world, 3, step, count, order);
  for (int i = 0; i < count; i++) {
    link_open(&to[i], (world->rank + hops[i] + n) % n, words_of(i + step));
    link_open(&from[i], (world->rank - hops[i] + n) % n, words_of(i + step));
    link_irecv(world, &from[i], kTurn + i, &in[i]);
  }
  in_step();
  for (int t = 0; t < count; t++) {
    int i = order[t];
    link_isend(world, &to[i], kTurn + i, step, &out);
    MPI_Wait(&in[i], MPI_STATUS_IGNORE);
    link_check(world, &from[i], kTurn + i, step);
    MPI_Wait(&out, MPI_STATUS_IGNORE);
    in_step();
  }
  link_close(to, count);
  link_close(from, count);
}

void run_ordered(const struct World* world) {
  if (world->size < 2) fail("patterns: ordered: needs 2 ranks at least");
  struct Link left[kMessages], right[kMessages];
  for (int i = 0; i < kMessages; i++) {
    link_open(&left[i], (world->rank + world->size - 1) % world->size, words_of(i));
    link_open(&right[i], (world->rank + 1) % world->size, words_of(i));
  }
  for (int step = 0; step < world->iterations; step++) {
    queue(world, left, right, step);
    heap(world, left, right, step);
    turns(world, step);
  }
  link_close(left, kMessages);
  link_close(right, kMessages);
}
