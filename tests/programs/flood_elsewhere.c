// While rank 1 holds messages that rank 0 does not want yet, rank 0 receives from others, from any source, and cancels
// receives: what it looked for at rank 1 meanwhile must not stay there (MPI 5.0, 3.8.4: a cancelled receive is as if it had not been posted).
//
//   flood_elsewhere MESSAGES LIMIT_KIB: the resident memory of rank 1 may grow by so much.
#include <sys/resource.h>

#include "check.h"

enum { HELD = 400, BATCH = 100, WANTED = 1, ANSWER, LATER, LAST, NOBODYS };

static long resident_kib(void) {
  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

static void hold(long limit) {
  MPI_Request requests[HELD];
  int values[HELD], n;
  for (int i = 0; i < HELD; ++i) {
    values[i] = i;
    MPI_Isend(&values[i], 1, MPI_INT, 0, i == HELD - 1 ? LAST : LATER, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Recv(&n, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);  // rank 0 has seen that the last one is held
  const long before = resident_kib();
  MPI_Recv(&n, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const long grown = resident_kib() - before;
  printf("flood_elsewhere: the memory of rank 1 grew by %ld KiB\n", grown);
  CHECK(grown <= limit, "%ld KiB for searches that are over", grown);
  MPI_Waitall(HELD, requests, MPI_STATUSES_IGNORE);
}

static void send_batches(int messages) {
  for (int i = 0; i < messages; ++i) {
    int n;
    MPI_Send(&i, 1, MPI_INT, 0, WANTED, MPI_COMM_WORLD);
    if (i % BATCH == BATCH - 1) MPI_Recv(&n, 1, MPI_INT, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

static void cancel_one(void) {
  int n, cancelled;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&n, 1, MPI_INT, 1, NOBODYS, MPI_COMM_WORLD, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  CHECK(cancelled, "nobody sends that");
}

static void receive_all(int messages) {
  MPI_Status status;
  int n;
  MPI_Probe(1, LAST, MPI_COMM_WORLD, &status);
  MPI_Send(&n, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD);
  for (int i = 0; i < messages; ++i) {
    MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, WANTED, MPI_COMM_WORLD, &status);
    CHECK_EQ(n, i);
    CHECK_EQ(status.MPI_SOURCE, 2);
    cancel_one();
    if (i % BATCH == BATCH - 1) MPI_Send(&n, 1, MPI_INT, 2, ANSWER, MPI_COMM_WORLD);
  }
  MPI_Send(&n, 1, MPI_INT, 1, ANSWER, MPI_COMM_WORLD);
  for (int i = 0; i < HELD; ++i) {
    MPI_Recv(&n, 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK_EQ(n, i);
    CHECK_EQ(status.MPI_TAG, i == HELD - 1 ? LAST : LATER);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  const int messages = atoi(argv[1]);
  if (world_rank == 0) receive_all(messages);
  if (world_rank == 1) hold(atol(argv[2]));
  if (world_rank == 2) send_batches(messages);
  return finish();
}
