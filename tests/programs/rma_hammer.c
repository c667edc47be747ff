// All ranks combine into one place at once, each by another call than its neighbour and all by the same; the target too. What
// is added is exact in every type, so the sum must be; each fetch and each swap brings a value that nobody else got.
//   rma_hammer [flavor...]
#include "rma.h"

enum { kTurns = 400 };

static Window window;

// What all ranks add, rank r as many times r + 1.
static int64_t total(void) { return (int64_t)kTurns * world_size * (world_size + 1) / 2; }

// By accumulate, get_accumulate and fetch_and_op, in turns that differ from rank to rank.
#define HAMMER(T, type)                                                                                                \
  do {                                                                                                                 \
    const int target = world_size - 1;                                                                                 \
    T add = (T)(world_rank + 1), was[3], zero = (T)0, got = (T)0;                                                      \
    for (int way = 0; way < 4; way++) {                                                                                \
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window.win);                                                     \
      memcpy(window.base, &zero, sizeof zero);                                                                         \
      MPI_Win_unlock(world_rank, window.win);                                                                          \
      MPI_Barrier(MPI_COMM_WORLD);                                                                                     \
      MPI_Win_lock_all(0, window.win);                                                                                 \
      for (int turn = 0; turn < kTurns; turn++) {                                                                      \
        int call = way < 3 ? way : (turn + world_rank) % 3;                                                            \
        if (call == 0) MPI_Accumulate(&add, 1, type, target, at(&window, target, 0), 1, type, MPI_SUM, window.win);    \
        if (call == 1)                                                                                                 \
          MPI_Get_accumulate(&add, 1, type, &was[turn % 3], 1, type, target, at(&window, target, 0), 1, type, MPI_SUM, \
                             window.win);                                                                              \
        if (call == 2)                                                                                                 \
          MPI_Fetch_and_op(&add, &was[turn % 3], type, target, at(&window, target, 0), MPI_SUM, window.win);           \
        if (turn % 3 == 2) MPI_Win_flush_local(target, window.win);                                                    \
      }                                                                                                                \
      everybody_flushed(&window);                                                                                      \
      MPI_Fetch_and_op(NULL, &got, type, target, at(&window, target, 0), MPI_NO_OP, window.win);                       \
      MPI_Win_flush(target, window.win);                                                                               \
      CHECK(got == (T)total(), "%s, way %d: the sum is %.17g, expected %.17g", #type, way, (double)got,                \
            (double)(T)total());                                                                                       \
      MPI_Barrier(MPI_COMM_WORLD);                                                                                     \
      MPI_Win_unlock_all(window.win);                                                                                  \
    }                                                                                                                  \
  } while (0)

// Counts up by compare and swap: every value from 0 on is swapped by exactly one rank.
#define SWAPS(T, type)                                                                                   \
  do {                                                                                                   \
    const int target = 0;                                                                                \
    T expected, fresh, was, zero = (T)0, got = (T)0;                                                     \
    int64_t mine = 0, of_all = 0;                                                                        \
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window.win);                                         \
    memcpy(window.base, &zero, sizeof zero);                                                             \
    MPI_Win_unlock(world_rank, window.win);                                                              \
    MPI_Barrier(MPI_COMM_WORLD);                                                                         \
    MPI_Win_lock_all(0, window.win);                                                                     \
    for (int turn = 0; turn < 100; turn++) {                                                             \
      for (expected = (T)0;; expected = was) {                                                           \
        fresh = (T)(expected + 1);                                                                       \
        MPI_Compare_and_swap(&fresh, &expected, &was, type, target, at(&window, target, 0), window.win); \
        MPI_Win_flush(target, window.win);                                                               \
        if (was == expected) break;                                                                      \
      }                                                                                                  \
      mine += (int64_t)fresh;                                                                            \
    }                                                                                                    \
    everybody_flushed(&window);                                                                          \
    MPI_Fetch_and_op(NULL, &got, type, target, at(&window, target, 0), MPI_NO_OP, window.win);           \
    MPI_Win_flush(target, window.win);                                                                   \
    CHECK_EQ(got, 100 * world_size);                                                                     \
    MPI_Allreduce(&mine, &of_all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);                              \
    CHECK_EQ(of_all, 100LL * world_size * (100LL * world_size + 1) / 2);                                 \
    MPI_Win_unlock_all(window.win);                                                                      \
  } while (0)

