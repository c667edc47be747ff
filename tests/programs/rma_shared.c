// Memory that ranks share: MPI_Win_allocate_shared in one piece and in pieces, what MPI_Win_shared_query tells of each rank and
// of MPI_PROC_NULL, pieces of nothing, loads and stores between ranks, and the same memory by put and get.
#include "rma.h"

static MPI_Info apart(int noncontiguous) {
  MPI_Info info = MPI_INFO_NULL;
  if (!noncontiguous) return info;
  MPI_Info_create(&info);
  MPI_Info_set(info, "alloc_shared_noncontig", "true");
  return info;
}

// By rank: nothing, some bytes, or more than a page; `empty` ranks from 0 on have nothing.
static MPI_Aint bytes_of(int r, int empty) { return r < empty ? 0 : r % 3 == 2 ? 0 : r % 3 == 0 ? 4096 + 64 : 80; }

static void meet(MPI_Win win) {
  MPI_Win_sync(win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(win);
}

static void queries(int noncontiguous, int empty) {
  MPI_Info info = apart(noncontiguous);
  MPI_Aint size = bytes_of(world_rank, empty), got, before = 0;
  unsigned char *mine, *base, *first = NULL;
  MPI_Win win;
  int unit, first_rank = -1;
  MPI_Win_allocate_shared(size, 1 << world_rank % 3, info, MPI_COMM_WORLD, &mine, &win);
  for (int r = 0; r < world_size; r++) {
    got = -1, unit = -1;
    MPI_Win_shared_query(win, r, &got, &unit, &base);
    CHECK_EQ(got, bytes_of(r, empty));
    if (got > 0) CHECK_EQ(unit, 1 << r % 3);
    if (r == world_rank && size > 0) CHECK(base == mine, "%p, %p at creation", (void*)base, (void*)mine);
    if (got > 0) {
      if (first_rank < 0) first = base, first_rank = r;
      // In one piece, each rank's memory begins where the one before ends.
      if (!noncontiguous) CHECK_EQ(base - first, before);
      before += got;
    }
  }
  got = -1;
  MPI_Win_shared_query(win, MPI_PROC_NULL, &got, &unit, &base);
  CHECK_EQ(got, first_rank < 0 ? 0 : bytes_of(first_rank, empty));
  if (first_rank >= 0)
    CHECK(base == first, "MPI_PROC_NULL is at %p, rank %d at %p", (void*)base, first_rank, (void*)first);
  if (first_rank >= 0) CHECK_EQ(unit, 1 << first_rank % 3);
  if (noncontiguous && size > 0) CHECK_EQ((uintptr_t)mine % 8, 0);

  MPI_Win_lock_all(MPI_MODE_NOCHECK, win);
  fill(mine, (size_t)size, (unsigned)world_rank);
  meet(win);
  for (int r = 0; r < world_size; r++) {  // by loads, and the next rank's memory by stores
    MPI_Win_shared_query(win, r, &got, &unit, &base);
    CHECK_PATTERN(base, (size_t)got, (unsigned)r);
  }
  meet(win);
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  MPI_Win_shared_query(win, right, &got, &unit, &base);
  fill(base, (size_t)got, (unsigned)(100 + world_rank));
  meet(win);
  CHECK_PATTERN(mine, (size_t)size, (unsigned)(100 + left));
  MPI_Win_unlock_all(win);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  MPI_Win_free(&win);
}

// A word that ranks hand around by stores, and what it announces with it.
static void hand_around(int noncontiguous) {
  enum { kRounds = 300 };
  MPI_Info info = apart(noncontiguous);
  int64_t *mine, *next;
  MPI_Aint size;
  MPI_Win win;
  int unit, right = (world_rank + 1) % world_size, flag;
  MPI_Win_allocate_shared(256, 8, info, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, right, &size, &unit, &next);
  CHECK_EQ(size, 256);
  MPI_Win_lock_all(0, win);
  memset(mine, 0, 256);
  meet(win);
  for (int64_t round = 1; round <= kRounds; round++) {
    if (world_rank > 0 || round > 1) {
      int64_t turn = world_rank > 0 ? round : round - 1;
      while (__atomic_load_n(&mine[0], __ATOMIC_ACQUIRE) < turn)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE);
      MPI_Win_sync(win);
      for (int i = 1; i < 32; i++) CHECK_EQ(mine[i], turn * 100 + i);
    }
    for (int i = 1; i < 32; i++) next[i] = round * 100 + i;
    MPI_Win_sync(win);
    __atomic_store_n(&next[0], round, __ATOMIC_RELEASE);
  }
  meet(win);
  MPI_Win_unlock_all(win);
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  MPI_Win_free(&win);
}

