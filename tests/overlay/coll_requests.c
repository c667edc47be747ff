// Planned collectives at the edges: no data, counts of MPI_Count, one process, requests that are asked about, cancelled or never freed, a
// communicator that is freed under them, memory that is not there.
//   coll_requests [edges | asked | freed | unfreed | meanwhile | memory | staging]
#include <unistd.h>

#include "../programs/check.h"

// All memory is asked for here; of this size there is none left while it is set.
void* __libc_malloc(size_t);
static size_t lacking;
void* malloc(size_t bytes) { return bytes == lacking && lacking != 0 ? NULL : __libc_malloc(bytes); }

static long world_sum(long of_rank_0) { return world_size * of_rank_0 + (long)world_size * (world_size - 1) / 2; }

static void edges(void) {
  long mine = world_rank, all[64], sum = -1;
  MPI_Request r;
  MPI_Allreduce(NULL, NULL, 0, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  MPI_Allgather(NULL, 0, MPI_LONG, NULL, 0, MPI_LONG, MPI_COMM_WORLD);
  MPI_Ibcast(NULL, 0, MPI_LONG, 0, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Barrier(MPI_COMM_SELF);
  MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_SELF);
  CHECK_EQ(sum, world_rank);
  MPI_Iallgather(&mine, 1, MPI_LONG, all, 1, MPI_LONG, MPI_COMM_WORLD, &r);  // as good as before
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  for (int i = 0; i < world_size; i++) CHECK_EQ(all[i], i);
#if MPI_VERSION >= 4
  const MPI_Count one = 1;
  MPI_Allreduce_c(&mine, &sum, one, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK_EQ(sum, world_sum(0));
  MPI_Iallgather_c(&mine, one, MPI_LONG, all, one, MPI_LONG, MPI_COMM_WORLD, &r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  for (int i = 0; i < world_size; i++) CHECK_EQ(all[i], i);
  MPI_Bcast_init_c(all, 3 * one, MPI_LONG, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &r);
  for (int i = 0; i < 3; i++) all[i] = world_rank == 0 ? 50 + i : -1;
  MPI_Start(&r);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  MPI_Request_free(&r);
  for (int i = 0; i < 3; i++) CHECK_EQ(all[i], 50 + i);
#endif
}

static int heard, heard_class;
static void hear(MPI_Comm* c, int* code, ...) {
  (void)c;
  heard++;
  heard_class = error_class(*code);
}
static MPI_Errhandler hears(void) {
  MPI_Errhandler handler;
  MPI_Comm_create_errhandler(hear, &handler);
  return handler;
}

// The status says that it is over, and leaves the request as it was; a collective can't be cancelled.
static void asked(void) {
  MPI_Errhandler handler = hears();
  MPI_Comm c;
  MPI_Request r;
  MPI_Status status;
  long mine = world_rank, sum = -1;
  int flag = 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  MPI_Comm_set_errhandler(c, handler);
  MPI_Iallreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, c, &r);
  while (!flag) MPI_Request_get_status(r, &flag, &status);
  CHECK(r != MPI_REQUEST_NULL, "a request is gone that was only asked about");
  CHECK_EQ(status.MPI_SOURCE, MPI_ANY_SOURCE);
  CHECK_EQ(sum, world_sum(0));
  CHECK_CLASS(MPI_Cancel(&r), MPI_ERR_REQUEST);
  CHECK_EQ(heard, 1);
  MPI_Wait(&r, MPI_STATUS_IGNORE);
  CHECK(r == MPI_REQUEST_NULL, "a request is left");
  MPI_Comm_free(&c);
  MPI_Errhandler_free(&handler);
}

// What is under way goes on, and its errors are those of MPI_COMM_WORLD.
static void freed(void) {
  enum { kLong = 3000 };
  static long in[kLong], out[kLong], d[kLong];
  MPI_Errhandler handler = hears();
  MPI_Comm c;
  MPI_Request r[2];
  for (int i = 0; i < kLong; i++) in[i] = i + world_rank;
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  MPI_Iallreduce(in, out, kLong, MPI_LONG, MPI_SUM, c, &r[0]);
  MPI_Ibcast(d, world_rank == 0 ? kLong : kLong - 1, MPI_LONG, 0, c, &r[1]);
  MPI_Comm_free(&c);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, handler);
  CHECK_CLASS(MPI_Wait(&r[0], MPI_STATUS_IGNORE), MPI_SUCCESS);
  CHECK(heard == 0, "class %d", heard_class);
  for (int i = 0; i < kLong; i++) CHECK_EQ(out[i], world_sum(i));
  MPI_Wait(&r[1], MPI_STATUS_IGNORE);
  CHECK_EQ(heard, world_rank != 0);
  if (heard) CHECK_EQ(heard_class, MPI_ERR_TRUNCATE);
  MPI_Errhandler_free(&handler);
}

// Neither the requests nor their communicator are freed before MPI_Finalize.
static void unfreed(void) {
  static long mine, sum;
  MPI_Comm c;
  MPI_Request r[2];
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  mine = world_rank;
  MPI_Allreduce_init(&mine, &sum, 1, MPI_LONG, MPI_SUM, c, MPI_INFO_NULL, &r[0]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]);
  MPI_Startall(2, r);
  MPI_Waitall(2, r, MPI_STATUSES_IGNORE);
  CHECK_EQ(sum, world_sum(0));
}

