// Which receive gets which message: wildcards, probes, matched probes, cancel, MPI_PROC_NULL, no bytes, oneself.
#include "check.h"

static void wildcards(void) {
  int value = world_rank * 11, sum = 0, seen[64] = {0};
  if (world_rank != 0) {
    MPI_Send(&value, 1, MPI_INT, 0, world_rank + 40, MPI_COMM_WORLD);
    return;
  }
  for (int i = 1; i < world_size; i++) {
    MPI_Status status;
    MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    check_status(&status, status.MPI_SOURCE, status.MPI_SOURCE + 40, 1, MPI_INT);
    CHECK_EQ(value, status.MPI_SOURCE * 11);
    CHECK_EQ(seen[status.MPI_SOURCE]++, 0);
    sum += value;
  }
  CHECK_EQ(sum, 11 * world_size * (world_size - 1) / 2);
}

// Receives are matched in the order of their posting, wildcards and exact ones alike, each by the oldest message.
static void posted_order(void) {
  enum { kMessages = 4 };
  if (world_rank == 0) {
    int got[kMessages];
    MPI_Request requests[kMessages];
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Irecv(&got[2], 1, MPI_INT, 1, 4, MPI_COMM_WORLD, &requests[2]);
    MPI_Irecv(&got[3], 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[3]);
    MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
    CHECK_EQ(got[0], 11);  // the first message with tag 3
    CHECK_EQ(got[1], 10);  // tag 4, the oldest from rank 1
    CHECK_EQ(got[2], 13);
    CHECK_EQ(got[3], 12);
  } else if (world_rank == 1) {
    static const int tags[kMessages] = {4, 3, 3, 4};
    MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < kMessages; i++) {
      int value = 10 + i;
      MPI_Send(&value, 1, MPI_INT, 0, tags[i], MPI_COMM_WORLD);
    }
  }
}

static void probes(void) {
  enum { kCount = 5000 };
  int data[kCount], flag = 0;
  MPI_Status status;
  MPI_Message message;
  if (world_rank == 0) {
    MPI_Request requests[4];
    for (int i = 0; i < kCount; i++) data[i] = i;
    for (int tag = 0; tag < 4; tag++)
      MPI_Isend(data + tag, kCount - tag, MPI_INT, 1, tag, MPI_COMM_WORLD, &requests[tag]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
  } else if (world_rank == 1) {
    MPI_Iprobe(0, 999, MPI_COMM_WORLD, &flag, &status);
    CHECK(!flag, "nobody sends with this tag");
    MPI_Improbe(0, 999, MPI_COMM_WORLD, &flag, &message, &status);
    CHECK(!flag, "nobody sends with this tag");
    MPI_Mprobe(0, 3, MPI_COMM_WORLD, &message, &status);
    check_status(&status, 0, 3, kCount - 3, MPI_INT);
    MPI_Iprobe(0, 3, MPI_COMM_WORLD, &flag, &status);
    CHECK(!flag, "a matched message is out of reach of other probes");
    MPI_Mrecv(data, kCount, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    check_status(&status, 0, 3, kCount - 3, MPI_INT);
    for (int i = 0; i < kCount - 3; i++) CHECK_EQ(data[i], i + 3);

    while (!flag) MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &message, &status);
    check_status(&status, 0, 0, kCount, MPI_INT);
    MPI_Request request;
    MPI_Imrecv(data, kCount, MPI_INT, &message, &request);
    CHECK(message == MPI_MESSAGE_NULL);
    MPI_Wait(&request, &status);
    check_status(&status, 0, 0, kCount, MPI_INT);
    for (int i = 0; i < kCount; i++) CHECK_EQ(data[i], i);

    MPI_Probe(0, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    check_status(&status, 0, 1, kCount - 1, MPI_INT);
    MPI_Probe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
    check_status(&status, 0, 2, kCount - 2, MPI_INT);
    for (int tag = 2; tag >= 1; tag--) {
      MPI_Recv(data, kCount, MPI_INT, 0, tag, MPI_COMM_WORLD, &status);
      check_status(&status, 0, tag, kCount - tag, MPI_INT);
      for (int i = 0; i < kCount - tag; i++) CHECK_EQ(data[i], i + tag);
    }
  }
}

static void cancel(void) {
  int data = 1, other = 0, flag;
  MPI_Request request;
  MPI_Status status;
  if (world_rank == 1) {
    MPI_Irecv(&data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag, "no message was sent");
    MPI_Send(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD);
    MPI_Recv(&other, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(!flag);
    CHECK_EQ(other, 77);
    CHECK_EQ(data, 1);
  } else if (world_rank == 0) {
    other = 77;
    MPI_Recv(NULL, 0, MPI_INT, 1, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&other, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
  }
}

static void proc_null(void) {
  int data = 42, flag;
  MPI_Status status;
  MPI_Request request;
  MPI_Message message;
  MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Ssend(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
  MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &status);
  CHECK_EQ(data, 42);
  check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0, MPI_INT);
  MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 3, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0, MPI_INT);
  MPI_Iprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &flag, &status);
  CHECK(flag);
  check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0, MPI_INT);
  MPI_Mprobe(MPI_PROC_NULL, 3, MPI_COMM_WORLD, &message, &status);
  CHECK(message == MPI_MESSAGE_NO_PROC);
  MPI_Mrecv(&data, 1, MPI_INT, &message, &status);
  CHECK(message == MPI_MESSAGE_NULL);
  check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0, MPI_INT);
  MPI_Sendrecv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, &data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
  check_status(&status, MPI_PROC_NULL, MPI_ANY_TAG, 0, MPI_INT);
  CHECK_EQ(data, 42);
}

static void no_bytes(void) {
  int right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  double guard = 3.5;
  MPI_Status status;
  MPI_Sendrecv(NULL, 0, MPI_DOUBLE, right, 9, &guard, 1, MPI_DOUBLE, left, 9, MPI_COMM_WORLD, &status);
  check_status(&status, left, 9, 0, MPI_DOUBLE);
  CHECK(guard == 3.5, "%g", guard);
}

static void oneself(void) {
  enum { kBytes = 1 << 20 };
  unsigned char *out = malloc(kBytes), *in = malloc(kBytes);
  MPI_Request requests[2];
  MPI_Status statuses[2];
  for (int bytes = 1; bytes <= kBytes; bytes *= 32) {
    for (int receive_first = 0; receive_first < 2; receive_first++) {
      fill(out, (size_t)bytes, (unsigned)bytes + 1);
      memset(in, 0, (size_t)bytes);
      if (receive_first) MPI_Irecv(in, bytes, MPI_BYTE, world_rank, 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Isend(out, bytes, MPI_BYTE, world_rank, 2, MPI_COMM_WORLD, &requests[0]);
      if (!receive_first) MPI_Irecv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &requests[1]);
      MPI_Waitall(2, requests, statuses);
      check_status(&statuses[1], world_rank, 2, bytes, MPI_BYTE);
      CHECK_PATTERN(in, (size_t)bytes, (unsigned)bytes + 1);
    }
  }
  int value = world_rank, got = -1;
  MPI_Sendrecv(&value, 1, MPI_INT, 0, 1, &got, 1, MPI_INT, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  CHECK_EQ(got, world_rank);
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  wildcards();
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_size > 1) {
    posted_order();
    MPI_Barrier(MPI_COMM_WORLD);  // its last receive would take anything, from the ranks that are not in it too
    probes();
    cancel();
  }
  proc_null();
  no_bytes();
  oneself();
  return finish();
}