// Every kind of operation on one word at once, also loads by its owner, and puts to the words beside it, of which each rank has one: nothing of the sum is
// lost, no value that is fetched is less than an earlier one, and nobody's own word is anybody else's affair.
#define MIX(T, type)                                                                                                \
  do {                                                                                                              \
    for (int target = 0; target<world_size; target += world_size> 1 ? world_size - 1 : 1) {                         \
      const MPI_Aint own = (MPI_Aint)sizeof(T) * (1 + world_rank);                                                  \
      const T add = (T)(world_rank + 1);                                                                            \
      T last = (T)0, was, fresh, expected;                                                                          \
      MPI_Request request;                                                                                          \
      int64_t mine = 0, of_all = 0;                                                                                 \
      MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window.win);                                                  \
      memset(window.base, 0, (size_t)window.bytes);                                                                 \
      MPI_Win_unlock(world_rank, window.win);                                                                       \
      MPI_Barrier(MPI_COMM_WORLD);                                                                                  \
      MPI_Win_lock_all(0, window.win);                                                                              \
      for (int turn = 0; turn < kTurns; turn++) {                                                                   \
        const int call = (turn + world_rank) % 8;                                                                   \
        was = last;                                                                                                 \
        if (call == 0) MPI_Accumulate(&add, 1, type, target, at(&window, target, 0), 1, type, MPI_SUM, window.win); \
        if (call == 1)                                                                                              \
          MPI_Get_accumulate(&add, 1, type, &was, 1, type, target, at(&window, target, 0), 1, type, MPI_SUM,        \
                             window.win);                                                                           \
        if (call == 2) MPI_Fetch_and_op(&add, &was, type, target, at(&window, target, 0), MPI_SUM, window.win);     \
        for (expected = last; call == 3; expected = was) {                                                          \
          fresh = (T)(expected + add);                                                                              \
          MPI_Compare_and_swap(&fresh, &expected, &was, type, target, at(&window, target, 0), window.win);          \
          MPI_Win_flush(target, window.win);                                                                        \
          if (was == expected) break;                                                                               \
        }                                                                                                           \
        if (call < 4 || call > 5) mine += (int64_t)add;                                                             \
        if (call == 4) {                                                                                            \
          fresh = (T)(turn + 1), expected = (T)0;                                                                   \
          MPI_Put(&fresh, 1, type, target, at(&window, target, own), 1, type, window.win);                          \
          MPI_Win_flush(target, window.win);                                                                        \
          MPI_Get(&expected, 1, type, target, at(&window, target, own), 1, type, window.win);                       \
          MPI_Win_flush(target, window.win);                                                                        \
          CHECK_EQ(expected, fresh);                                                                                \
        }                                                                                                           \
        if (call == 5 && world_rank != target)                                                                      \
          MPI_Get_accumulate(NULL, 0, type, &was, 1, type, target, at(&window, target, 0), 1, type, MPI_NO_OP,      \
                             window.win);                                                                           \
        if (call == 5 && world_rank == target) { /* its own load */                                                 \
          MPI_Win_sync(window.win);                                                                                 \
          was = *(volatile T*)window.base;                                                                          \
        }                                                                                                           \
        if (call == 6)                                                                                              \
          MPI_Raccumulate(&add, 1, type, target, at(&window, target, 0), 1, type, MPI_SUM, window.win, &request);   \
        if (call == 7)                                                                                              \
          MPI_Rget_accumulate(&add, 1, type, &was, 1, type, target, at(&window, target, 0), 1, type, MPI_SUM,       \
                              window.win, &request);                                                                \
        if (call > 5) MPI_Wait(&request, MPI_STATUS_IGNORE), expected = was;                                        \
        MPI_Win_flush(target, window.win);                                                                          \
        if (call > 5)                                                                                               \
          CHECK(was == expected, "%s: %lld, but %lld after the flush", #type, (long long)expected, (long long)was); \
        CHECK(was >= last, "%s: %lld comes after %lld", #type, (long long)was, (long long)last);                    \
        last = was;                                                                                                 \
      }                                                                                                             \
      everybody_flushed(&window);                                                                                   \
      MPI_Allreduce(&mine, &of_all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);                                       \
      MPI_Fetch_and_op(NULL, &was, type, target, at(&window, target, 0), MPI_NO_OP, window.win);                    \
      MPI_Win_flush(target, window.win);                                                                            \
      CHECK_EQ(was, of_all);                                                                                        \
      MPI_Barrier(MPI_COMM_WORLD);                                                                                  \
      MPI_Win_unlock_all(window.win);                                                                               \
    }                                                                                                               \
  } while (0)

// Rows of elements, which overlap from rank to rank, and single elements in their middle: by accumulate, get_accumulate and
// fetch_and_op at once.
#define ROWS(T, type)                                                                                         \
  do {                                                                                                        \
    enum { kRow = 77 };                                                                                       \
    const int target = world_size - 1, first = world_rank % 3;                                                \
    const int is_fast = window.flavor == MPI_WIN_FLAVOR_ALLOCATE || window.flavor == MPI_WIN_FLAVOR_SHARED;   \
    const int turns = is_fast && on_one_host() ? 10 * kTurns : kTurns; /* long enough to meet */              \
    const T one = (T)1;                                                                                       \
    T add[kRow], was[kRow], before[kRow] = {0}, single;                                                       \
    for (int i = 0; i < kRow; i++) add[i] = (T)1;                                                             \
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window.win);                                              \
    memset(window.base, 0, (size_t)window.bytes);                                                             \
    MPI_Win_unlock(world_rank, window.win);                                                                   \
    MPI_Barrier(MPI_COMM_WORLD);                                                                              \
    MPI_Win_lock_all(0, window.win);                                                                          \
    for (int turn = 0; turn < turns; turn++) {                                                                \
      const MPI_Aint place = at(&window, target, (MPI_Aint)sizeof(T) * first);                                \
      if (turn % 2 == 0) MPI_Accumulate(add, kRow, type, target, place, kRow, type, MPI_SUM, window.win);     \
      if (turn % 2 == 1)                                                                                      \
        MPI_Get_accumulate(add, kRow, type, was, kRow, type, target, place, kRow, type, MPI_SUM, window.win); \
      MPI_Win_flush(target, window.win);                                                                      \
      for (int i = 0; i < kRow && turn % 2 == 1; i++) {                                                       \
        CHECK(was[i] > before[i] || turn == 1, "%s: element %d is %g after %g", #type, i, (double)was[i],     \
              (double)before[i]);                                                                             \
        before[i] = was[i];                                                                                   \
      }                                                                                                       \
      MPI_Fetch_and_op(&one, &single, type, target, at(&window, target, (MPI_Aint)sizeof(T) * 40), MPI_SUM,   \
                       window.win);                                                                           \
    }                                                                                                         \
    everybody_flushed(&window);                                                                               \
    T all[kRow + 2];                                                                                          \
    MPI_Get(all, kRow + 2, type, target, at(&window, target, 0), kRow + 2, type, window.win);                 \
    MPI_Win_flush(target, window.win);                                                                        \
    for (int i = 0; i < kRow + 2; i++) {                                                                      \
      int64_t sum = i == 40 ? (int64_t)turns * world_size : 0;                                                \
      for (int r = 0; r < world_size; r++) sum += i >= r % 3 && i < r % 3 + kRow ? turns : 0;                 \
      CHECK(all[i] == (T)sum, "%s: element %d is %g, not %g", #type, i, (double)all[i], (double)(T)sum);      \
    }                                                                                                         \
    MPI_Barrier(MPI_COMM_WORLD);                                                                              \
    MPI_Win_unlock_all(window.win);                                                                           \
  } while (0)

// Tickets: what MPI_Fetch_and_op brings to one rank it brings to no other.
static void tickets(void) {
  const int n = kTurns * world_size;
  char* mine = calloc((size_t)n, 1);
  int64_t one = 1, was;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window.win);
  *(int64_t*)window.base = 0;
  MPI_Win_unlock(world_rank, window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int turn = 0; turn < kTurns; turn++) {
    MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window.win);
    MPI_Fetch_and_op(&one, &was, MPI_INT64_T, 0, at(&window, 0, 0), MPI_SUM, window.win);
    MPI_Win_unlock(0, window.win);
    CHECK(was >= 0 && was < n, "%lld", (long long)was);
    mine[was]++;
  }
  MPI_Allreduce(MPI_IN_PLACE, mine, n, MPI_SIGNED_CHAR, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < n; i++) CHECK(mine[i] == 1, "ticket %d was drawn %d times", i, mine[i]);
  free(mine);
  MPI_Barrier(MPI_COMM_WORLD);
}

