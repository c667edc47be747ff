// Where planned collectives meet what the host has or refuses: processes of another MPI_COMM_WORLD, a communicator that cannot be duplicated,
// variables that differ by rank, arguments that are significant at one rank alone, a rank that is not in MPI.
//   coll_hosts [outside | refused | differs | moves | arguments]
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>

#include "../programs/check.h"
#include "launched.h"

// The host's, unless it is to fail. The overlay finds this one first.
static int refuses, refused;
int PMPI_Comm_idup(MPI_Comm comm, MPI_Comm* out, MPI_Request* request) {
  int (*host)(MPI_Comm, MPI_Comm*, MPI_Request*);
  *(void**)&host = dlsym(RTLD_NEXT, "PMPI_Comm_idup");
  if (!refuses) return host(comm, out, request);
  refused++;
  return MPI_ERR_OTHER;
}

// Through the host, and by a plan if there are plans.
static void all_agree(MPI_Comm comm) {
  int size = 0;
  long one = 1, sum = 0;
  MPI_Request r;
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm);
  CHECK_EQ(sum, size);
  sum = 0;
  MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, comm, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  CHECK_EQ(sum, size);
}

// Each process has its own MPI_COMM_WORLD, in which the others are not.
static void outside(char* program, MPI_Comm parent) {
  char* args[] = {"outside", NULL};
  MPI_Comm both, merged;
  if (parent == MPI_COMM_NULL) {
    MPI_Comm_spawn(program, args, 1, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &both, MPI_ERRCODES_IGNORE);
  } else {
    both = parent;
  }
  MPI_Intercomm_merge(both, parent != MPI_COMM_NULL, &merged);
  all_agree(merged);
  MPI_Comm_free(&merged);
  MPI_Comm_disconnect(&both);
}

static int heard;
static void hear(MPI_Comm* c, int* code, ...) {
  (void)c;
  CHECK_EQ(error_class(*code), MPI_ERR_OTHER);
  heard++;
}
// A blocking collective is the host's then, and so is all that follows. A nonblocking one that has begun ends with the error.
static void refuse(void) {
  MPI_Comm c;
  MPI_Errhandler handler;
  MPI_Request r;
  long one = 1, sum = 0;
  MPI_Comm_create_errhandler(hear, &handler);
  for (int first_later = 0; first_later < 2; first_later++) {
    MPI_Comm_dup(MPI_COMM_WORLD, &c);
    MPI_Comm_set_errhandler(c, handler);
    refuses = 1;
    heard = 0;
    if (first_later) {
      MPI_Iallreduce(&one, &sum, 1, MPI_LONG, MPI_SUM, c, &r);
      CHECK_CLASS(MPI_Wait(&r, MPI_STATUS_IGNORE), MPI_ERR_OTHER);
    }
    for (int i = 0; i < 3; i++) all_agree(c);
    refuses = 0;
    all_agree(c);
    MPI_Barrier_init(c, MPI_INFO_NULL, &r);
    MPI_Start(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Request_free(&r);
    CHECK_EQ(heard, first_later);
    CHECK_EQ(refused, first_later + 1);
    MPI_Comm_free(&c);
  }
  MPI_Errhandler_free(&handler);
  all_agree(MPI_COMM_WORLD);
}

// Rank 0 is not in MPI before the others are through; what it has begun goes on by the thread.
static void moves(void) {
  static long in[40000], out[40000];
  MPI_Win win;
  MPI_Request r;
  MPI_Aint bytes;
  int unit, *mine, *first;
  for (long i = 0; i < 40000; i++) in[i] = i + world_rank, out[i] = -1;
  MPI_Win_allocate_shared(sizeof *mine, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &win);
  MPI_Win_shared_query(win, 0, &bytes, &unit, &first);
  if (world_rank == 0) __atomic_store_n(first, 0, __ATOMIC_SEQ_CST);
  PMPI_Barrier(MPI_COMM_WORLD);
  MPI_Iallreduce(in, out, 40000, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r);
  if (world_rank != 0) {
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    __atomic_add_fetch(first, 1, __ATOMIC_SEQ_CST);
  } else {
    while (__atomic_load_n(first, __ATOMIC_SEQ_CST) != world_size - 1) sched_yield();
    MPI_Wait(&r, MPI_STATUS_IGNORE);
  }
  for (long i = 0; i < 40000; i++) CHECK_EQ(out[i], i * world_size + world_size * (world_size - 1) / 2);
  PMPI_Barrier(MPI_COMM_WORLD);
  MPI_Win_free(&win);
}

static void arguments(void) {
  long mine = world_rank + 1, sum = 0;
  MPI_Comm c;
  MPI_Datatype pair, raw;
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  // The others' is not looked at.
  MPI_Reduce(&mine, world_rank == 0 ? (void*)&sum : MPI_IN_PLACE, 1, MPI_LONG, MPI_SUM, 0, c);
  if (world_rank == 0) CHECK_EQ(sum, (long)world_size * (world_size + 1) / 2);
  // Nothing is at a null pointer, and no bytes are wanted of it; and an absolute address is no null pointer.
  MPI_Bcast(NULL, 0, MPI_LONG, 0, c);
  MPI_Aint at;
  MPI_Get_address(&sum, &at);
  MPI_Type_create_hindexed(1, (int[]){1}, &at, MPI_LONG, &raw);
  MPI_Type_commit(&raw);
  sum = world_rank == 0 ? 77 : 0;
  MPI_Bcast(MPI_BOTTOM, 1, raw, 0, c);
  CHECK_EQ(sum, 77);
  MPI_Type_free(&raw);
  // All make one mistake, and it is the communicator's handler that hears of it.
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  MPI_Type_vector(2, 1, 2, MPI_LONG, &pair);
  long d[4] = {0}, all[400] = {0};
  CHECK_CLASS(MPI_Bcast(d, 1, pair, 0, c), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Allgather(d, 1, pair, all, 2, MPI_LONG, c), MPI_ERR_TYPE);
  MPI_Type_free(&pair);
#ifndef OPEN_MPI  // which asks for nothing here
  CHECK_CLASS(MPI_Bcast(NULL, 1, MPI_LONG, 0, c), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Allreduce(NULL, &sum, 1, MPI_LONG, MPI_SUM, c), MPI_ERR_BUFFER);
#endif
  all_agree(c);
  MPI_Comm_free(&c);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "arguments";
  MPI_Comm parent;
  if (strcmp(what, "differs") == 0) {
    const int first = rank_before_init() == 0;
    setenv("HEDDLE_OVERLAY_COLLECTIVES", first ? "all" : "off", 1);
    setenv("HEDDLE_OVERLAY_SHARED_MEMORY", first ? "off" : "on", 1);
    setenv("HEDDLE_OVERLAY_PARTITIONED", first ? "persistent" : "off", 1);
  }
  strcmp(what, "moves") == 0 ? start_threaded(&argc, &argv) : start(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  if (strcmp(what, "outside") == 0) outside(argv[0], parent);
  if (strcmp(what, "refused") == 0) refuse();
  if (strcmp(what, "differs") == 0) all_agree(MPI_COMM_WORLD);
  if (strcmp(what, "moves") == 0) moves();
  if (strcmp(what, "arguments") == 0) arguments();
  return finish();
}
