// What goes wrong in one-sided communication is reported by its error class, and the window works on. Every case is tried, and
// each that differs is told, before the program fails.
//   rma_errors             all
//   rma_errors arguments | creation | shared | synchronisation | range
#include "rma.h"

enum { kBytes = 256 };

static int differences;
static const char* flavor = "";

static void expect(int line, const char* call, int code, int want) {
  char got_text[MPI_MAX_ERROR_STRING], want_text[MPI_MAX_ERROR_STRING];
  int length, got = error_class(code);
  if (got == want) return;
  differences++;
  if (world_rank != 0) return;
  MPI_Error_string(got, got_text, &length);
  MPI_Error_string(want, want_text, &length);
  fprintf(stderr, "%s:%d: rank %d: %s: %s: class %d (%s), expected %d (%s)\n", __FILE__, line, world_rank, flavor, call,
          got, got_text, want, want_text);
}

#define EXPECT(call, want) expect(__LINE__, #call, call, want)

static void creation(void) {
  MPI_Win win = MPI_WIN_NULL;
  MPI_Comm comm = MPI_COMM_WORLD;
  char memory[64], *base;
  EXPECT(MPI_Win_create(memory, -1, 1, MPI_INFO_NULL, comm, &win), MPI_ERR_SIZE);
  EXPECT(MPI_Win_create(memory, 64, 0, MPI_INFO_NULL, comm, &win), MPI_ERR_DISP);
  EXPECT(MPI_Win_create(memory, 64, -4, MPI_INFO_NULL, comm, &win), MPI_ERR_DISP);
  EXPECT(MPI_Win_create(memory, 64, 1, MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
  EXPECT(MPI_Win_allocate(-5, 1, MPI_INFO_NULL, comm, &base, &win), MPI_ERR_SIZE);
  EXPECT(MPI_Win_allocate(64, 0, MPI_INFO_NULL, comm, &base, &win), MPI_ERR_DISP);
  EXPECT(MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_NULL, &base, &win), MPI_ERR_COMM);
  EXPECT(MPI_Win_allocate_shared(-5, 1, MPI_INFO_NULL, comm, &base, &win), MPI_ERR_SIZE);
  EXPECT(MPI_Win_allocate_shared(64, -1, MPI_INFO_NULL, comm, &base, &win), MPI_ERR_DISP);
  EXPECT(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &win), MPI_ERR_COMM);
  win = MPI_WIN_NULL;
  EXPECT(MPI_Win_free(&win), MPI_ERR_WIN);
  EXPECT(MPI_Win_fence(0, MPI_WIN_NULL), MPI_ERR_WIN);
  EXPECT(MPI_Win_lock_all(0, MPI_WIN_NULL), MPI_ERR_WIN);
  EXPECT(MPI_Put(memory, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_WIN_NULL), MPI_ERR_WIN);
  EXPECT(MPI_Win_attach(MPI_WIN_NULL, memory, 1), MPI_ERR_WIN);
}

// Ranks that share no memory are each told so, and what they made on the way is gone; those of one host share.
static void shared(void) {
  MPI_Win win = MPI_WIN_NULL;
  MPI_Comm host;
  char* base;
  if (on_one_host()) return;
  for (int i = 0; i < 2; i++)
    CHECK_CLASS(MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win), MPI_ERR_RMA_SHARED);
  CHECK(win == MPI_WIN_NULL);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  CHECK_CLASS(MPI_Win_allocate_shared(64, 8, MPI_INFO_NULL, host, &base, &win), MPI_SUCCESS);
  MPI_Win_free(&win);
  MPI_Comm_free(&host);
}

