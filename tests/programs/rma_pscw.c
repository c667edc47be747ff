// MPI_Win_post, start, complete, wait and test: who waits for whom, over disjoint and overlapping groups, over groups of
// nobody and of oneself; one epoch of access beside one of exposure.
#include "rma.h"

enum { kRounds = 60, kSlots = 256 };

static MPI_Group world;

static MPI_Group group_of(const int* ranks, int n) {
  MPI_Group group;
  MPI_Group_incl(world, n, ranks, &group);
  return group;
}

static void wait_for(MPI_Win win, int by_test) {
  int flag = 0;
  if (!by_test) {
    MPI_Win_wait(win);
    return;
  }
  while (!flag) MPI_Win_test(win, &flag);
}

// Around a ring: each exposes to its left and accesses its right, both at once.
static void ring(Window* w, int assertion) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  int64_t* held = (int64_t*)w->base;
  MPI_Group to = group_of(&right, 1), from = group_of(&left, 1);
  for (int round = 0; round < kRounds; round++) {
    int64_t out[8], got = -1;
    for (int i = 0; i < 8; i++) out[i] = 1000 * round + 10 * world_rank + i;
    held[100] = 7 * round + world_rank;
    MPI_Win_post(from, assertion, w->win);
    if (assertion) MPI_Barrier(MPI_COMM_WORLD);  // MPI_MODE_NOCHECK: every post came before every start
    MPI_Win_start(to, assertion, w->win);
    MPI_Put(out, 8, MPI_INT64_T, right, at(w, right, 0), 8, MPI_INT64_T, w->win);
    MPI_Get(&got, 1, MPI_INT64_T, right, at(w, right, 800), 1, MPI_INT64_T, w->win);
    MPI_Win_complete(w->win);
    memset(out, 0, sizeof out);
    CHECK_EQ(got, 7 * round + right);
    wait_for(w->win, round % 2);
    for (int i = 0; i < 8; i++) CHECK_EQ(held[i], 1000 * round + 10 * left + i);
  }
  MPI_Group_free(&to);
  MPI_Group_free(&from);
}

// As above, and nobody puts: what an epoch exposes is read, and stands as it was.
static void ring_of_gets(Window* w) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  int64_t* held = (int64_t*)w->base;
  MPI_Group to = group_of(&right, 1), from = group_of(&left, 1);
  for (int round = 0; round < kRounds; round++) {
    int64_t got[8] = {0};
    for (int i = 0; i < 8; i++) held[i] = 1000 * round + 10 * world_rank + i;
    MPI_Win_post(from, MPI_MODE_NOPUT, w->win);
    MPI_Win_start(to, 0, w->win);
    MPI_Get(got, 8, MPI_INT64_T, right, at(w, right, 0), 8, MPI_INT64_T, w->win);
    MPI_Win_complete(w->win);
    for (int i = 0; i < 8; i++) CHECK_EQ(got[i], 1000 * round + 10 * right + i);
    wait_for(w->win, round % 2);
    for (int i = 0; i < 8; i++) CHECK_EQ(held[i], 1000 * round + 10 * world_rank + i);
  }
  MPI_Group_free(&to);
  MPI_Group_free(&from);
}

// One target, all others origins; then one origin, all others targets. The alone one moves around.
static void star(Window* w) {
  int* others = malloc(sizeof(int) * (size_t)world_size);
  int64_t* held = (int64_t*)w->base;
  for (int round = 0; round < 3 * world_size; round++) {
    int hub = round % world_size, n = 0;
    for (int r = 0; r < world_size; r++)
      if (r != hub) others[n++] = r;
    MPI_Group rest = group_of(others, n), alone = group_of(&hub, 1);
    int64_t mine = 100 * round + world_rank;
    memset(held, 0, 8 * (size_t)world_size);
    if (world_rank == hub) {
      MPI_Win_post(rest, 0, w->win);
      wait_for(w->win, round % 2);
      for (int r = 0; r < world_size; r++) CHECK_EQ(held[r], r == hub ? 0 : 100 * round + r);
      MPI_Win_start(rest, 0, w->win);
      for (int i = 0; i < n; i++)
        MPI_Put(&mine, 1, MPI_INT64_T, others[i], at(w, others[i], 8 * hub), 1, MPI_INT64_T, w->win);
      MPI_Win_complete(w->win);
    } else {
      MPI_Win_start(alone, 0, w->win);
      MPI_Put(&mine, 1, MPI_INT64_T, hub, at(w, hub, 8 * world_rank), 1, MPI_INT64_T, w->win);
      MPI_Win_complete(w->win);
      MPI_Win_post(alone, 0, w->win);
      wait_for(w->win, round % 3 == 0);
      CHECK_EQ(held[hub], 100 * round + hub);
    }
    MPI_Group_free(&rest);
    MPI_Group_free(&alone);
  }
  free(others);
}

