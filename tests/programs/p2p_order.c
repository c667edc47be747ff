// Messages from one rank on one communicator are received in the order in which they were sent, whatever their sizes.
#include "check.h"

enum { kMessages = 3000, kMaxInts = 30000 };

static int ints_of(int message) { return message % 97 == 0 ? kMaxInts : message % 13 == 0 ? 1500 : 1 + message % 20; }

static void flood(int* data) {
  for (int m = 0; m < kMessages; m++) {
    for (int i = 0; i < ints_of(m); i++) data[i] = m + i;
    MPI_Send(data, ints_of(m), MPI_INT, 1, m % 2, MPI_COMM_WORLD);
  }
}

// `any`: by wildcards, so that the order shows across tags.
static void drain(int* data, int any, int* next) {
  MPI_Status status;
  MPI_Recv(data, kMaxInts, MPI_INT, any ? MPI_ANY_SOURCE : 0, any ? MPI_ANY_TAG : *next % 2, MPI_COMM_WORLD, &status);
  check_status(&status, 0, *next % 2, ints_of(*next), MPI_INT);
  for (int i = 0; i < ints_of(*next); i++) CHECK_EQ(data[i], *next + i);
  ++*next;
}

// Each of `kPosted` receives that stand at once gets the message of its turn.
static void posted(void) {
  enum { kPosted = 500 };
  static int got[kPosted];
  static MPI_Request requests[kPosted];
  for (int i = 0; i < kPosted; i++) {
    got[i] = -1;
    if (world_rank == 1)
      MPI_Irecv(&got[i], 1, MPI_INT, i % 3 ? 0 : MPI_ANY_SOURCE, i % 5 ? 4 : MPI_ANY_TAG, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 0) {
    for (int i = 0; i < kPosted; i++) {
      got[i] = i;
      MPI_Isend(&got[i], 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &requests[i]);
    }
  }
  if (world_rank < 2) MPI_Waitall(kPosted, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kPosted && world_rank == 1; i++) CHECK_EQ(got[i], i);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  int* data = malloc(kMaxInts * sizeof *data);
  for (int any = 0; any < 2; any++) {
    if (world_rank == 0) flood(data);
    if (world_rank == 1)
      for (int next = 0; next < kMessages;) drain(data, any, &next);
  }
  posted();
  free(data);
  return finish();
}
