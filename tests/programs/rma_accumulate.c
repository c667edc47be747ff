// Every predefined operation on every predefined type that it is defined for, by all four calls that combine: what all ranks
// add up at once in one place against the serial result, and what each call brings back; combinations that are not allowed.
#include <stdbool.h>

#include "rma.h"

enum { kCount = 19, kOps = 10 };
static const char* const names[kOps] = {"MAX", "MIN", "SUM", "PROD", "LAND", "LOR", "LXOR", "BAND", "BOR", "BXOR"};

static Window window;
static MPI_Op ops[kOps];
static int right, left;

static long long of_integers(int op, long long x, long long y) {
  switch (op) {
    case 2:
      return x + y;
    case 3:
      return x * y;
    case 4:
      return x && y;
    case 5:
      return x || y;
    case 6:
      return !x != !y;
    case 7:
      return x & y;
    case 8:
      return x | y;
    default:
      return x ^ y;
  }
}

// Small, of both signs, with zeros; rank -1's is what lies in the window before.
static int value(int r, int i) { return (i * 7 + (r + 1) * 3) % 5 - (i % 4 == 0 ? 0 : 1); }

// Whether this library has the type: those of Fortran are optional.
static int has(MPI_Datatype type, size_t bytes) {
  int size = 0;
  return type != MPI_DATATYPE_NULL && MPI_Type_size(type, &size) == MPI_SUCCESS && size == (int)bytes;
}

#define COMBINE(T, op, x, y)                 \
  (op == 0   ? ((x) > (T)(y) ? (x) : (T)(y)) \
   : op == 1 ? ((x) < (T)(y) ? (x) : (T)(y)) \
             : (T)of_integers(op, (long long)(x), (long long)(T)(y)))
#define CHECK_VALUE(what, type, op, i, got, want)                                                                      \
  CHECK((got) == (want), "%s %s, operation %s, element %d: %lld, expected %lld", what, #type, op, i, (long long)(got), \
        (long long)(want))

// On type T, the operations [first, last) of the table; MPI_REPLACE and MPI_NO_OP besides.
#define CHECK_TYPE(T, type, first, last)                                                                              \
  do {                                                                                                                \
    T* held = (T*)window.base;                                                                                        \
    T mine[kCount], old[kCount], one = 0;                                                                             \
    MPI_Aint there = at(&window, right, 0);                                                                           \
    if (!has(type, sizeof(T))) break;                                                                                 \
    for (int i = 0; i < kCount; i++) mine[i] = (T)value(world_rank, i);                                               \
    for (int op = first; op < last; op++) {                                                                           \
      for (int i = 0; i < kCount; i++) held[i] = (T)value(-1, i), old[i] = (T)3;                                      \
      MPI_Win_fence(0, window.win);                                                                                   \
      for (int r = 0; r < world_size; r++)                                                                            \
        MPI_Accumulate(mine, kCount, type, r, at(&window, r, 0), kCount, type, ops[op], window.win);                  \
      MPI_Win_fence(0, window.win);                                                                                   \
      for (int i = 0; i < kCount; i++) {                                                                              \
        T want = (T)value(-1, i);                                                                                     \
        for (int r = 0; r < world_size; r++) want = COMBINE(T, op, want, value(r, i));                                \
        CHECK_VALUE("accumulate", type, names[op], i, held[i], want);                                                 \
        held[i] = (T)value(-1, i);                                                                                    \
      }                                                                                                               \
      MPI_Win_fence(0, window.win);                                                                                   \
      MPI_Get_accumulate(mine, kCount - 1, type, old, kCount - 1, type, right, there, kCount - 1, type, ops[op],      \
                         window.win);                                                                                 \
      MPI_Fetch_and_op(&mine[kCount - 1], &one, type, right, at(&window, right, (kCount - 1) * sizeof(T)), ops[op],   \
                       window.win);                                                                                   \
      MPI_Win_fence(0, window.win);                                                                                   \
      old[kCount - 1] = one;                                                                                          \
      for (int i = 0; i < kCount; i++) {                                                                              \
        CHECK_VALUE("fetched", type, names[op], i, old[i], (T)value(-1, i));                                          \
        CHECK_VALUE("after the fetch", type, names[op], i, held[i], COMBINE(T, op, (T)value(-1, i), value(left, i))); \
      }                                                                                                               \
    }                                                                                                                 \
    CHECK_MOVES(T, type);                                                                                             \
  } while (0)

