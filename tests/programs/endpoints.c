// MPIX_Comm_create_endpoints: several ranks in one process, each used by a thread of its own.
#include <mpix.h>
#include <pthread.h>

#include "check.h"

enum { kRounds = 60, kMost = 16, kMax = 40000 };

static MPI_Comm endpoints[kMost];
static int first, total;  // this process's lowest rank in the new communicator; its size

static int endpoints_of(int rank) { return rank % 3 + 1; }

static void test_numbers(MPI_Comm comm, int rank) {
  int got;
  MPI_Comm_rank(comm, &got);
  CHECK_EQ(got, rank);
  MPI_Comm_size(comm, &got);
  CHECK_EQ(got, total);
}

// A message from each endpoint to each, its own process's too; then what came, by source.
static void test_all_to_all(MPI_Comm comm, int rank, unsigned char* out, unsigned char* in) {
  for (int round = 0; round < kRounds; round++) {
    const int bytes = round % 20 == 0 ? kMax : round;
    MPI_Request sends[kMost];
    for (int peer = 0; peer < total; peer++) {
      fill(out + peer * kMax, (size_t)bytes, (unsigned)(rank * 100 + peer + round));
      MPI_Isend(out + peer * kMax, bytes, MPI_BYTE, peer, round, comm, &sends[peer]);
    }
    for (int i = 0; i < total; i++) {
      MPI_Status status;
      int n;
      MPI_Recv(in, kMax, MPI_BYTE, round % 2 ? MPI_ANY_SOURCE : i, round, comm, &status);
      MPI_Get_count(&status, MPI_BYTE, &n);
      CHECK_EQ(n, bytes);
      CHECK_PATTERN(in, (size_t)n, (unsigned)(status.MPI_SOURCE * 100 + rank + round));
    }
    MPI_Waitall(total, sends, MPI_STATUSES_IGNORE);
    MPI_Barrier(comm);
  }
}

static void test_collectives(MPI_Comm comm, int rank) {
  int sum, all[kMost], root = rank == total - 1 ? 77 : 0;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  CHECK_EQ(sum, total * (total - 1) / 2);
  MPI_Allgather(&rank, 1, MPI_INT, all, 1, MPI_INT, comm);
  for (int i = 0; i < total; i++) CHECK_EQ(all[i], i);
  MPI_Bcast(&root, 1, MPI_INT, total - 1, comm);
  CHECK_EQ(root, 77);
}

static void test_children(MPI_Comm comm, int rank) {
  MPI_Comm copy, half;
  int got;
  MPI_Comm_dup(comm, &copy);
  test_numbers(copy, rank);
  test_collectives(copy, rank);
  MPI_Comm_split(comm, rank % 2, -rank, &half);
  MPI_Comm_rank(half, &got);
  CHECK_EQ(got, (total - 1 - rank) / 2);
  MPI_Comm_free(&half);
  MPI_Group group;
  MPI_Comm_group(comm, &group);
  if (total > world_size)
    CHECK_CLASS(MPI_Comm_create(comm, group, &half), MPI_ERR_GROUP);  // it names a process more than once
  MPI_Group_free(&group);
  MPI_Comm_free(&copy);
}

static void* run(void* argument) {
  const int i = (int)(intptr_t)argument, rank = first + i;
  unsigned char *out = malloc((size_t)total * kMax), *in = malloc(kMax);
  test_numbers(endpoints[i], rank);
  test_all_to_all(endpoints[i], rank, out, in);
  test_collectives(endpoints[i], rank);
  test_children(endpoints[i], rank);
  free(out);
  free(in);
  MPI_Comm_free(&endpoints[i]);
  CHECK(endpoints[i] == MPI_COMM_NULL);
  return NULL;
}

// One that makes none, and an error that all hear of.
static void test_arguments(void) {
  MPI_Comm one = MPI_COMM_NULL;
  int size;
  CHECK_CLASS(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, world_rank == 0 ? -1 : 1, MPI_INFO_NULL, &one), MPI_ERR_ARG);
  CHECK_CLASS(MPIX_Comm_create_endpoints(MPI_COMM_NULL, 1, MPI_INFO_NULL, &one), MPI_ERR_COMM);
  CHECK_EQ(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, world_rank == 0, MPI_INFO_NULL, &one), MPI_SUCCESS);
  CHECK_EQ(one != MPI_COMM_NULL, world_rank == 0);
  if (world_rank != 0) return;
  MPI_Comm_size(one, &size);
  CHECK_EQ(size, 1);
  MPI_Comm_free(&one);
}

int main(int argc, char** argv) {
  start_threaded(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  test_arguments();
  for (int rank = 0; rank < world_size; rank++) {
    if (rank == world_rank) first = total;
    total += endpoints_of(rank);
  }
  CHECK(total <= kMost);
  const int mine = endpoints_of(world_rank);
  CHECK_EQ(MPIX_Comm_create_endpoints(MPI_COMM_WORLD, mine, MPI_INFO_NULL, endpoints), MPI_SUCCESS);
  pthread_t threads[kMost];
  for (int i = 0; i < mine; i++) pthread_create(&threads[i], NULL, run, (void*)(intptr_t)i);
  for (int i = 0; i < mine; i++) pthread_join(threads[i], NULL);
  return finish();
}