// Loads see what puts and accumulates left, and gets see stores.
static void beside_calls(void) {
  int64_t *mine, *theirs, got = -1, out = 5 + world_rank, one = 1;
  MPI_Aint size;
  MPI_Win win;
  int unit, right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, right, &size, &unit, &theirs);
  mine[0] = mine[1] = 0, mine[2] = 90 + world_rank;
  MPI_Win_fence(0, win);
  MPI_Put(&out, 1, MPI_INT64_T, right, 0, 1, MPI_INT64_T, win);
  for (int r = 0; r < world_size; r++) MPI_Accumulate(&one, 1, MPI_INT64_T, r, 1, 1, MPI_INT64_T, MPI_SUM, win);
  MPI_Win_fence(0, win);
  CHECK_EQ(mine[0], 5 + left);
  CHECK_EQ(theirs[0], 5 + world_rank);
  CHECK_EQ(mine[1], world_size);
  theirs[3] = 70 + world_rank;
  MPI_Win_fence(0, win);
  MPI_Get(&got, 1, MPI_INT64_T, right, 3, 1, MPI_INT64_T, win);
  MPI_Win_fence(0, win);
  CHECK_EQ(got, 70 + world_rank);
  CHECK_EQ(mine[3], 70 + left);
  MPI_Win_free(&win);
}

// One rank's memory, which all use; the others bring none.
static void of_one_rank(void) {
  int *mine, *shared, unit;
  MPI_Aint size;
  MPI_Win win;
  for (int i = 0; i < 10; i++) {
    MPI_Win_allocate_shared(world_rank == 0 ? 64 : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
    MPI_Win_shared_query(win, 0, &size, &unit, &shared);
    CHECK_EQ(size, 64);
    if (world_rank == world_size - 1) shared[3] = 40 + i;
    MPI_Win_fence(0, win);
    CHECK_EQ(shared[3], 40 + i);
    MPI_Win_free(&win);
  }
}

// Several megabytes a rank, all pages of which must be there.
static void large(void) {
  const MPI_Aint bytes = 3 << 20;
  unsigned char *mine, *theirs;
  MPI_Aint size;
  MPI_Win win;
  int unit, right = (world_rank + 1) % world_size;
  MPI_Win_allocate_shared_c(bytes, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_fence(0, win);
  fill(mine, (size_t)bytes, (unsigned)(7 * world_rank));
  MPI_Win_fence(0, win);
  MPI_Win_shared_query(win, right, &size, &unit, &theirs);
  CHECK_EQ(size, bytes);
  CHECK_PATTERN(theirs, (size_t)bytes, (unsigned)(7 * right));
  MPI_Win_fence(0, win);
  MPI_Win_free(&win);
}

// What another window tells of its memory: all of it, or that there is none to be loaded from.
static void other_windows(void) {
  int64_t held = 40 + world_rank, *base;
  MPI_Win win;
  MPI_Aint size;
  int unit, right = (world_rank + 1) % world_size;
  for (int allocate = 0; allocate < 2; allocate++) {
    if (allocate) {
      int64_t* mine;
      MPI_Win_allocate(8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
      *mine = held;
    } else {
      MPI_Win_create(&held, 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
    }
    MPI_Win_fence(0, win);
    MPI_Win_shared_query(win, right, &size, &unit, &base);
    CHECK(size == 0 || size == 8, "%ld", (long)size);
    if (size == 8) CHECK_EQ(*base, 40 + right);
    if (size == 0) CHECK(base == NULL, "%p", (void*)base);
    MPI_Win_fence(0, win);
    MPI_Win_free(&win);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  for (int noncontiguous = 0; noncontiguous < 2; noncontiguous++) {
    for (int empty = 0; empty <= world_size && empty < 4; empty++) queries(noncontiguous, empty);
    queries(noncontiguous, world_size);
    hand_around(noncontiguous);
  }
  beside_calls();
  of_one_rank();
  large();
  if (argc < 2) other_windows();
  return finish();
}