static void arguments(Window* w) {
  int value = 0, got = 0, own = world_rank;
  MPI_Aint here = at(w, own, 0), size;
  MPI_Win win = w->win;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Datatype open;
  char* base;
  MPI_Type_contiguous(2, MPI_INT, &open);  // not committed
  MPI_Win_lock_all(0, win);
  EXPECT(MPI_Put(&value, 1, MPI_INT, world_size, here, 1, MPI_INT, win), MPI_ERR_RANK);
  EXPECT(MPI_Get(&value, 1, MPI_INT, -7, here, 1, MPI_INT, win), MPI_ERR_RANK);
  EXPECT(MPI_Put(&value, -1, MPI_INT, own, here, 1, MPI_INT, win), MPI_ERR_COUNT);
  EXPECT(MPI_Get(&value, 1, MPI_INT, own, here, -3, MPI_INT, win), MPI_ERR_COUNT);
  EXPECT(MPI_Put(&value, 1, MPI_DATATYPE_NULL, own, here, 1, MPI_INT, win), MPI_ERR_TYPE);
  EXPECT(MPI_Get(&value, 1, MPI_INT, own, here, 1, MPI_DATATYPE_NULL, win), MPI_ERR_TYPE);
  EXPECT(MPI_Put(&value, 1, open, own, here, 2, MPI_INT, win), MPI_ERR_TYPE);
  EXPECT(MPI_Get(&value, 2, MPI_INT, own, here, 1, open, win), MPI_ERR_TYPE);
  EXPECT(MPI_Accumulate(&value, 1, MPI_INT, world_size + 5, here, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RANK);
  EXPECT(MPI_Accumulate(&value, -1, MPI_INT, own, here, 1, MPI_INT, MPI_SUM, win), MPI_ERR_COUNT);
  EXPECT(MPI_Accumulate(&value, 1, MPI_INT, own, here, 1, MPI_INT, MPI_OP_NULL, win), MPI_ERR_OP);
  EXPECT(MPI_Accumulate(&value, 1, MPI_INT, own, here, 1, MPI_INT, MPI_NO_OP, win), MPI_ERR_OP);
  EXPECT(MPI_Get_accumulate(&value, 1, MPI_INT, &got, -1, MPI_INT, own, here, 1, MPI_INT, MPI_SUM, win), MPI_ERR_COUNT);
  EXPECT(MPI_Get_accumulate(&value, 1, MPI_INT, &got, 1, open, own, here, 1, MPI_INT, MPI_SUM, win), MPI_ERR_TYPE);
  EXPECT(MPI_Fetch_and_op(&value, &got, MPI_DATATYPE_NULL, own, here, MPI_SUM, win), MPI_ERR_TYPE);
  EXPECT(MPI_Fetch_and_op(&value, &got, MPI_INT, own, here, MPI_OP_NULL, win), MPI_ERR_OP);
  EXPECT(MPI_Fetch_and_op(&value, &got, MPI_INT, -9, here, MPI_SUM, win), MPI_ERR_RANK);
  EXPECT(MPI_Compare_and_swap(&value, &value, &got, MPI_FLOAT, own, here, win), MPI_ERR_TYPE);
  EXPECT(MPI_Compare_and_swap(&value, &value, &got, MPI_INT, world_size, here, win), MPI_ERR_RANK);
  EXPECT(MPI_Rput(&value, -1, MPI_INT, own, here, 1, MPI_INT, win, &request), MPI_ERR_COUNT);
  EXPECT(MPI_Rget(&value, 1, MPI_INT, world_size, here, 1, MPI_INT, win, &request), MPI_ERR_RANK);
  EXPECT(MPI_Win_flush(world_size, win), MPI_ERR_RANK);
  EXPECT(MPI_Win_flush_local(-6, win), MPI_ERR_RANK);
  if (w->flavor != MPI_WIN_FLAVOR_DYNAMIC) EXPECT(MPI_Put(&value, 1, MPI_INT, own, -1, 1, MPI_INT, win), MPI_ERR_DISP);
  MPI_Win_unlock_all(win);
  EXPECT(MPI_Win_lock(17, own, 0, win), MPI_ERR_LOCKTYPE);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, world_size, 0, win), MPI_ERR_RANK);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, own, 1 << 30, win), MPI_ERR_ASSERT);
  EXPECT(MPI_Win_lock_all(1 << 30, win), MPI_ERR_ASSERT);
  EXPECT(MPI_Win_fence(1 << 30, win), MPI_ERR_ASSERT);
  EXPECT(MPI_Win_post(MPI_GROUP_EMPTY, 1 << 30, win), MPI_ERR_ASSERT);
  EXPECT(MPI_Win_start(MPI_GROUP_EMPTY, 1 << 30, win), MPI_ERR_ASSERT);
  EXPECT(MPI_Win_post(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
  EXPECT(MPI_Win_start(MPI_GROUP_NULL, 0, win), MPI_ERR_GROUP);
  if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
    int unit;
    EXPECT(MPI_Win_shared_query(win, own, &size, &unit, &base), MPI_ERR_RMA_FLAVOR);
    EXPECT(MPI_Win_attach(win, &value, -1), MPI_ERR_SIZE);
  } else {
    EXPECT(MPI_Win_attach(win, &value, sizeof value), MPI_ERR_RMA_FLAVOR);
    EXPECT(MPI_Win_detach(win, w->base), MPI_ERR_RMA_FLAVOR);
  }
  MPI_Type_free(&open);
}