// Blocking ones, by messages and by shared memory, while a nonblocking one is under way on the same communicator.
static void meanwhile(void) {
  enum { kLong = 40000 };
  static long in[kLong], out[kLong], d[kLong];
  MPI_Request r;
  for (int t = 0; t < 5; t++) {
    for (int i = 0; i < kLong; i++) in[i] = i + t + world_rank, d[i] = world_rank == 0 ? i - t : -1;
    MPI_Iallreduce(in, out, kLong, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &r);
    MPI_Bcast(d, kLong, MPI_LONG, 0, MPI_COMM_WORLD);
    for (int i = 0; i < kLong; i++) CHECK_EQ(d[i], i - t);
    long mine = world_rank + t, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    CHECK_EQ(sum, world_sum(t));
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    for (int i = 0; i < kLong; i++) CHECK_EQ(out[i], world_sum(i + t));
  }
}

static MPI_Datatype every_other_long(void) {
  MPI_Datatype one, sparse;
  MPI_Type_vector(1, 1, 2, MPI_LONG, &one);
  MPI_Type_create_resized(one, 0, 2 * sizeof(long), &sparse);
  MPI_Type_commit(&sparse);
  MPI_Type_free(&one);
  return sparse;
}

// Rank 1 has no memory for one collective. It says so, and the next ones are right. The communicator is not freed: MPICH does not do that
// where a message was not received.
static void memory(void) {
  enum { kLong = 127 };
  static long d[2 * kLong];
  MPI_Datatype sparse = every_other_long();
  MPI_Comm c;
  MPI_Comm_dup(MPI_COMM_WORLD, &c);
  MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN);
  MPI_Barrier(c);
  for (int t = 0; t < 3; t++) {
    lacking = world_rank == 1 ? kLong * sizeof(long) : 0;
    const int rc = MPI_Bcast(d, kLong, sparse, 0, c);
    lacking = 0;
    CHECK_CLASS(rc, world_rank == 1 ? MPI_ERR_NO_MEM : MPI_SUCCESS);
    long mine = world_rank + t, sum = -1;
    MPI_Allreduce(&mine, &sum, 1, MPI_LONG, MPI_SUM, c);
    CHECK_EQ(sum, world_sum(t));
    MPI_Barrier(c);
  }
  MPI_Type_free(&sparse);
}

static long resident(void) {
  long size, pages;
  FILE* file = fopen("/proc/self/statm", "r");
  CHECK(file != NULL && fscanf(file, "%ld %ld", &size, &pages) == 2, "this process has no size");
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}
// What long data with gaps were packed into is given back.
static void staging(void) {
  enum { kLong = 4 << 20 };
  MPI_Datatype sparse = every_other_long();
  long* d = malloc(2 * kLong * sizeof *d);
  for (long i = 0; i < kLong; i++) d[2 * i] = world_rank == 0 ? i : -1, d[2 * i + 1] = -77;
  MPI_Bcast(d, kLong / 1024, sparse, 0, MPI_COMM_WORLD);
  const long before = resident();
  MPI_Bcast(d, kLong, sparse, 0, MPI_COMM_WORLD);
  const long more = resident() - before;
  CHECK(more < (8 << 20), "%ld KiB more than before", more >> 10);
  for (long i = 0; i < kLong; i++) CHECK(d[2 * i] == i && d[2 * i + 1] == -77, "%ld at %ld", d[2 * i], i);
  free(d);
  MPI_Type_free(&sparse);
}

int main(int argc, char** argv) {
  const char* what = argc > 1 ? argv[1] : "edges";
  start(&argc, &argv);
  if (strcmp(what, "edges") == 0) edges();
  if (strcmp(what, "asked") == 0) asked();
  if (strcmp(what, "freed") == 0) freed();
  if (strcmp(what, "unfreed") == 0) unfreed();
  if (strcmp(what, "meanwhile") == 0) meanwhile();
  if (strcmp(what, "memory") == 0) memory();
  if (strcmp(what, "staging") == 0) staging();
  return finish();
}
