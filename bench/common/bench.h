// What every bench program shares: pinning, timing, and the form of its results.
//
// Pinning: bench/run gives the cores in HEDDLE_BENCH_CPUS ("0,1"), and rank i takes the i-th before MPI_Init, whatever
//          library it runs under; so each library meets the same placement, and none its own launcher's. With more
//          ranks than cores in the list nobody is pinned.
// Results: one line each, `result <metric> <size> <value> <unit>`, which bench/run collects. A program that measures several
//          points which a library may never get to the end of says `begin <metric> <size> <unit>` before each, and `absent` when
//          the library has no such thing.
#ifndef HEDDLE_BENCH_H
#define HEDDLE_BENCH_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static inline double bench_now(void) {  // seconds
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline void bench_pin_to(int index, int count) {
  const char* list = getenv("HEDDLE_BENCH_CPUS");
  int cpus[1024], n = 0;
  for (const char* s = list; s && *s && n < 1024; s = strchr(s, ',') ? strchr(s, ',') + 1 : NULL) cpus[n++] = atoi(s);
  if (index < 0 || index >= n || count > n) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpus[index], &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    perror("bench: sched_setaffinity");
    exit(1);
  }
}

// Rank and size as the launcher tells them in the environment: all ranks are on this node.
static inline void bench_pin(void) {
  const char* rank = getenv("PMI_RANK") ? getenv("PMI_RANK") : getenv("OMPI_COMM_WORLD_RANK");
  const char* size = getenv("PMI_SIZE") ? getenv("PMI_SIZE") : getenv("OMPI_COMM_WORLD_SIZE");
  if (rank && size) bench_pin_to(atoi(rank), atoi(size));
}

static inline void bench_result(const char* metric, size_t size, double value, const char* unit) {
  printf("result %s %zu %.6g %s\n", metric, size, value, unit);
  fflush(stdout);
}

static inline void bench_begin(const char* metric, size_t size, const char* unit) {
  printf("begin %s %zu %s\n", metric, size, unit);
  fflush(stdout);
}

static inline int bench_compare(const void* a, const void* b) {
  double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static inline double bench_median(double* values, int n) {
  qsort(values, (size_t)n, sizeof *values, bench_compare);
  return n % 2 ? values[n / 2] : 0.5 * (values[n / 2 - 1] + values[n / 2]);
}

#endif