// MPI_REPLACE by three calls, and MPI_NO_OP by two: for any type.
#define CHECK_MOVES(T, type)                                                                                      \
  do {                                                                                                            \
    T *all = (T*)window.base, out[kCount], in[kCount], last;                                                      \
    if (!has(type, sizeof(T))) break;                                                                             \
    for (int call = 0; call < 3; call++) {                                                                        \
      memset(in, 0, sizeof in), memset(&last, 0, sizeof last);                                                    \
      for (int i = 0; i < kCount; i++) out[i] = (T)((value(world_rank, i) + 1) & 1), all[i] = (T)(i & 1);         \
      MPI_Win_fence(0, window.win);                                                                               \
      if (call == 0)                                                                                              \
        MPI_Accumulate(out, kCount, type, right, at(&window, right, 0), kCount, type, MPI_REPLACE, window.win);   \
      if (call > 0) {                                                                                             \
        MPI_Op op = call == 1 ? MPI_REPLACE : MPI_NO_OP;                                                          \
        MPI_Get_accumulate(call == 1 ? out : NULL, call == 1 ? kCount - 1 : 0, type, in, kCount - 1, type, right, \
                           at(&window, right, 0), kCount - 1, type, op, window.win);                              \
        MPI_Fetch_and_op(call == 1 ? &out[kCount - 1] : NULL, &last, type, right,                                 \
                         at(&window, right, (kCount - 1) * sizeof(T)), op, window.win);                           \
      }                                                                                                           \
      MPI_Win_fence(0, window.win);                                                                               \
      in[kCount - 1] = last;                                                                                      \
      for (int i = 0; i < kCount; i++) {                                                                          \
        T want = call == 2 ? (T)(i & 1) : (T)((value(left, i) + 1) & 1);                                          \
        CHECK_VALUE("moved", type, call == 2 ? "NO_OP" : "REPLACE", i, all[i], want);                             \
        if (call > 0) CHECK_VALUE("brought back", type, call == 2 ? "NO_OP" : "REPLACE", i, in[i], (T)(i & 1));   \
      }                                                                                                           \
      MPI_Barrier(MPI_COMM_WORLD);                                                                                \
    }                                                                                                             \
  } while (0)

#define CHECK_SWAP(T, type)                                                                                   \
  do {                                                                                                        \
    T *word = (T*)window.base, equal = (T)1, other = (T)0, fresh[2] = {(T)(world_rank & 1), (T)1}, was[2];    \
    if (!has(type, sizeof(T))) break;                                                                         \
    word[0] = (T)1, word[1] = (T)1, was[0] = was[1] = (T)0;                                                   \
    MPI_Win_fence(0, window.win);                                                                             \
    MPI_Compare_and_swap(&fresh[0], &equal, &was[0], type, right, at(&window, right, 0), window.win);         \
    MPI_Compare_and_swap(&fresh[1], &other, &was[1], type, right, at(&window, right, sizeof(T)), window.win); \
    MPI_Win_fence(0, window.win);                                                                             \
    CHECK_VALUE("compared", type, "swap", 0, was[0], (T)1);                                                   \
    CHECK_VALUE("compared", type, "swap", 1, was[1], (T)1);                                                   \
    CHECK_VALUE("swapped", type, "swap", 0, word[0], (T)(left & 1));                                          \
    CHECK_VALUE("not swapped", type, "swap", 1, word[1], (T)1);                                               \
    MPI_Barrier(MPI_COMM_WORLD);                                                                              \
  } while (0)

