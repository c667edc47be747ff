// Accumulates beyond the plain case: derived types at both sides, places on no boundary, long arrays, the order of one
// origin's accumulates, groups of ranks on overlapping ranges, and what the standard forbids.
#include "rma.h"

enum { kLong = 200000, kBytes = kLong * 8 + 64 };

static int right, left;

// The origin's column into the target's row, and back.
static void derived(Window* w) {
  enum { kN = 24 };
  int* held = (int*)w->base;
  int mine[kN * kN], old[kN];
  MPI_Datatype column, backwards;
  MPI_Type_vector(kN, 1, kN, MPI_INT, &column);
  MPI_Type_create_hvector(kN, 1, -(MPI_Aint)sizeof(int), MPI_INT, &backwards);
  MPI_Type_commit(&column);
  MPI_Type_commit(&backwards);
  for (int i = 0; i < kN * kN; i++) held[i] = 1000000 * world_rank + i, mine[i] = i * (world_rank + 1);
  memset(old, 0, sizeof old);
  MPI_Win_fence(0, w->win);
  MPI_Accumulate(mine + 2, 1, column, right, at(w, right, 4 * (kN * 3 + kN - 1)), 1, backwards, MPI_SUM, w->win);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < kN * kN; i++) {
    int in_row = i / kN == 3, j = kN - 1 - i % kN;
    CHECK_EQ(held[i], 1000000 * world_rank + i + (in_row ? (2 + j * kN) * (left + 1) : 0));
    if (in_row) held[i] = i;
  }
  MPI_Win_fence(0, w->win);
  MPI_Get_accumulate(mine + 1, 1, column, old + kN - 1, 1, backwards, right, at(w, right, 4 * kN * 3), kN, MPI_INT,
                     MPI_MAX, w->win);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < kN; i++) {
    int before = kN * 3 + i, other = (1 + i * kN) * (left + 1);
    CHECK_EQ(old[kN - 1 - i], before);
    CHECK_EQ(held[kN * 3 + i], before > other ? before : other);
  }
  MPI_Type_free(&column);
  MPI_Type_free(&backwards);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Doubles at an address that is none of a double, from everybody at once.
static void unaligned(Window* w) {
  enum { kN = 33 };
  for (MPI_Aint shift = 1; shift < 8; shift += 2) {
    double mine[kN], zero = 0, all[kN], was[20];
    for (int i = 0; i < kN; i++) mine[i] = world_rank + i, memcpy(w->base + shift + 8 * i, &zero, 8);
    w->base[shift - 1] = w->base[shift + 8 * kN] = 0xAB;
    MPI_Win_fence(0, w->win);
    for (int r = 0; r < world_size; r++)
      for (int k = 0; k < 20; k++)
        MPI_Accumulate(mine, kN, MPI_DOUBLE, r, at(w, r, shift), kN, MPI_DOUBLE, MPI_SUM, w->win);
    for (int k = 0; k < 20; k++)
      MPI_Fetch_and_op(&mine[1], &was[k], MPI_DOUBLE, 0, at(w, 0, shift + 16), MPI_SUM, w->win);
    MPI_Win_fence(0, w->win);
    memcpy(all, w->base + shift, sizeof all);
    double ranks = world_size * (world_size - 1) / 2;
    for (int i = 0; i < kN; i++) {
      double want = 20 * (ranks + world_size * i) + (world_rank == 0 && i == 2 ? 20 * (ranks + world_size) : 0);
      CHECK(all[i] == want, "shift %ld, element %d is %g, expected %g", (long)shift, i, all[i], want);
    }
    CHECK_EQ(w->base[shift - 1], 0xAB);
    CHECK_EQ(w->base[shift + 8 * kN], 0xAB);
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

// Ranges that overlap, from all ranks at once; each element of the target gets what covers it.
static void overlapping(Window* w, int n) {
  int64_t *held = (int64_t*)w->base, *mine = malloc(sizeof(int64_t) * (size_t)n), *old = calloc((size_t)n, sizeof *old);
  for (int i = 0; i < n; i++) held[i] = 0, mine[i] = i + world_rank;
  MPI_Win_fence(0, w->win);
  for (int r = 0; r < world_size; r++) {
    int first = n / 3 * world_rank / world_size, count = n - first;
    MPI_Accumulate(mine + first, count, MPI_INT64_T, r, at(w, r, 8 * first), count, MPI_INT64_T, MPI_SUM, w->win);
  }
  MPI_Get_accumulate(mine, n, MPI_INT64_T, old, n, MPI_INT64_T, right, at(w, right, 0), n, MPI_INT64_T, MPI_SUM,
                     w->win);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < n; i++) {
    int64_t want = i + left;
    for (int r = 0; r < world_size; r++)
      if (i >= n / 3 * r / world_size) want += i + r;
    CHECK(held[i] == want, "element %d of %d is %lld, expected %lld", i, n, (long long)held[i], (long long)want);
  }
  free(mine), free(old);
  MPI_Barrier(MPI_COMM_WORLD);
}

// Accumulates of one origin to one place take effect in the order in which they were called, reads among them.
static void order(Window* w) {
  enum { kN = 400 };
  int* held = (int*)w->base;
  static int values[kN], seen[kN];
  memset(w->base, 0, 4 * (size_t)world_size * 64);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, w->win);
  for (int i = 0; i < kN; i++) {
    MPI_Aint place = at(w, right, 4 * 64 * world_rank);
    values[i] = i + 1, seen[i] = -1;
    MPI_Accumulate(&values[i], 1, MPI_INT, right, place, 1, MPI_INT, MPI_REPLACE, w->win);
    if (i % 2)
      MPI_Fetch_and_op(NULL, &seen[i], MPI_INT, right, place, MPI_NO_OP, w->win);
    else
      MPI_Get_accumulate(NULL, 0, MPI_INT, &seen[i], 1, MPI_INT, right, place, 1, MPI_INT, MPI_NO_OP, w->win);
  }
  everybody_flushed(w);
  for (int i = 0; i < kN; i++) CHECK(seen[i] == i + 1, "read %d after the write of %d", seen[i], i + 1);
  CHECK_EQ(held[64 * left], kN);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(w->win);
}