// 16 bytes: pairs of a double and an index, and complex numbers. Neither half may be of another pair.
static void sixteen_bytes(void) {
  struct Pair {
    double value;
    int index;
  } best = {-1, -1}, mine, was;
  double sum[2] = {0, 0}, add[2] = {1, -2};
  const int target = world_size / 2;
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, world_rank, 0, window.win);
  memcpy(window.base, &best, sizeof best);
  memcpy(window.base + 64, sum, sizeof sum);
  MPI_Win_unlock(world_rank, window.win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_lock_all(0, window.win);
  for (int turn = 0; turn < kTurns; turn++) {
    int number = turn * world_size + world_rank;
    mine.value = number / 2.0, mine.index = number;
    MPI_Fetch_and_op(&mine, &was, MPI_DOUBLE_INT, target, at(&window, target, 0), MPI_MAXLOC, window.win);
    MPI_Accumulate(add, 1, MPI_C_DOUBLE_COMPLEX, target, at(&window, target, 64), 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM,
                   window.win);
    MPI_Win_flush(target, window.win);
    CHECK(was.index < 0 ? was.value == -1 : was.value == was.index / 2.0, "%g with %d", was.value, was.index);
  }
  everybody_flushed(&window);
  MPI_Get(&was, 1, MPI_DOUBLE_INT, target, at(&window, target, 0), 1, MPI_DOUBLE_INT, window.win);
  MPI_Get(sum, 2, MPI_DOUBLE, target, at(&window, target, 64), 2, MPI_DOUBLE, window.win);
  MPI_Win_flush(target, window.win);
  CHECK_EQ(was.index, kTurns * world_size - 1);
  CHECK(sum[0] == kTurns * world_size && sum[1] == -2.0 * kTurns * world_size, "%g + %g i", sum[0], sum[1]);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_unlock_all(window.win);
}