#define CHECK_INTEGERS(T, type)   \
  do {                            \
    CHECK_TYPE(T, type, 0, kOps); \
    CHECK_SWAP(T, type);          \
  } while (0)

// All ranks' pairs at once; the lower index wins where values are equal. Then one that brings the old pair back.
#define CHECK_LOC(T, type)                                                                                        \
  do {                                                                                                            \
    typedef struct {                                                                                              \
      T value;                                                                                                    \
      int index;                                                                                                  \
    } Pair;                                                                                                       \
    Pair *held = (Pair*)window.base, mine[kCount], was;                                                           \
    for (int max = 0; max < 2; max++) {                                                                           \
      MPI_Op op = max ? MPI_MAXLOC : MPI_MINLOC;                                                                  \
      memset(&was, 0, sizeof was);                                                                                \
      for (int i = 0; i < kCount; i++) {                                                                          \
        mine[i].value = (T)((i * 7 + world_rank * 3) % 5), mine[i].index = world_rank * 100 + i;                  \
        held[i].value = (T)2, held[i].index = 250;                                                                \
      }                                                                                                           \
      MPI_Win_fence(0, window.win);                                                                               \
      for (int r = 0; r < world_size; r++)                                                                        \
        MPI_Accumulate(mine, kCount, type, r, at(&window, r, 0), kCount, type, op, window.win);                   \
      MPI_Win_fence(0, window.win);                                                                               \
      Pair expected = {(T)2, 250};                                                                                \
      for (int i = 0; i < kCount; i++) {                                                                          \
        expected = (Pair){(T)2, 250};                                                                             \
        for (int r = 0; r < world_size; r++) {                                                                    \
          T v = (T)((i * 7 + r * 3) % 5);                                                                         \
          if (v == expected.value && r * 100 + i < expected.index) expected.index = r * 100 + i;                  \
          if (max ? v > expected.value : v < expected.value) expected = (Pair){v, r * 100 + i};                   \
        }                                                                                                         \
        CHECK_VALUE("located", type, max ? "MAXLOC" : "MINLOC", i, held[i].value, expected.value);                \
        CHECK_VALUE("location of", type, max ? "MAXLOC" : "MINLOC", i, held[i].index, expected.index);            \
      }                                                                                                           \
      MPI_Win_fence(0, window.win);                                                                               \
      MPI_Fetch_and_op(&mine[kCount - 1], &was, type, right, at(&window, right, (kCount - 1) * sizeof(Pair)), op, \
                       window.win);                                                                               \
      MPI_Win_fence(0, window.win);                                                                               \
      CHECK_VALUE("fetched value of", type, "LOC", kCount - 1, was.value, expected.value);                        \
      CHECK_VALUE("fetched index of", type, "LOC", kCount - 1, was.index, expected.index);                        \
    }                                                                                                             \
  } while (0)

// Sums and products of all ranks, in whatever order: the parts are small integers, so every order is exact.
#define CHECK_COMPLEX(T, type)                                                                                         \
  do {                                                                                                                 \
    T *held = (T*)window.base, mine[2] = {(T)(world_rank + 1), 2}, sum[2] = {1, 0}, product[2] = {1, 0};               \
    if (!has(type, sizeof mine)) break;                                                                                \
    held[0] = held[2] = 1, held[1] = held[3] = 0;                                                                      \
    MPI_Win_fence(0, window.win);                                                                                      \
    for (int r = 0; r < world_size; r++) {                                                                             \
      T a = (T)(r + 1), re = product[0];                                                                               \
      MPI_Accumulate(mine, 1, type, r, at(&window, r, 0), 1, type, MPI_SUM, window.win);                               \
      MPI_Accumulate(mine, 1, type, r, at(&window, r, sizeof mine), 1, type, MPI_PROD, window.win);                    \
      sum[0] += a, sum[1] += 2, product[0] = re * a - product[1] * 2, product[1] = re * 2 + product[1] * a;            \
    }                                                                                                                  \
    MPI_Win_fence(0, window.win);                                                                                      \
    CHECK(held[0] == sum[0] && held[1] == sum[1], "%s: %g + %g i, expected %g + %g i", #type, (double)held[0],         \
          (double)held[1], (double)sum[0], (double)sum[1]);                                                            \
    CHECK(held[2] == product[0] && held[3] == product[1], "%s: %g + %g i, expected %g + %g i", #type, (double)held[2], \
          (double)held[3], (double)product[0], (double)product[1]);                                                    \
    MPI_Barrier(MPI_COMM_WORLD);                                                                                       \
  } while (0)

