// A program that completes requests in every way that the recorder knows. 4 ranks; each sends what the next one receives.
#include <mpi.h>
#include <stdio.h>

enum { kCount = 4 };

static void expect(int good, const char* what) {
  if (good) return;
  fprintf(stderr, "traced: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void probe_and_cancel(int left, int right) {
  int flag = 0, in[2], out = 7, cancelled;
  MPI_Request sends[2], receives[2];
  MPI_Status status;
  MPI_Isend(&out, 1, MPI_INT, right, 8, MPI_COMM_WORLD, &sends[0]);
  while (!flag) MPI_Iprobe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &flag, &status);
  expect(status.MPI_SOURCE == left, "a message from a wrong rank");
  MPI_Probe(left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
  expect(status.MPI_TAG == 8, "a wrong message");
  MPI_Recv(in, 1, MPI_INT, left, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
  MPI_Irecv(&in[0], 1, MPI_INT, left, 8, MPI_COMM_WORLD, &receives[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &receives[1]);
  MPI_Cancel(&receives[1]);
  MPI_Wait(&receives[1], &status);
  MPI_Test_cancelled(&status, &cancelled);
  expect(cancelled, "a receive without a message is not cancelled");
  MPI_Isend(&out, 1, MPI_INT, right, 8, MPI_COMM_WORLD, &sends[1]);
  MPI_Wait(&receives[0], MPI_STATUS_IGNORE);
  MPI_Wait(&sends[1], MPI_STATUS_IGNORE);
  expect(in[0] == 7, "a wrong number");
}

int main(int argc, char** argv) {
  int rank, size, in[kCount] = {0}, out[kCount] = {1, 2, 3, 4}, done = 0, index, flag = 0, indices[kCount];
  MPI_Request receives[kCount], sends[kCount];
  MPI_Comm half;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int right = (rank + 1) % size, left = (rank + size - 1) % size;
  for (int i = 0; i < kCount; i++)
    MPI_Irecv(&in[i], 1, MPI_INT, i % 2 ? left : MPI_ANY_SOURCE, i, MPI_COMM_WORLD, &receives[i]);
  for (int i = 0; i < kCount; i++) MPI_Isend(&out[i], 1, MPI_INT, right, i, MPI_COMM_WORLD, &sends[i]);
  MPI_Waitany(kCount, receives, &index, MPI_STATUS_IGNORE);
  for (int ended = 1; ended < kCount; ended += done)
    MPI_Waitsome(kCount, receives, &done, indices, MPI_STATUSES_IGNORE);
  MPI_Waitall(kCount, sends, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kCount; i++) expect(in[i] == i + 1, "a wrong number");

  MPI_Irecv(&in[0], 1, MPI_INT, left, MPI_ANY_TAG, MPI_COMM_WORLD, &receives[0]);
  MPI_Ssend(&out[1], rank == 0, MPI_INT, MPI_PROC_NULL, 9, MPI_COMM_WORLD);
  MPI_Issend(&out[2], 1, MPI_INT, right, 9, MPI_COMM_WORLD, &sends[0]);
  while (!flag) MPI_Test(&receives[0], &flag, MPI_STATUS_IGNORE);
  for (flag = 0; !flag;) MPI_Testall(1, sends, &flag, MPI_STATUSES_IGNORE);
  expect(in[0] == 3, "a wrong number after tests");

  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, size - rank, &half);  // of two, in the other order
  int mine, other;
  MPI_Comm_rank(half, &mine);
  MPI_Sendrecv(&rank, 1, MPI_INT, 1 - mine, 5, &other, 1, MPI_INT, 1 - mine, 5, half, MPI_STATUS_IGNORE);
  expect(other == (rank + 2) % 4, "a wrong neighbour");
  MPI_Barrier(half);
  MPI_Comm_free(&half);
  MPI_Pcontrol(0);
  MPI_Irecv(&in[0], 1, MPI_INT, left, 1, MPI_COMM_WORLD, &receives[0]);
  MPI_Send(&out[0], 1, MPI_INT, right, 1, MPI_COMM_WORLD);
  MPI_Pcontrol(1);
  MPI_Wait(&receives[0], MPI_STATUS_IGNORE);  // started while nothing was recorded
  MPI_Allreduce(&mine, &other, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (argc > 1 && argv[1][0] == 'p') probe_and_cancel(left, right);
  MPI_Message message;
  if (argc > 1 && argv[1][0] == 'm') MPI_Improbe(left, 0, MPI_COMM_WORLD, &flag, &message, MPI_STATUS_IGNORE);
  if (argc > 1 && argv[1][0] == 'c') {
    MPI_Ibarrier(MPI_COMM_WORLD, &sends[0]);
    MPI_Wait(&sends[0], MPI_STATUS_IGNORE);
  }
  MPI_Finalize();
  return 0;
}
