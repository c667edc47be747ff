// MPI_Reduce_local against memcpy, in one process: bytes moved in a second (two read and one written, or one read and one
// written) as a fraction of memcpy's, in turns; the median of many. An operand
// of 32 KiB is in a cache, one of 16 MiB mostly is not.
#include "../common/bench.h"

#include <mpi.h>

enum { kTurns = 21, kCache = 32 << 10, kMemory = 16 << 20 };

static char *left, *right;

typedef struct {
  MPI_Datatype type;
  const char* name;
  void (*put)(char* to, int value);
} Type;

#define NUMBER(name, T) \
  static void put_##name(char* to, int value) { *(T*)to = (T)value; }
#define PAIR(name, T)                           \
  typedef struct {                              \
    T value;                                    \
    int index;                                  \
  } name##_pair;                                \
  static void put_##name(char* to, int value) { \
    ((name##_pair*)to)->value = (T)value;       \
    ((name##_pair*)to)->index = value / 2;      \
  }
NUMBER(int8, signed char)
NUMBER(int16, short)
NUMBER(int32, int)
NUMBER(int64, long)
NUMBER(float, float)
NUMBER(double, double)
NUMBER(longdouble, long double)
NUMBER(complex, float _Complex)
NUMBER(doublecomplex, double _Complex)
PAIR(floatint, float)
PAIR(doubleint, double)
PAIR(longint, long)
PAIR(intint, int)

static double seconds_of(int rounds, size_t bytes, int count, const Type* type, MPI_Op op) {
  const double start = bench_now();
  for (int i = 0; i < rounds; i++) {
    if (type != NULL)
      MPI_Reduce_local(left, right, count, type->type, op);
    else
      memcpy(right, left, bytes);
    __asm__ volatile("" ::: "memory");
  }
  return (bench_now() - start) / rounds;
}

static void measure(const Type* type, const char* op_name, MPI_Op op, size_t bytes) {
  MPI_Aint lb, extent;
  double ratios[kTurns];
  MPI_Type_get_extent(type->type, &lb, &extent);
  const int count = (int)(bytes / (size_t)extent), rounds = bytes == kCache ? 50 : 1;
  for (int i = 0; i < count; i++) {
    type->put(left + i * extent, rand() % 100);
    type->put(right + i * extent, rand() % 100);
  }
  for (int turn = 0; turn < kTurns; turn++) {
    const double reduce = seconds_of(rounds, bytes, count, type, op);
    ratios[turn] = 1.5 * seconds_of(rounds, bytes, count, NULL, op) / reduce;
    for (int i = 0; i < count && turn < 3; i++) type->put(right + i * extent, rand() % 100);
  }
  char metric[80];
  snprintf(metric, sizeof metric, "reduce-%s-%s", op_name, type->name);
  bench_result(metric, bytes, bench_median(ratios, kTurns), "x");
}

int main(int argc, char** argv) {
  const Type types[] = {{MPI_INT8_T, "int8", put_int8},    {MPI_INT16_T, "int16", put_int16},
                        {MPI_INT32_T, "int32", put_int32}, {MPI_INT64_T, "int64", put_int64},
                        {MPI_FLOAT, "float", put_float},   {MPI_DOUBLE, "double", put_double}};
  const Type slow[] = {{MPI_LONG_DOUBLE, "longdouble", put_longdouble},
                       {MPI_C_FLOAT_COMPLEX, "complex", put_complex},
                       {MPI_C_DOUBLE_COMPLEX, "doublecomplex", put_doublecomplex}};
  const Type pairs[] = {{MPI_FLOAT_INT, "floatint", put_floatint},
                        {MPI_DOUBLE_INT, "doubleint", put_doubleint},
                        {MPI_LONG_INT, "longint", put_longint},
                        {MPI_2INT, "intint", put_intint}};
  bench_pin();
  MPI_Init(&argc, &argv);
  left = aligned_alloc(4096, kMemory);
  right = aligned_alloc(4096, kMemory);
  for (size_t bytes = kCache; bytes <= kMemory; bytes *= kMemory / kCache) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
      measure(&types[i], "sum", MPI_SUM, bytes);
      measure(&types[i], "prod", MPI_PROD, bytes);
      measure(&types[i], "max", MPI_MAX, bytes);
      if (i < 4) measure(&types[i], "bxor", MPI_BXOR, bytes);
      if (i < 4) measure(&types[i], "land", MPI_LAND, bytes);
    }
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++) {
      measure(&slow[i], "sum", MPI_SUM, bytes);
      measure(&slow[i], "prod", MPI_PROD, bytes);
    }
    measure(&slow[0], "max", MPI_MAX, bytes);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) measure(&pairs[i], "maxloc", MPI_MAXLOC, bytes);
  }
  free(left);
  free(right);
  MPI_Finalize();
  return 0;
}