static void integers(void) {
  CHECK_INTEGERS(signed char, MPI_SIGNED_CHAR);
  CHECK_INTEGERS(unsigned char, MPI_UNSIGNED_CHAR);
  CHECK_INTEGERS(short, MPI_SHORT);
  CHECK_INTEGERS(unsigned short, MPI_UNSIGNED_SHORT);
  CHECK_INTEGERS(int, MPI_INT);
  CHECK_INTEGERS(unsigned, MPI_UNSIGNED);
  CHECK_INTEGERS(long, MPI_LONG);
  CHECK_INTEGERS(unsigned long, MPI_UNSIGNED_LONG);
  CHECK_INTEGERS(long long, MPI_LONG_LONG);
  CHECK_INTEGERS(unsigned long long, MPI_UNSIGNED_LONG_LONG);
  CHECK_INTEGERS(int8_t, MPI_INT8_T);
  CHECK_INTEGERS(int16_t, MPI_INT16_T);
  CHECK_INTEGERS(int32_t, MPI_INT32_T);
  CHECK_INTEGERS(int64_t, MPI_INT64_T);
  CHECK_INTEGERS(uint8_t, MPI_UINT8_T);
  CHECK_INTEGERS(uint16_t, MPI_UINT16_T);
  CHECK_INTEGERS(uint32_t, MPI_UINT32_T);
  CHECK_INTEGERS(uint64_t, MPI_UINT64_T);
}

static void others(void) {
  CHECK_TYPE(MPI_Aint, MPI_AINT, 0, 4);  // multi-language types: no logical operations
  CHECK_TYPE(MPI_Aint, MPI_AINT, 7, 10);
  CHECK_SWAP(MPI_Aint, MPI_AINT);
  CHECK_TYPE(MPI_Count, MPI_COUNT, 0, 4);
  CHECK_SWAP(MPI_Count, MPI_COUNT);
  CHECK_TYPE(MPI_Offset, MPI_OFFSET, 7, 10);
  CHECK_SWAP(MPI_Offset, MPI_OFFSET);
  CHECK_TYPE(float, MPI_FLOAT, 0, 4);
  CHECK_TYPE(double, MPI_DOUBLE, 0, 4);
  CHECK_TYPE(long double, MPI_LONG_DOUBLE, 0, 4);
  CHECK_TYPE(bool, MPI_C_BOOL, 4, 7);
  CHECK_SWAP(bool, MPI_C_BOOL);
  CHECK_TYPE(unsigned char, MPI_BYTE, 7, 10);
  CHECK_SWAP(unsigned char, MPI_BYTE);
  CHECK_MOVES(char, MPI_CHAR);
  CHECK_MOVES(wchar_t, MPI_WCHAR);
  CHECK_TYPE(int, MPI_INTEGER, 0, 4);
  CHECK_TYPE(float, MPI_REAL, 0, 4);
  CHECK_TYPE(double, MPI_DOUBLE_PRECISION, 0, 4);
  CHECK_COMPLEX(float, MPI_C_FLOAT_COMPLEX);
  CHECK_COMPLEX(double, MPI_C_DOUBLE_COMPLEX);
  CHECK_COMPLEX(long double, MPI_C_LONG_DOUBLE_COMPLEX);
  CHECK_LOC(int, MPI_2INT);
  CHECK_LOC(float, MPI_FLOAT_INT);
  CHECK_LOC(double, MPI_DOUBLE_INT);
  CHECK_LOC(long, MPI_LONG_INT);
  CHECK_LOC(short, MPI_SHORT_INT);
  CHECK_LOC(long double, MPI_LONG_DOUBLE_INT);
}

