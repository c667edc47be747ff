// What the test programs of one-sided communication share: windows of every flavor, behind one way to say a place in them.
//
// A displacement is in units of the target for a window of fixed memory, and an address of the target for a dynamic one:
// `at` gives what the calls want from a rank and a byte. Flavors named on the command line are tried alone.
#ifndef HEDDLE_RMA_H
#define HEDDLE_RMA_H

#include "check.h"

typedef struct {
  MPI_Win win;
  int flavor;
  unsigned char* base;  // the own memory, `bytes` of it
  MPI_Aint bytes;
  MPI_Aint* starts;  // by rank: the address of its memory, if dynamic
  int* units;        // by rank
} Window;

static inline const char* flavor_name(int flavor) {
  return flavor == MPI_WIN_FLAVOR_CREATE     ? "create"
         : flavor == MPI_WIN_FLAVOR_ALLOCATE ? "allocate"
         : flavor == MPI_WIN_FLAVOR_SHARED   ? "shared"
                                             : "dynamic";
}

// Collective. `bytes` and `unit` may differ from rank to rank; the memory is all zero.
static inline void window_open_with(Window* w, int flavor, MPI_Aint bytes, int unit, MPI_Info info) {
  MPI_Aint start = 0;
  memset(w, 0, sizeof *w);
  w->flavor = flavor, w->bytes = bytes;
  w->starts = malloc(sizeof *w->starts * (size_t)world_size);
  w->units = malloc(sizeof *w->units * (size_t)world_size);
  if (flavor == MPI_WIN_FLAVOR_CREATE || flavor == MPI_WIN_FLAVOR_DYNAMIC) w->base = malloc((size_t)bytes + 64);
  if (flavor == MPI_WIN_FLAVOR_CREATE) {
    MPI_Win_create(w->base, bytes, unit, info, MPI_COMM_WORLD, &w->win);
  } else if (flavor == MPI_WIN_FLAVOR_ALLOCATE) {
    MPI_Win_allocate(bytes, unit, info, MPI_COMM_WORLD, &w->base, &w->win);
  } else if (flavor == MPI_WIN_FLAVOR_SHARED) {
    MPI_Win_allocate_shared(bytes, unit, info, MPI_COMM_WORLD, &w->base, &w->win);
  } else {
    MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &w->win);
    MPI_Win_attach(w->win, w->base, bytes);
    MPI_Get_address(w->base, &start);
  }
  if (bytes > 0) memset(w->base, 0, (size_t)bytes);
  MPI_Allgather(&start, 1, MPI_AINT, w->starts, 1, MPI_AINT, MPI_COMM_WORLD);
  MPI_Allgather(&unit, 1, MPI_INT, w->units, 1, MPI_INT, MPI_COMM_WORLD);
}

static inline void window_open(Window* w, int flavor, MPI_Aint bytes, int unit) {
  window_open_with(w, flavor, bytes, unit, MPI_INFO_NULL);
}

// Collective.
static inline void window_close(Window* w) {
  if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_detach(w->win, w->base);
  }
  MPI_Win_free(&w->win);
  CHECK(w->win == MPI_WIN_NULL);
  if (w->flavor == MPI_WIN_FLAVOR_CREATE || w->flavor == MPI_WIN_FLAVOR_DYNAMIC) free(w->base);
  free(w->starts);
  free(w->units);
}

// The displacement of that byte of that rank's memory.
static inline MPI_Aint at(const Window* w, int rank, MPI_Aint byte) {
  if (w->flavor == MPI_WIN_FLAVOR_DYNAMIC) return MPI_Aint_add(w->starts[rank], byte);
  CHECK(byte % w->units[rank] == 0, "byte %ld of units of %d", (long)byte, w->units[rank]);
  return byte / w->units[rank];
}

// In an epoch of MPI_Win_lock_all: what this rank did is at its targets, and what the others did is in its memory.
static inline void everybody_flushed(const Window* w) {
  MPI_Win_flush_all(w->win);
  MPI_Win_sync(w->win);
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_sync(w->win);
}

// All ranks can share memory.
static inline int on_one_host(void) {
  MPI_Comm host;
  int size;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host);
  MPI_Comm_size(host, &size);
  MPI_Comm_free(&host);
  MPI_Allreduce(MPI_IN_PLACE, &size, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return size == world_size;
}

// Over several hosts there is no shared memory to be tried.
static inline void each_flavor(int argc, char** argv, void (*test)(int flavor)) {
  const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_SHARED, MPI_WIN_FLAVOR_DYNAMIC};
  for (int i = 0; i < 4; i++) {
    int wanted = argc < 2;
    for (int a = 1; a < argc; a++) wanted |= strcmp(argv[a], flavor_name(flavors[i])) == 0;
    if (!wanted || (flavors[i] == MPI_WIN_FLAVOR_SHARED && !on_one_host())) continue;
    test(flavors[i]);
  }
}

#endif
