// The second rank dies in the middle of an epoch, as a target or with a lock.
//   rma_killed PLACE [flavor...]           errors are fatal: the job ends, and the launcher says who died
//   rma_killed PLACE returns [flavor]      the others handle errors: what waits for the dead one is MPI_ERR_PROC_ABORTED, and a window
//                                          of the living works
//     target     the others put, get and add there
//     lock       it has the lock of the first rank's memory, for which the others wait
//     fence, pscw
//     long       the others put a megabyte there, which nobody tells of any more; a flush later on does
#include <signal.h>

#include "rma.h"

enum { kVictim = 1, kSmall = 1024, kLong = 1 << 20 };

static int is_fatal = 1;
static const char* place;

static void die(void) {
  if (world_rank == kVictim) raise(SIGKILL);
}

static void check_lost(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length;
  CHECK_EQ(error_class(code), MPI_ERR_PROC_ABORTED);
  MPI_Error_string(code, text, &length);
  CHECK(strstr(text, "lost") != NULL, "%s", text);
}

// Everything that an origin does, again and again, until it is told; memory that MPI has allocated outlives its rank.
static void target(Window* w) {
  int64_t values[64] = {0}, one = 1, was;
  int code = MPI_SUCCESS, flag = 0;
  MPI_Request died;
  MPI_Win_lock_all(0, w->win);
  MPI_Irecv(NULL, 0, MPI_BYTE, kVictim, 1, MPI_COMM_WORLD, &died);
  MPI_Barrier(MPI_COMM_WORLD);
  die();
  const MPI_Aint first = at(w, kVictim, 0), second = at(w, kVictim, 8);
  while (code == MPI_SUCCESS && !flag) {
    if (w->flavor == MPI_WIN_FLAVOR_ALLOCATE) code = MPI_Test(&died, &flag, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) break;
    code = MPI_Put(values, 64, MPI_INT64_T, kVictim, second, 64, MPI_INT64_T, w->win);
    if (code == MPI_SUCCESS) code = MPI_Win_flush(kVictim, w->win);
    if (code == MPI_SUCCESS) code = MPI_Fetch_and_op(&one, &was, MPI_INT64_T, kVictim, first, MPI_SUM, w->win);
    if (code == MPI_SUCCESS) code = MPI_Get(values, 64, MPI_INT64_T, kVictim, second, 64, MPI_INT64_T, w->win);
    if (code == MPI_SUCCESS) code = MPI_Win_flush_all(w->win);
  }
  check_lost(code);
}

static void lock(Window* w) {
  if (world_rank == kVictim) MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  die();
  check_lost(MPI_Win_lock(world_rank % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w->win));
}

static void fence(Window* w) {
  const int64_t value = 1;
  MPI_Win_fence(0, w->win);
  MPI_Put(&value, 1, MPI_INT64_T, kVictim, at(w, kVictim, 8), 1, MPI_INT64_T, w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  die();
  check_lost(MPI_Win_fence(0, w->win));
}

static void pscw(Window* w) {
  const int victim = kVictim;
  MPI_Group world, group;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Group_incl(world, 1, &victim, &group);
  MPI_Barrier(MPI_COMM_WORLD);
  die();
  MPI_Win_post(group, 0, w->win);
  check_lost(MPI_Win_start(group, 0, w->win));
  check_lost(MPI_Win_wait(w->win));
  MPI_Group_free(&group);
  MPI_Group_free(&world);
}

// The victim shares memory with this rank: what it puts there is there at once.
static int is_near(void) {
  MPI_Comm host;
  MPI_Group world, near;
  int victim = kVictim, there;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  MPI_Comm_group(host, &near);
  MPI_Group_translate_ranks(world, 1, &victim, near, &there);
  MPI_Group_free(&near);
  MPI_Group_free(&world);
  MPI_Comm_free(&host);
  return there != MPI_UNDEFINED;
}

static void long_ones(Window* w) {
  const int near = is_near();
  unsigned char* data = calloc(1, kLong);
  MPI_Request died;
  int code = MPI_SUCCESS, told = MPI_SUCCESS, flag = 0;
  MPI_Win_lock_all(0, w->win);
  for (int i = 0; i < 3; i++) {
    CHECK_EQ(MPI_Put(data, kLong, MPI_BYTE, kVictim, at(w, kVictim, 0), kLong, MPI_BYTE, w->win), MPI_SUCCESS);
    CHECK_EQ(MPI_Win_flush(kVictim, w->win), MPI_SUCCESS);
  }
  MPI_Irecv(NULL, 0, MPI_BYTE, kVictim, 1, MPI_COMM_WORLD, &died);
  MPI_Barrier(MPI_COMM_WORLD);
  die();
  while (!flag) {  // the first may still come while it is in the barrier
    if (code == MPI_SUCCESS) code = MPI_Put(data, kLong, MPI_BYTE, kVictim, at(w, kVictim, 0), kLong, MPI_BYTE, w->win);
    told = MPI_Test(&died, &flag, MPI_STATUS_IGNORE);
  }
  check_lost(told);
  if (code == MPI_SUCCESS) code = MPI_Win_flush(kVictim, w->win);
  if (!near || code != MPI_SUCCESS) check_lost(code);
  free(data);
}

static void living_work(MPI_Comm left) {
  int rank, size;
  int64_t *base, one = 1;
  MPI_Win win;
  MPI_Comm_rank(left, &rank);
  MPI_Comm_size(left, &size);
  CHECK_EQ(MPI_Win_allocate(64, 8, MPI_INFO_NULL, left, &base, &win), MPI_SUCCESS);
  *base = 0;
  CHECK_EQ(MPI_Win_fence(0, win), MPI_SUCCESS);
  for (int r = 0; r < size; r++)
    CHECK_EQ(MPI_Accumulate(&one, 1, MPI_INT64_T, r, 0, 1, MPI_INT64_T, MPI_SUM, win), MPI_SUCCESS);
  CHECK_EQ(MPI_Win_fence(0, win), MPI_SUCCESS);
  CHECK_EQ(*base, size);
  CHECK_EQ(MPI_Win_free(&win), MPI_SUCCESS);
}

static void test(int flavor) {
  static Window w;  // to the end: to free it takes everybody
  MPI_Comm left;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank == kVictim ? MPI_UNDEFINED : 0, world_rank, &left);
  window_open(&w, flavor, strcmp(place, "long") == 0 ? kLong : kSmall, 8);
  if (!is_fatal) MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN);
  if (strcmp(place, "target") == 0) target(&w);
  if (strcmp(place, "lock") == 0) lock(&w);
  if (strcmp(place, "fence") == 0) fence(&w);
  if (strcmp(place, "pscw") == 0) pscw(&w);
  if (strcmp(place, "long") == 0) long_ones(&w);
  CHECK(!is_fatal, "the others went on");
  living_work(left);
  MPI_Comm_free(&left);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK(argc > 1 && world_size > 2, "needs a place and three ranks");
  place = argv[1];
  is_fatal = argc < 3 || strcmp(argv[2], "returns") != 0;
  if (!is_fatal) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  each_flavor(argc - (is_fatal ? 1 : 2), argv + (is_fatal ? 1 : 2), test);
  MPI_Finalize();
  printf("rank %d went on\n", world_rank);
  return 0;
}