// Single elements are updated while a first long row changes them from hardware to locks, at another moment each time, and others follow.
static void changes(int flavor) {
  enum { kRow = 600, kWindows = 40, kSingles = 300, kRows = 20 };
  const int64_t one = 1;
  int64_t row[kRow], was, last;
  for (int i = 0; i < kRow; i++) row[i] = 1;
  for (int turn = 0; turn < kWindows; turn++) {
    Window w;
    const int target = turn % world_size, first = turn * (kSingles - kRows) / kWindows + world_rank;
    window_open(&w, flavor, (MPI_Aint)sizeof row, 4);
    memset(w.base, 0, sizeof row);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_lock_all(0, w.win);
    last = -1;
    for (int i = 0; i < kSingles; i++) {
      MPI_Fetch_and_op(&one, &was, MPI_INT64_T, target, at(&w, target, 8 * 299), MPI_SUM, w.win);
      MPI_Win_flush(target, w.win);
      CHECK(was > last, "%lld after %lld", (long long)was, (long long)last);
      last = was;
      if (i >= first && i < first + kRows)
        MPI_Accumulate(row, kRow, MPI_INT64_T, target, at(&w, target, 0), kRow, MPI_INT64_T, MPI_SUM, w.win);
    }
    everybody_flushed(&w);
    for (int i = 0; i < kRow && world_rank == target; i++)
      CHECK_EQ(((int64_t*)w.base)[i], world_size * (kRows + (i == 299 ? kSingles : 0)));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_unlock_all(w.win);
    window_close(&w);
  }
}

// The same in a window of its own: long rows change how words are updated.
#define ROWS_APART(flavor, T, type)                         \
  do {                                                      \
    window_open(&window, flavor, 1024 + 8 * world_size, 4); \
    ROWS(T, type);                                          \
    window_close(&window);                                  \
  } while (0)

// One rank alone says that it updates many elements at a time.
static void by_locks(int flavor) {
  MPI_Info info;
  MPI_Info_create(&info);
  if (world_rank == 0) MPI_Info_set(info, "mpi_accumulate_granularity", "4096");
  window_open_with(&window, flavor, 1024 + 8 * world_size, 4, info);
  MPI_Info_free(&info);
  HAMMER(int64_t, MPI_INT64_T);
  SWAPS(int64_t, MPI_INT64_T);
  MIX(int64_t, MPI_INT64_T);
  ROWS(double, MPI_DOUBLE);
  window_close(&window);
}

static void test(int flavor) {
  window_open(&window, flavor, 1024 + 8 * world_size, 4);
  HAMMER(uint8_t, MPI_UINT8_T);
  HAMMER(uint16_t, MPI_UINT16_T);
  HAMMER(int32_t, MPI_INT32_T);
  HAMMER(int64_t, MPI_INT64_T);
  HAMMER(float, MPI_FLOAT);
  HAMMER(double, MPI_DOUBLE);
  HAMMER(long double, MPI_LONG_DOUBLE);
  SWAPS(int, MPI_INT);
  SWAPS(int64_t, MPI_INT64_T);
  SWAPS(uint16_t, MPI_UINT16_T);
  MIX(int32_t, MPI_INT32_T);
  MIX(int64_t, MPI_INT64_T);
  tickets();
  sixteen_bytes();
  window_close(&window);
  ROWS_APART(flavor, int32_t, MPI_INT32_T);
  ROWS_APART(flavor, int64_t, MPI_INT64_T);
  ROWS_APART(flavor, float, MPI_FLOAT);
  ROWS_APART(flavor, double, MPI_DOUBLE);
  if (flavor != MPI_WIN_FLAVOR_ALLOCATE && flavor != MPI_WIN_FLAVOR_SHARED) return;
  changes(flavor);
  by_locks(flavor);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  each_flavor(argc, argv, test);
  return finish();
}