// Calls out of their order. What is refused changes nothing, so each case ends as it began.
static void synchronisation(Window* w) {
  const int other = (world_rank + 1) % world_size, own = world_rank;
  int value = 0, got = 0, flag;
  MPI_Aint here = at(w, own, 0), there = at(w, other, 0);
  MPI_Win win = w->win;
  MPI_Request request;
  MPI_Group world, alone;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &own, &alone);
  // With no epoch at all.
  EXPECT(MPI_Win_unlock(own, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_test(win, &flag), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_flush(own, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_flush_all(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_flush_local(own, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_flush_local_all(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Put(&value, 1, MPI_INT, own, here, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Get(&value, 1, MPI_INT, own, here, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Accumulate(&value, 1, MPI_INT, own, here, 1, MPI_INT, MPI_SUM, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Fetch_and_op(&value, &got, MPI_INT, own, here, MPI_SUM, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Compare_and_swap(&value, &value, &got, MPI_INT, own, here, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Rput(&value, 1, MPI_INT, own, here, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
  // With a lock of oneself.
  MPI_Win_lock(MPI_LOCK_SHARED, own, 0, win);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, own, 0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_unlock_all(win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_start(alone, 0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
  if (other != own) {
    EXPECT(MPI_Put(&value, 1, MPI_INT, other, there, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_unlock(other, win), MPI_ERR_RMA_SYNC);
    EXPECT(MPI_Win_flush(other, win), MPI_ERR_RMA_SYNC);
  }
  MPI_Win_unlock(own, win);
  // With all locks.
  MPI_Win_lock_all(0, win);
  EXPECT(MPI_Win_lock_all(0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, own, 0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_unlock(own, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_fence(0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_free(&win), MPI_ERR_RMA_SYNC);
  MPI_Win_unlock_all(win);
  // With a group.
  MPI_Win_post(alone, 0, win);
  EXPECT(MPI_Win_post(alone, 0, win), MPI_ERR_RMA_SYNC);
  MPI_Win_start(alone, 0, win);
  EXPECT(MPI_Win_start(alone, 0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, own, 0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_flush(own, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Rput(&value, 1, MPI_INT, own, here, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Put(&value, 1, MPI_INT, own, here, 1, MPI_INT, win), MPI_SUCCESS);
  if (other != own) EXPECT(MPI_Put(&value, 1, MPI_INT, other, there, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  MPI_Win_complete(win);
  EXPECT(MPI_Win_complete(win), MPI_ERR_RMA_SYNC);
  MPI_Win_wait(win);
  EXPECT(MPI_Win_wait(win), MPI_ERR_RMA_SYNC);
  // Between fences.
  MPI_Win_fence(0, win);
  EXPECT(MPI_Put(&value, 1, MPI_INT, own, here, 1, MPI_INT, win), MPI_SUCCESS);
  EXPECT(MPI_Win_flush(own, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Win_lock(MPI_LOCK_SHARED, own, 0, win), MPI_ERR_RMA_SYNC);
  EXPECT(MPI_Rget(&value, 1, MPI_INT, own, here, 1, MPI_INT, win, &request), MPI_ERR_RMA_SYNC);
  MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
  EXPECT(MPI_Put(&value, 1, MPI_INT, own, here, 1, MPI_INT, win), MPI_ERR_RMA_SYNC);
  // A group of which the window lacks a member leaves nothing behind.
  const int both[] = {own, other};
  MPI_Group pair;
  MPI_Win of_self;
  MPI_Group_incl(world, other != own ? 2 : 1, both, &pair);
  MPI_Win_create(&value, sizeof value, 1, MPI_INFO_NULL, MPI_COMM_SELF, &of_self);
  MPI_Win_set_errhandler(of_self, MPI_ERRORS_RETURN);
  for (int i = 0; i < 2; i++) {
    if (other != own && i == 0) EXPECT(MPI_Win_post(pair, 0, of_self), MPI_ERR_GROUP);
    if (other != own && i == 1) EXPECT(MPI_Win_start(pair, 0, of_self), MPI_ERR_GROUP);
    EXPECT(MPI_Win_post(alone, 0, of_self), MPI_SUCCESS);
    EXPECT(MPI_Win_start(alone, 0, of_self), MPI_SUCCESS);
    EXPECT(MPI_Win_complete(of_self), MPI_SUCCESS);
    EXPECT(MPI_Win_wait(of_self), MPI_SUCCESS);
  }
  MPI_Win_free(&of_self);
  MPI_Group_free(&pair);
  MPI_Group_free(&alone);
  MPI_Group_free(&world);
}

// Beyond the target's window, whose size differs from rank to rank.
static void range(Window* w) {
  const int other = (world_rank + 1) % world_size;
  const MPI_Aint size = kBytes + 64 * other;
  int64_t value[4] = {0}, got;
  MPI_Datatype backwards, wide;
  MPI_Win win = w->win;
  MPI_Type_create_hvector(2, 1, -8, MPI_INT64_T, &backwards);
  MPI_Type_vector(2, 1, (int)size / 8, MPI_INT64_T, &wide);
  MPI_Type_commit(&backwards);
  MPI_Type_commit(&wide);
  MPI_Win_lock_all(0, win);
  EXPECT(MPI_Put(value, 1, MPI_INT64_T, other, at(w, other, size - 8), 1, MPI_INT64_T, win), MPI_SUCCESS);
  EXPECT(MPI_Put(value, 1, MPI_INT64_T, other, at(w, other, size), 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Put(value, 2, MPI_INT64_T, other, at(w, other, size - 8), 2, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Get(value, 1, MPI_INT64_T, other, (MPI_Aint)1 << 60, 1, MPI_INT64_T, win), MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Get(value, 2, MPI_INT64_T, other, at(w, other, 0), 1, backwards, win), MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Get(value, 2, MPI_INT64_T, other, at(w, other, 8), 1, backwards, win), MPI_SUCCESS);
  EXPECT(MPI_Put(value, 2, MPI_INT64_T, other, at(w, other, 0), 1, wide, win), MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Accumulate(value, 2, MPI_INT64_T, other, at(w, other, size - 8), 2, MPI_INT64_T, MPI_SUM, win),
         MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Fetch_and_op(value, &got, MPI_INT64_T, other, at(w, other, size), MPI_SUM, win), MPI_ERR_RMA_RANGE);
  EXPECT(MPI_Compare_and_swap(value, value, &got, MPI_INT64_T, other, at(w, other, size), win), MPI_ERR_RMA_RANGE);
  MPI_Win_unlock_all(win);
  MPI_Type_free(&backwards);
  MPI_Type_free(&wide);
}

// After all of this, the window is as good as new.
static void still_works(Window* w) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  int64_t value = 31 + world_rank;
  MPI_Win_fence(0, w->win);
  MPI_Put(&value, 1, MPI_INT64_T, right, at(w, right, 0), 1, MPI_INT64_T, w->win);
  MPI_Win_fence(0, w->win);
  CHECK_EQ(*(int64_t*)w->base, 31 + left);
  for (MPI_Aint i = 8; i < w->bytes; i++) CHECK(w->base[i] == 0, "byte %ld was written", (long)i);
}

static int wanted(int argc, char** argv, const char* part) {
  int named = argc < 2;
  for (int i = 1; i < argc; i++) named |= strcmp(argv[i], part) == 0;
  return named;
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  if (wanted(argc, argv, "creation")) creation();
  if (wanted(argc, argv, "shared")) shared();
  const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC};
  for (int i = 0; i < 4; i++) {
    Window w;
    if (flavors[i] == MPI_WIN_FLAVOR_SHARED && !on_one_host()) continue;
    flavor = flavor_name(flavors[i]);
    window_open(&w, flavors[i], kBytes + 64 * world_rank, 8);
    MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
    if (wanted(argc, argv, "arguments")) arguments(&w);
    MPI_Barrier(MPI_COMM_WORLD);
    if (wanted(argc, argv, "synchronisation")) synchronisation(&w);
    MPI_Barrier(MPI_COMM_WORLD);
    if (wanted(argc, argv, "range") && flavors[i] != MPI_WIN_FLAVOR_DYNAMIC) range(&w);
    MPI_Barrier(MPI_COMM_WORLD);
    still_works(&w);
    window_close(&w);
  }
  MPI_Finalize();
  return differences != 0;
}
