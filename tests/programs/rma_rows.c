// Operations whose data have gaps, at the target, at the origin or at both: each one's whole effect, of many rows, of rows alike and
// not, of more than any buffer between the two holds; while the target waits and while it computes; and many at once of one place.
#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "rma.h"

enum { kBytes = 1 << 18, kTypes = 9, kTurns = 3 };
static unsigned char *image, *local, *expected, *packed, *old;
static MPI_Datatype types[kTypes];
static const char* const kNames[kTypes] = {"in a row", "column",    "twos",      "irregular",   "subarray",
                                           "backward", "long rows", "one block", "padded pairs"};
static const int kPairs = kTypes - 1;
static int right;

// Each of `count` doubles or pairs; `counts` says of how many.
static int counts[kTypes];

static void make_types(void) {
  int lengths[300], places[300], end = 0;
  const int sizes[3] = {16, 16, 16}, part[3] = {7, 5, 3}, from[3] = {2, 3, 4};
  for (int i = 0; i < 300; i++) {
    lengths[i] = 1 + i % 3, places[i] = end;
    end += lengths[i] + 1 + i * 7 % 5;
  }
  MPI_Type_contiguous(9000, MPI_DOUBLE, &types[0]), counts[0] = 9000;
  MPI_Type_vector(400, 1, 64, MPI_DOUBLE, &types[1]), counts[1] = 400;
  MPI_Type_vector(6000, 2, 4, MPI_DOUBLE, &types[2]), counts[2] = 12000;
  MPI_Type_indexed(300, lengths, places, MPI_DOUBLE, &types[3]), counts[3] = 600;
  MPI_Type_create_subarray(3, sizes, part, from, MPI_ORDER_C, MPI_DOUBLE, &types[4]), counts[4] = 105;
  MPI_Datatype reversed;
  MPI_Type_vector(500, 1, -3, MPI_DOUBLE, &reversed);
  const int one = 1;
  const MPI_Aint behind = (MPI_Aint)(499 * 3 * sizeof(double));
  MPI_Type_create_hindexed(1, &one, &behind, reversed, &types[5]), counts[5] = 500;
  MPI_Type_free(&reversed);
  MPI_Type_vector(12, 900, 1100, MPI_DOUBLE, &types[6]), counts[6] = 10800;
  MPI_Type_vector(1, 1, 1, MPI_DOUBLE, &types[7]), counts[7] = 1;
  MPI_Type_vector(300, 1, 2, MPI_DOUBLE_INT, &types[8]), counts[8] = 300;
  for (int i = 0; i < kTypes; i++) MPI_Type_commit(&types[i]);
}

// Whole numbers, so that sums are the same in any order.
static void fill_doubles(void* at, int seed) {
  double* d = at;
  for (int i = 0; i < (int)(kBytes / sizeof *d); i++) d[i] = (seed * 31 + i * 7) % 1009;
}

// One side of an operation: one of the types, or as many doubles in a row.
typedef struct {
  MPI_Datatype type;
  int count;
  const char* name;
} Side;
static Side with_gaps(int i) { return (Side){types[i], 1, kNames[i]}; }
static Side in_a_row(int i) { return (Side){MPI_DOUBLE, counts[i], "a row"}; }

static int pack(const void* from, Side side, void* to) {
  int position = 0;
  MPI_Pack(from, side.count, side.type, to, kBytes, &position, MPI_COMM_SELF);
  return position;
}
static void unpack(const void* from, int bytes, void* to, Side side) {
  int position = 0;
  MPI_Unpack(from, bytes, &position, to, side.count, side.type, MPI_COMM_SELF);
}

static void compute_a_little(void) {
  volatile double x = 0;
  for (int i = 0; i < 200000; i++) x += i;
}

