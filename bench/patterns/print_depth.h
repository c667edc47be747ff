// Search depths of all ranks, as lines. Threads: one.
#ifndef HEDDLE_BENCH_PATTERNS_PRINT_DEPTH_H
#define HEDDLE_BENCH_PATTERNS_PRINT_DEPTH_H

#include "../common/depth.h"

static inline void depth_print_queue(int scope, int queue, const struct Depth* depths, int ranks, int each_rank) {
  double sum = 0, least = 0, most = 0;
  unsigned long searches = 0;
  int counted = 0;
  for (int r = 0; r < ranks; r++) {
    const struct Searches* of = &depths[r].queues[queue];
    if (each_rank)
      printf("rank %d %s %s %lu %lu\n", r, kDepthScopes[scope], kDepthQueues[queue], of->count, of->inspected);
    if (of->count == 0) continue;
    double mean = (double)of->inspected / (double)of->count;
    if (counted == 0 || mean < least) least = mean;
    if (counted == 0 || mean > most) most = mean;
    sum += mean;
    searches += of->count;
    counted++;
  }
  printf("depth %s %s %.6f %.6f %.6f %lu\n", kDepthScopes[scope], kDepthQueues[queue], counted ? sum / counted : 0,
         least, most, searches);
}

// Collective over `comm`. Rank 0 prints, for each queue, a line
//   depth <scope> <queue> <mean> <min> <max> <searches>
// where a rank's mean depth is its inspected entries / its searches, and <mean>, <min> and <max> are over the ranks that
// searched; with `each_rank` it also prints `rank <rank> <scope> <queue> <searches> <inspected>`.
static inline void depth_print(int scope, const struct Depth* mine, int each_rank, MPI_Comm comm) {
  enum { kNumbers = sizeof(struct Depth) / sizeof(unsigned long) };
  int rank, ranks;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  struct Depth* all = rank == 0 ? malloc((size_t)ranks * sizeof *all) : NULL;
  MPI_Gather(mine, kNumbers, MPI_UNSIGNED_LONG, all, kNumbers, MPI_UNSIGNED_LONG, 0, comm);
  for (int queue = 0; rank == 0 && queue < kQueues; queue++) depth_print_queue(scope, queue, all, ranks, each_rank);
  fflush(stdout);
  free(all);
}

#endif
