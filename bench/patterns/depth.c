// See depth.h.
#include "depth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kMostElements = 256 };

static const char* const variables[kScopes][kQueues][2] = {
    {{"comm_posted_searches", "comm_posted_inspected"}, {"comm_unexpected_searches", "comm_unexpected_inspected"}},
    {{"posted_searches", "posted_inspected"}, {"unexpected_searches", "unexpected_inspected"}}};
const char* const depth_queue_names[kQueues] = {"posted", "unexpected"};
const char* const depth_scope_names[kScopes] = {"communicator", "process"};

static int open_one(struct DepthReader* reader, int scope, int queue, int what, MPI_Comm comm) {
  int index;
  MPI_T_pvar_handle* handle = &reader->handles[scope][queue][what];
  if (MPI_T_pvar_get_index(variables[scope][queue][what], MPI_T_PVAR_CLASS_COUNTER, &index) != MPI_SUCCESS) return 0;
  int* elements = &reader->elements[scope][queue][what];
  if (MPI_T_pvar_handle_alloc(reader->session, index, scope == kOfComm ? &comm : NULL, handle, elements) != MPI_SUCCESS)
    return 0;
  MPI_T_pvar_start(reader->session, *handle);  // an error where it always runs
  return *elements <= kMostElements;
}

void depth_open(struct DepthReader* reader, MPI_Comm comm) {
  int provided;
  memset(reader, 0, sizeof *reader);
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  MPI_T_pvar_session_create(&reader->session);
  for (int scope = 0; scope < kScopes; scope++)
    for (int i = 0; i < 2 * kQueues && !reader->missing[scope]; i++)
      if (!open_one(reader, scope, i / 2, i % 2, comm)) reader->missing[scope] = variables[scope][i / 2][i % 2];
}

static unsigned long read_one(const struct DepthReader* reader, int scope, int queue, int what) {
  unsigned long values[kMostElements] = {0}, sum = 0;
  if (MPI_T_pvar_read(reader->session, reader->handles[scope][queue][what], values) != MPI_SUCCESS) {
    fprintf(stderr, "depth: the performance variable %s cannot be read\n", variables[scope][queue][what]);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  for (int i = 0; i < reader->elements[scope][queue][what]; i++) sum += values[i];
  return sum;
}

void depth_read(const struct DepthReader* reader, int scope, Depth depth) {
  for (int queue = 0; queue < kQueues; queue++)
    depth[queue] = (struct Searches){read_one(reader, scope, queue, 0), read_one(reader, scope, queue, 1)};
}

void depth_close(struct DepthReader* reader) {
  MPI_T_pvar_session_free(&reader->session);
  MPI_T_finalize();
}

static void print_queue(int scope, int queue, const Depth* depths, int ranks, int each_rank) {
  double sum = 0, least = 0, most = 0;
  unsigned long searches = 0;
  int counted = 0;
  for (int r = 0; r < ranks; r++) {
    const struct Searches* of = &depths[r][queue];
    if (each_rank)
      printf("rank %d %s %s %lu %lu\n", r, depth_scope_names[scope], depth_queue_names[queue], of->searches,
             of->inspected);
    if (of->searches == 0) continue;
    double mean = (double)of->inspected / (double)of->searches;
    if (counted == 0 || mean < least) least = mean;
    if (counted == 0 || mean > most) most = mean;
    sum += mean;
    searches += of->searches;
    counted++;
  }
  printf("depth %s %s %.6f %.6f %.6f %lu\n", depth_scope_names[scope], depth_queue_names[queue],
         counted ? sum / counted : 0, least, most, searches);
}

void depth_print(int scope, const Depth before, const Depth after, int each_rank, MPI_Comm comm) {
  int rank, ranks;
  Depth mine;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int queue = 0; queue < kQueues; queue++) {
    mine[queue].searches = after[queue].searches - before[queue].searches;
    mine[queue].inspected = after[queue].inspected - before[queue].inspected;
  }
  Depth* all = rank == 0 ? malloc((size_t)ranks * sizeof *all) : NULL;
  MPI_Gather(mine, 2 * kQueues, MPI_UNSIGNED_LONG, all, 2 * kQueues, MPI_UNSIGNED_LONG, 0, comm);
  for (int queue = 0; rank == 0 && queue < kQueues; queue++) print_queue(scope, queue, all, ranks, each_rank);
  fflush(stdout);
  free(all);
}
