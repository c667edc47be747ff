// Every predefined operation on every C type that the standard allows it for, against the serial result; and those that
// it forbids are refused.
#include "check.h"

enum { kCount = 33 };

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

static long long value(int r, int i) {
  return (i * 7 + r * 3) % 5 - (i % 4 == 0 ? 0 : 1) + (i % 3 == 0 && r == 1 ? -1 : 0);
}

// On type T, the operations [first, last) of the table in main.
#define CHECK_TYPE(T, type, first, last)                                                                            \
  do {                                                                                                              \
    for (int op = first; op < last; op++) {                                                                         \
      T mine[kCount], got[kCount];                                                                                  \
      for (int i = 0; i < kCount; i++) mine[i] = (T)value(world_rank, i), got[i] = 0;                               \
      MPI_Allreduce(mine, got, kCount, type, ops[op], MPI_COMM_WORLD);                                              \
      for (int i = 0; i < kCount; i++) {                                                                            \
        T want = (T)value(0, i);                                                                                    \
        for (int r = 1; r < world_size; r++) {                                                                      \
          T next = (T)value(r, i);                                                                                  \
          want = op == 0   ? (want > next ? want : next)                                                            \
                 : op == 1 ? (want < next ? want : next)                                                            \
                           : (T)of_integers(op, (long long)want, (long long)next);                                  \
        }                                                                                                           \
        CHECK(want == got[i], "%s, operation %d, element %d: %lld, expected %lld", #type, op, i, (long long)got[i], \
              (long long)want);                                                                                     \
      }                                                                                                             \
    }                                                                                                               \
  } while (0)

#define CHECK_LOC(T, type)                                                                       \
  do {                                                                                           \
    struct {                                                                                     \
      T value;                                                                                   \
      int index;                                                                                 \
    } mine[kCount], got[kCount];                                                                 \
    for (int max = 0; max < 2; max++) {                                                          \
      for (int i = 0; i < kCount; i++) {                                                         \
        mine[i].value = (T)((i * 7 + world_rank * 3) % 5), mine[i].index = world_rank * 100 + i; \
        got[i].index = -1;                                                                       \
      }                                                                                          \
      MPI_Allreduce(mine, got, kCount, type, max ? MPI_MAXLOC : MPI_MINLOC, MPI_COMM_WORLD);     \
      for (int i = 0; i < kCount; i++) {                                                         \
        int best = 0;                                                                            \
        for (int r = 1; r < world_size; r++) {                                                   \
          int v = (i * 7 + r * 3) % 5, b = (i * 7 + best * 3) % 5;                               \
          if (max ? v > b : v < b) best = r;                                                     \
        }                                                                                        \
        CHECK(got[i].value == (T)((i * 7 + best * 3) % 5), "%s element %d", #type, i);           \
        CHECK_EQ(got[i].index, best * 100 + i);                                                  \
      }                                                                                          \
    }                                                                                            \
  } while (0)

static void local_and_refused(void) {
  int in[3] = {1, 2, 3}, inout[3] = {10, 20, 30}, commute;
  double x = 0;
  MPI_Reduce_local(in, inout, 3, MPI_INT, MPI_SUM);
  for (int i = 0; i < 3; i++) CHECK_EQ(inout[i], 11 * (i + 1));
  MPI_Op_commutative(MPI_SUM, &commute);
  CHECK(commute);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_MAXLOC, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_BYTE, MPI_SUM, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_INTEGER, MPI_LAND, MPI_COMM_WORLD), MPI_ERR_OP);
  CHECK_CLASS(MPI_Allreduce(MPI_IN_PLACE, &x, 1, MPI_DOUBLE, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
}

static void complex_numbers(void) {
  double mine[2] = {world_rank + 1, 2}, got[2], re = 1, im = 2;
  MPI_Allreduce(mine, got, 1, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD);
  for (int r = 1; r < world_size; r++) {
    double a = r + 1, b = 2, next = re * a - im * b;
    im = re * b + im * a, re = next;
  }
  CHECK(got[0] == re && got[1] == im, "%g + %g i, expected %g + %g i", got[0], got[1], re, im);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const MPI_Op ops[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR};
  CHECK_TYPE(signed char, MPI_SIGNED_CHAR, 0, 10);
  CHECK_TYPE(unsigned char, MPI_UNSIGNED_CHAR, 0, 10);
  CHECK_TYPE(short, MPI_SHORT, 0, 10);
  CHECK_TYPE(unsigned short, MPI_UNSIGNED_SHORT, 0, 10);
  CHECK_TYPE(int, MPI_INT, 0, 10);
  CHECK_TYPE(unsigned, MPI_UNSIGNED, 0, 10);
  CHECK_TYPE(long, MPI_LONG, 0, 10);
  CHECK_TYPE(unsigned long, MPI_UNSIGNED_LONG, 0, 10);
  CHECK_TYPE(long long, MPI_LONG_LONG, 0, 10);
  CHECK_TYPE(unsigned long long, MPI_UNSIGNED_LONG_LONG, 0, 10);
  CHECK_TYPE(int8_t, MPI_INT8_T, 0, 10);
  CHECK_TYPE(uint16_t, MPI_UINT16_T, 0, 10);
  CHECK_TYPE(int32_t, MPI_INT32_T, 0, 10);
  CHECK_TYPE(uint64_t, MPI_UINT64_T, 0, 10);
  CHECK_TYPE(MPI_Aint, MPI_AINT, 0, 4);
  CHECK_TYPE(MPI_Aint, MPI_AINT, 7, 10);
  CHECK_TYPE(MPI_Count, MPI_COUNT, 0, 4);
  CHECK_TYPE(float, MPI_FLOAT, 0, 4);
  CHECK_TYPE(double, MPI_DOUBLE, 0, 4);
  CHECK_TYPE(long double, MPI_LONG_DOUBLE, 0, 4);
  CHECK_TYPE(_Bool, MPI_C_BOOL, 4, 7);
  CHECK_TYPE(unsigned char, MPI_BYTE, 7, 10);
  CHECK_LOC(int, MPI_2INT);
  CHECK_LOC(float, MPI_FLOAT_INT);
  CHECK_LOC(double, MPI_DOUBLE_INT);
  CHECK_LOC(long, MPI_LONG_INT);
  CHECK_LOC(short, MPI_SHORT_INT);
  CHECK_LOC(long double, MPI_LONG_DOUBLE_INT);
  complex_numbers();
  local_and_refused();
  return finish();
}