// More than is updated in one step: every element once, also where the way to the target changes in between.
static void long_rows(int flavor) {
  enum { kElements = 5000 };
  static int64_t add[kElements], was[kElements];
  Window w;
  window_open(&w, flavor, 8 * kElements, 8);
  for (int i = 0; i < kElements; i++) add[i] = 3 * i + world_rank;
  MPI_Win_fence(0, w.win);
  MPI_Accumulate(add, kElements, MPI_INT64_T, right, at(&w, right, 0), kElements, MPI_INT64_T, MPI_SUM, w.win);
  MPI_Win_fence(0, w.win);
  MPI_Get_accumulate(add, kElements, MPI_INT64_T, was, kElements, MPI_INT64_T, right, at(&w, right, 0), kElements,
                     MPI_INT64_T, MPI_SUM, w.win);
  MPI_Win_fence(0, w.win);
  for (int i = 0; i < kElements; i++) {
    CHECK_EQ(was[i], 3 * i + world_rank);
    CHECK_EQ(((int64_t*)w.base)[i], 2 * (3 * i + left));
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
  window_close(&w);
}

// A pair that is packed closer than its own extent: every one of them, in either call.
static void close_pairs(int flavor) {
  enum { kPairs = 5 };
  char in[12 * kPairs] = {0}, was[12 * kPairs];
  MPI_Datatype close;
  MPI_Type_create_resized(MPI_DOUBLE_INT, 0, 12, &close);
  MPI_Type_commit(&close);
  Window w;
  window_open(&w, flavor, sizeof in, 1);
  memset(w.base, 0, sizeof in);
  for (int i = 0; i < kPairs; i++) {
    const double value = i + 1;
    const int place = world_rank;
    memcpy(in + 12 * i, &value, 8);
    memcpy(in + 12 * i + 8, &place, 4);
  }
  MPI_Win_fence(0, w.win);
  MPI_Accumulate(in, kPairs, close, right, at(&w, right, 0), kPairs, close, MPI_MAXLOC, w.win);
  MPI_Win_fence(0, w.win);
  MPI_Get_accumulate(in, kPairs, close, was, kPairs, close, right, at(&w, right, 0), kPairs, close, MPI_REPLACE, w.win);
  MPI_Win_fence(0, w.win);
  for (int i = 0; i < kPairs; i++) {
    double value;
    int place;
    memcpy(&value, was + 12 * i, 8);
    memcpy(&place, was + 12 * i + 8, 4);
    CHECK_EQ(value, i + 1);
    CHECK_EQ(place, world_rank);
    memcpy(&value, (char*)w.base + 12 * i, 8);
    memcpy(&place, (char*)w.base + 12 * i + 8, 4);
    CHECK_EQ(value, i + 1);
    CHECK_EQ(place, left);
  }
  MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win);
  window_close(&w);
  MPI_Type_free(&close);
}

static void test(int flavor) {
  long_rows(flavor);
  close_pairs(flavor);
  window_open(&window, flavor, 4096, 1);
  integers();
  others();
  window_close(&window);
}

int main(int argc, char** argv) {
  const MPI_Op table[kOps] = {MPI_MAX, MPI_MIN,  MPI_SUM,  MPI_PROD, MPI_LAND,
                              MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR,  MPI_BXOR};
  start(&argc, &argv);
  memcpy(ops, table, sizeof ops);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  each_flavor(argc, argv, test);
  return finish();
}
