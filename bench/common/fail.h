// The end of a program that has found something wrong.
#ifndef HEDDLE_BENCH_FAIL_H
#define HEDDLE_BENCH_FAIL_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

// Ends the job with that line.
__attribute__((format(printf, 1, 2), noreturn)) static inline void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  exit(1);
}

#endif