// The memory that was written there is `image`, by a get without gaps.
static void check_target(Window* w, const char* what, Side there, Side here) {
  MPI_Win_flush(right, w->win);
  MPI_Get(expected, kBytes, MPI_BYTE, right, at(w, right, 0), kBytes, MPI_BYTE, w->win);
  MPI_Win_flush(right, w->win);
  for (int i = 0; i < kBytes; i++)
    CHECK(expected[i] == image[i], "%s window, %s of %s from %s: byte %d", flavor_name(w->flavor), what, there.name,
          here.name, i);
}

static void begin_turn(Window* w, int turn) {
  fill_doubles(w->base, world_rank + turn);
  fill_doubles(image, right + turn);
  fill_doubles(local, 1000 + turn);
  everybody_flushed(w);
  if ((world_rank + turn) % 2 != 0) compute_a_little();
}

// There and here have as many elements.
static void move(Window* w, Side there, Side here, int turn) {
  begin_turn(w, turn);
  MPI_Put(local, here.count, here.type, right, at(w, right, 0), there.count, there.type, w->win);
  unpack(packed, pack(local, here, packed), image, there);
  check_target(w, "put", there, here);
  everybody_flushed(w);

  begin_turn(w, turn);
  memcpy(expected, local, kBytes);
  MPI_Request request = MPI_REQUEST_NULL;
  if (turn == 0) {
    MPI_Rget(local, here.count, here.type, right, at(w, right, 0), there.count, there.type, w->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Get(local, here.count, here.type, right, at(w, right, 0), there.count, there.type, w->win);
    MPI_Win_flush(right, w->win);
  }
  unpack(packed, pack(image, there, packed), expected, here);
  for (int i = 0; i < kBytes; i++)
    CHECK(expected[i] == local[i], "%s window, get of %s to %s: byte %d", flavor_name(w->flavor), there.name, here.name,
          i);
  everybody_flushed(w);
}

static void update(Window* w, Side there, Side here, int turn) {
  const int fetches = turn % 2, replaces = turn == 2;
  begin_turn(w, turn);
  const int bytes = pack(local, here, packed);
  pack(image, there, old);
  const MPI_Op op = replaces ? MPI_REPLACE : MPI_SUM;
  if (fetches) {
    fill_doubles(expected, 5);
    memcpy(local + kBytes, expected, kBytes);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Rget_accumulate(local, here.count, here.type, local + kBytes, here.count, here.type, right, at(w, right, 0),
                        there.count, there.type, op, w->win, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    unpack(old, bytes, expected, here);
    for (int i = 0; i < kBytes; i++)
      CHECK(expected[i] == local[kBytes + i], "%s window, what was there, %s to %s: byte %d", flavor_name(w->flavor),
            there.name, here.name, i);
  } else {
    MPI_Accumulate(local, here.count, here.type, right, at(w, right, 0), there.count, there.type, op, w->win);
  }
  for (int i = 0; !replaces && i < bytes / (int)sizeof(double); i++) ((double*)packed)[i] += ((double*)old)[i];
  unpack(packed, bytes, image, there);
  check_target(w, replaces ? "replace" : "sum", there, here);
  everybody_flushed(w);
}

// Packed closer than they lie in memory.
static void update_pairs(Window* w) {
  typedef struct {
    double value;
    int place;
  } Pair;
  Pair* own = (Pair*)w->base;
  Pair* mine = (Pair*)local;
  memset(w->base, 0x11, kBytes);
  for (int i = 0; i < 600; i++) own[i].value = i % 2 == 0 ? 5 : 50, own[i].place = 100 + i;
  for (int i = 0; i < 600; i++) mine[i].value = i % 4 == 0 ? 9 : 1, mine[i].place = i;
  everybody_flushed(w);
  MPI_Accumulate(local, 1, types[kPairs], right, at(w, right, 0), 1, types[kPairs], MPI_MAXLOC, w->win);
  everybody_flushed(w);
  for (int i = 0; i < 600; i++) {
    const int is_larger = i % 4 == 0, unused = 0x11111111;
    CHECK(own[i].value == (i % 2 != 0 ? 50 : is_larger ? 9 : 5), "pair %d has %g", i, own[i].value);
    CHECK(own[i].place == (is_larger ? i : 100 + i), "pair %d is of %d", i, own[i].place);
    CHECK(memcmp((char*)&own[i] + 12, &unused, 4) == 0, "the padding of pair %d was written", i);
  }
  everybody_flushed(w);
}

// Everybody adds to the same rows of rank 0, at once, and in every other round to what is between them, too: zeros.
static void add_together(Window* w, int there) {
  enum { kRounds = 20, kDoubles = kBytes / sizeof(double) };
  memset(w->base, 0, kBytes);
  memset(image, 0, kBytes);
  for (int i = 0; i < counts[there]; i++) ((double*)local)[i] = i % 10 + 1;
  unpack(local, counts[there] * (int)sizeof(double), image, with_gaps(there));
  everybody_flushed(w);
  for (int i = 0; i < kRounds; i++) {
    if ((i + world_rank) % 2 == 0)
      MPI_Accumulate(local, counts[there], MPI_DOUBLE, 0, at(w, 0, 0), 1, types[there], MPI_SUM, w->win);
    else
      MPI_Accumulate(image, kDoubles, MPI_DOUBLE, 0, at(w, 0, 0), kDoubles, MPI_DOUBLE, MPI_SUM, w->win);
  }
  everybody_flushed(w);
  for (int i = 0; world_rank == 0 && i < kDoubles; i++) {
    const double sum = ((double*)image)[i] * kRounds * world_size;
    CHECK(((double*)w->base)[i] == sum, "%s: double %d is %g, not %g", kNames[there], i, ((double*)w->base)[i], sum);
  }
  everybody_flushed(w);
}

// Rows of which only every other one is aligned, and updates of the first one's word alone.
static void add_unaligned(Window* w) {
  enum { kRounds = 3000, kStride = 12 };
  const double one = 1, ones[] = {1, 1};
  double sums[2];
  MPI_Datatype type;
  MPI_Type_create_hvector(2, 1, kStride, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  memset(w->base, 0, kBytes);
  everybody_flushed(w);
  for (int i = 0; i < kRounds; i++) {
    if ((i + world_rank) % 2 == 0)
      MPI_Accumulate(ones, 2, MPI_DOUBLE, 0, at(w, 0, 0), 1, type, MPI_SUM, w->win);
    else
      MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, at(w, 0, 0), 1, MPI_DOUBLE, MPI_SUM, w->win);
  }
  everybody_flushed(w);
  memcpy(&sums[0], w->base, sizeof *sums), memcpy(&sums[1], w->base + kStride, sizeof *sums);
  if (world_rank == 0) {
    CHECK(sums[0] == kRounds * world_size, "%s window: %g of %d", flavor_name(w->flavor), sums[0],
          kRounds * world_size);
    CHECK(sums[1] == kRounds / 2 * world_size, "%s window: %g", flavor_name(w->flavor), sums[1]);
  }
  everybody_flushed(w);
  MPI_Type_free(&type);
}

// As many elements in other pieces at both ends, and fewer at the origin than the target has room for.
static void differ(Window* w) {
  const Side columns = {types[1], 2, "columns"}, subarrays = {types[4], 3, "subarrays"};
  const Side row = {MPI_DOUBLE, 800, "a row"}, short_row = {MPI_DOUBLE, 200, "a short row"};
  begin_turn(w, 1);
  MPI_Put(local, columns.count, columns.type, right, at(w, right, 8), row.count, row.type, w->win);
  unpack(packed, pack(local, columns, packed), image + 8, row);
  check_target(w, "put", row, columns);
  everybody_flushed(w);
  begin_turn(w, 2);
  MPI_Put(local, short_row.count, short_row.type, right, at(w, right, 0), subarrays.count, subarrays.type, w->win);
  const int room = pack(image, subarrays, packed);
  memcpy(packed, local, (size_t)short_row.count * sizeof(double));
  unpack(packed, room, image, subarrays);
  check_target(w, "put", subarrays, short_row);
  everybody_flushed(w);
}

static void try_flavor(int flavor) {
  Window w;
  window_open(&w, flavor, kBytes, 1);
  MPI_Win_lock_all(0, w.win);
  add_unaligned(&w);  // before long rows have changed how the window's words are updated
  for (int i = 0; i < kPairs; i++) {
    for (int turn = 0; turn < kTurns; turn++) {
      const Side gaps = with_gaps(i), row = in_a_row(i);
      move(&w, gaps, gaps, turn), move(&w, gaps, row, turn), move(&w, row, gaps, turn);
      update(&w, gaps, gaps, turn), update(&w, gaps, row, turn), update(&w, row, gaps, turn);
    }
    add_together(&w, i);
  }
  differ(&w);
  update_pairs(&w);
  MPI_Win_unlock_all(w.win);
  window_close(&w);
}

// Of several puts that the kernel does together one reaches into memory that is gone: the others are done, and a flush tells of it once.
// The target is not in MPI meanwhile. With "gone" on the command line, where the kernel copies.
static void one_fails(void) {
  const size_t page = (size_t)sysconf(_SC_PAGESIZE), doubles = page / sizeof(double);
  const int rows = 100;  // of all three in one call
  double* memory = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  MPI_Win win, flag_win;
  volatile int* is_over;
  MPI_Win_create(memory, (MPI_Aint)(3 * page), sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win);
  MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
  MPI_Win_allocate_shared(sizeof(int), 1, MPI_INFO_NULL, MPI_COMM_WORLD, (void*)&is_over, &flag_win);
  MPI_Aint bytes;
  int unit;
  MPI_Win_shared_query(flag_win, 0, &bytes, &unit, (void*)&is_over);
  MPI_Datatype type;
  MPI_Type_vector(rows, 1, 2, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  if (world_rank == 1) munmap((char*)memory + page, page);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    double* values = (double*)local;
    for (int i = 0; i < rows; i++) values[i] = i + 1;
    MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, win);
    for (MPI_Aint i = 0; i < 3; i++)
      CHECK_EQ(MPI_Put(values, rows, MPI_DOUBLE, 1, i * (MPI_Aint)doubles, 1, type, win), MPI_SUCCESS);
    CHECK_CLASS(MPI_Win_flush(1, win), MPI_ERR_RMA_RANGE);
    CHECK_EQ(MPI_Win_flush(1, win), MPI_SUCCESS);
    MPI_Win_unlock(1, win);
    *is_over = 1;
  }
  while (world_rank == 1 && !*is_over) sched_yield();
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; world_rank == 1 && i < (int)doubles; i++) {
    const double want = i % 2 == 0 && i < 2 * rows ? i / 2 + 1 : 0;
    CHECK(memory[i] == want, "double %d of the first page is %g", i, memory[i]);
    CHECK(memory[2 * doubles + (size_t)i] == want, "double %d of the last page is %g", i,
          memory[2 * doubles + (size_t)i]);
  }
  MPI_Type_free(&type);
  MPI_Win_free(&win), MPI_Win_free(&flag_win);
  munmap(memory, 3 * page);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  right = (world_rank + 1) % world_size;
  image = malloc(kBytes), local = malloc(2 * kBytes), expected = malloc(kBytes), packed = malloc(kBytes);
  old = malloc(kBytes);
  make_types();
  if (argc > 1 && strcmp(argv[1], "gone") == 0) one_fails();
  each_flavor(argc, argv, try_flavor);
  for (int i = 0; i < kTypes; i++) MPI_Type_free(&types[i]);
  free(image), free(local), free(expected), free(packed), free(old);
  return finish();
}