// Each rank accesses those above it and is exposed to those below, at the distances of the round's set bits.
static void overlapping(Window* w) {
  int *up = malloc(sizeof(int) * (size_t)world_size), *down = malloc(sizeof(int) * (size_t)world_size);
  int64_t* held = (int64_t*)w->base;
  for (int round = 0; round < kRounds; round++) {
    int ups = 0, downs = 0;
    for (int r = 0; r < world_size; r++) {  // oneself too, in every second round
      if (r >= world_rank && (round >> (r - world_rank) % 6 & 1)) up[ups++] = r;
      if (r <= world_rank && (round >> (world_rank - r) % 6 & 1)) down[downs++] = r;
    }
    MPI_Group to = group_of(up, ups), from = group_of(down, downs);
    int64_t add = (round + 1) * (world_rank + 1), want = 0;
    *held = 0;
    MPI_Win_post(from, 0, w->win);
    MPI_Win_start(to, 0, w->win);
    MPI_Group_free(&to);  // the call has what it needs
    MPI_Group_free(&from);
    for (int i = 0; i < ups; i++)
      MPI_Accumulate(&add, 1, MPI_INT64_T, up[i], at(w, up[i], 0), 1, MPI_INT64_T, MPI_SUM, w->win);
    MPI_Win_complete(w->win);
    wait_for(w->win, round % 3 == 1);
    for (int i = 0; i < downs; i++) want += (round + 1) * (down[i] + 1);
    CHECK_EQ(*held, want);
  }
  free(up), free(down);
}

// MPI_Win_test tells no end before the origin's complete, and the end after it.
static void test_tells(Window* w) {
  if (world_size < 2 || world_rank > 1) return;
  int other = 1 - world_rank, flag = -1;
  MPI_Group group = group_of(&other, 1);
  int64_t value = 4711;
  if (world_rank == 0) {
    *(int64_t*)w->base = 0;
    MPI_Win_post(group, 0, w->win);
    for (int i = 0; i < 100; i++) {
      MPI_Win_test(w->win, &flag);
      CHECK_EQ(flag, 0);
    }
    MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    for (flag = 0; !flag;) MPI_Win_test(w->win, &flag);
    CHECK_EQ(*(int64_t*)w->base, 4711);
  } else {
    MPI_Win_start(group, 0, w->win);
    MPI_Put(&value, 1, MPI_INT64_T, 0, at(w, 0, 0), 1, MPI_INT64_T, w->win);
    MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Win_complete(w->win);
  }
  MPI_Group_free(&group);
}

// Disjoint pairs of ranks, each at its own speed: none waits for another pair.
static void pairs(Window* w) {
  int other = world_rank ^ 1;
  if (other >= world_size) return;
  MPI_Group group = group_of(&other, 1);
  int64_t* held = (int64_t*)w->base;
  for (int round = 0; round < kRounds * (1 + world_rank / 2); round++) {
    int64_t value = round * 3 + world_rank;
    if ((world_rank + round) % 2) {
      MPI_Win_post(group, MPI_MODE_NOSTORE, w->win);
      MPI_Win_wait(w->win);
      CHECK_EQ(held[0], round * 3 + other);
    } else {
      MPI_Win_start(group, 0, w->win);
      MPI_Put(&value, 1, MPI_INT64_T, other, at(w, other, 0), 1, MPI_INT64_T, w->win);
      MPI_Win_complete(w->win);
    }
  }
  MPI_Group_free(&group);
}

static void test(int flavor) {
  Window w;
  window_open(&w, flavor, 8 * (kSlots > world_size ? kSlots : world_size), 8);
  for (int i = 0; i < 5; i++) {  // nobody to wait for
    MPI_Win_post(MPI_GROUP_EMPTY, 0, w.win);
    MPI_Win_start(MPI_GROUP_EMPTY, 0, w.win);
    MPI_Win_complete(w.win);
    wait_for(w.win, i % 2);
  }
  ring(&w, 0);
  ring(&w, MPI_MODE_NOCHECK);
  ring_of_gets(&w);
  star(&w);
  overlapping(&w);
  test_tells(&w);
  pairs(&w);
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  each_flavor(argc, argv, test);
  MPI_Group_free(&world);
  return finish();
}
