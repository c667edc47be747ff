// What the C test programs share: a check that says what and where, and patterns to fill buffers with and to verify.
//
// The programs use the standard alone, so they run under any MPI:
//   cmake -S tests/programs -B build/peer -DCMAKE_C_COMPILER=<mpicc_abi or mpicc> -DHEDDLE_MPIEXEC=<mpiexec>
#ifndef HEDDLE_CHECK_H
#define HEDDLE_CHECK_H

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#pragma GCC diagnostic ignored "-Wformat-zero-length"  // CHECK without a text of its own

static int world_rank, world_size;

// Ends the whole job when `condition` does not hold; the rest is a printf of what was found.
#define CHECK(condition, ...)                               \
  do {                                                      \
    if (!(condition)) {                                     \
      char found_[512];                                     \
      snprintf(found_, sizeof found_, "" __VA_ARGS__);      \
      check_failed(__FILE__, __LINE__, #condition, found_); \
    }                                                       \
  } while (0)

static inline void check_failed(const char* file, int line, const char* condition, const char* found) {
  fprintf(stderr, "%s:%d: rank %d: %s: %s\n", file, line, world_rank, condition, found);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

#define CHECK_EQ(got, want)                                               \
  do {                                                                    \
    long long got_ = (long long)(got), want_ = (long long)(want);         \
    CHECK(got_ == want_, "%s is %lld, expected %lld", #got, got_, want_); \
  } while (0)

// The error class of a call that may fail (its handler is MPI_ERRORS_RETURN).
static inline int error_class(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}
#define CHECK_CLASS(call, want) CHECK_EQ(error_class(call), want)

static inline void start(int* argc, char*** argv) {
  MPI_Init(argc, argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
}

static inline void start_threaded(int* argc, char*** argv) {
  int provided;
  MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  CHECK_EQ(provided, MPI_THREAD_MULTIPLE);
}

static inline int finish(void) {
  MPI_Finalize();
  return 0;
}

// A byte that depends on its place and on `seed`, so that a shifted, stale or foreign byte is seen.
static inline unsigned char pattern(size_t i, unsigned seed) {
  return (unsigned char)((i * 2654435761u + (i >> 13) + seed * 97u + 1) >> 3);
}

static inline void fill(void* buffer, size_t bytes, unsigned seed) {
  unsigned char* b = buffer;
  for (size_t i = 0; i < bytes; i++) b[i] = pattern(i, seed);
}

#define CHECK_PATTERN(buffer, bytes, seed)                                                    \
  do {                                                                                        \
    const unsigned char* b_ = (const void*)(buffer);                                          \
    size_t n_ = (bytes), i_ = 0;                                                              \
    while (i_ < n_ && b_[i_] == pattern(i_, seed)) i_++;                                      \
    CHECK(i_ == n_, "byte %zu of %zu is %d, expected %d", i_, n_, b_[i_], pattern(i_, seed)); \
  } while (0)

static inline void check_status(const MPI_Status* status, int source, int tag, int count, MPI_Datatype type) {
  int got;
  MPI_Get_count(status, type, &got);
  CHECK_EQ(status->MPI_SOURCE, source);
  CHECK_EQ(status->MPI_TAG, tag);
  CHECK_EQ(got, count);
}

#endif