static void own_op(void* in, void* inout, int* n, MPI_Datatype* type) { (void)in, (void)inout, (void)n, (void)type; }

static void refused(Window* w) {
  double x = 1, y = 0;
  MPI_Op own;
  MPI_Datatype mixed, parts[] = {MPI_INT, MPI_DOUBLE};
  int lengths[] = {1, 1}, class;
  MPI_Aint places[] = {0, 8}, here = at(w, world_rank, 0);
  MPI_Op_create(own_op, 1, &own);
  MPI_Type_create_struct(2, lengths, places, parts, &mixed);
  MPI_Type_commit(&mixed);
  MPI_Win_set_errhandler(w->win, MPI_ERRORS_RETURN);
  MPI_Win_fence(0, w->win);
  CHECK_CLASS(MPI_Accumulate(&x, 1, MPI_DOUBLE, world_rank, here, 1, MPI_DOUBLE, MPI_BAND, w->win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Accumulate(&x, 1, MPI_DOUBLE, world_rank, here, 1, MPI_DOUBLE, MPI_MAXLOC, w->win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Accumulate(&x, 1, MPI_DOUBLE, world_rank, here, 1, MPI_DOUBLE, own, w->win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Accumulate(&x, 1, MPI_DOUBLE, world_rank, here, 1, MPI_DOUBLE, MPI_OP_NULL, w->win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Accumulate(&x, 8, MPI_BYTE, world_rank, here, 8, MPI_BYTE, MPI_SUM, w->win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Fetch_and_op(&x, &y, MPI_DOUBLE, world_rank, here, MPI_LOR, w->win), MPI_ERR_OP);
  CHECK_CLASS(MPI_Fetch_and_op(&x, &y, mixed, world_rank, here, MPI_REPLACE, w->win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Compare_and_swap(&x, &x, &y, MPI_DOUBLE, world_rank, here, w->win), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Compare_and_swap(&x, &x, &y, mixed, world_rank, here, w->win), MPI_ERR_TYPE);
  class = error_class(MPI_Accumulate(&x, 1, mixed, world_rank, here, 1, mixed, MPI_SUM, w->win));
  CHECK(class == MPI_ERR_TYPE || class == MPI_ERR_OP, "%d", class);
  MPI_Win_fence(0, w->win);
  for (int i = 0; i < 16; i++) CHECK_EQ(w->base[i], 0x11);
  CHECK(y == 0, "%g", y);
  MPI_Type_free(&mixed);
  MPI_Op_free(&own);
}

static void test(int flavor) {
  Window w;
  window_open(&w, flavor, kBytes, 1);
  derived(&w);
  unaligned(&w);
  overlapping(&w, 100);
  overlapping(&w, kLong);
  order(&w);
  memset(w.base, 0x11, 16);
  refused(&w);
  window_close(&w);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  each_flavor(argc, argv, test);
  return finish();
}
