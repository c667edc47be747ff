// Every wait and test form, on requests that complete in an order that the test decides; null and inactive requests
// too.
#include "check.h"

enum { kRequests = 6 };

static int values[kRequests];
static MPI_Request requests[kRequests];

// Receives with tag i each, the last one null; then the sender lets the messages come.
static void post(void) {
  for (int i = 0; i < kRequests - 1; i++) {
    values[i] = -1;
    MPI_Irecv(&values[i], 1, MPI_INT, 0, i, MPI_COMM_WORLD, &requests[i]);
  }
  requests[kRequests - 1] = MPI_REQUEST_NULL;
}

static void ask_for(int tag) { MPI_Send(&tag, 1, MPI_INT, 0, 100, MPI_COMM_WORLD); }

// The sender: sends the tag that it is asked for, until it is asked for a negative one.
static void serve(void) {
  for (;;) {
    int tag, value;
    MPI_Recv(&tag, 1, MPI_INT, 1, 100, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (tag < 0) return;
    value = tag * 7 + 1;
    MPI_Send(&value, 1, MPI_INT, 1, tag, MPI_COMM_WORLD);
  }
}

static void any_and_test(void) {
  MPI_Status status;
  int index, flag, order[] = {3, 0, 4, 1, 2};
  post();
  MPI_Testany(kRequests, requests, &index, &flag, &status);
  CHECK(!flag);
  CHECK_EQ(index, MPI_UNDEFINED);
  MPI_Test(&requests[3], &flag, &status);
  CHECK(!flag);
  for (int i = 0; i < kRequests - 1; i++) {
    ask_for(order[i]);
    if (i % 2) {
      for (flag = 0; !flag;) MPI_Testany(kRequests, requests, &index, &flag, &status);
    } else {
      MPI_Waitany(kRequests, requests, &index, &status);
    }
    CHECK_EQ(index, order[i]);
    check_status(&status, 0, index, 1, MPI_INT);
    CHECK_EQ(values[index], index * 7 + 1);
    CHECK(requests[index] == MPI_REQUEST_NULL);
  }
  MPI_Waitany(kRequests, requests, &index, &status);
  CHECK_EQ(index, MPI_UNDEFINED);
  check_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, MPI_INT);
  MPI_Testany(kRequests, requests, &index, &flag, &status);
  CHECK(flag, "no active request: the flag is true");
  CHECK_EQ(index, MPI_UNDEFINED);
}

static void some(void) {
  MPI_Status statuses[kRequests];
  int indices[kRequests], count, done = 0, seen[kRequests] = {0};
  post();
  MPI_Testsome(kRequests, requests, &count, indices, statuses);
  CHECK_EQ(count, 0);
  for (int i = 0; i < kRequests - 1; i++) ask_for(i);
  while (done < kRequests - 1) {
    if (done % 2)
      MPI_Testsome(kRequests, requests, &count, indices, statuses);
    else
      MPI_Waitsome(kRequests, requests, &count, indices, statuses);
    CHECK(count != MPI_UNDEFINED);
    for (int i = 0; i < count; i++) {
      CHECK_EQ(seen[indices[i]]++, 0);
      check_status(&statuses[i], 0, indices[i], 1, MPI_INT);
      CHECK_EQ(values[indices[i]], indices[i] * 7 + 1);
    }
    done += count;
  }
  MPI_Waitsome(kRequests, requests, &count, indices, statuses);
  CHECK_EQ(count, MPI_UNDEFINED);
  MPI_Testsome(kRequests, requests, &count, indices, statuses);
  CHECK_EQ(count, MPI_UNDEFINED);
}

static void all(void) {
  MPI_Status statuses[kRequests];
  int flag;
  for (int test = 0; test < 2; test++) {
    post();
    for (int i = kRequests - 2; i > 0; i--) ask_for(i);
    MPI_Testall(kRequests, requests, &flag, statuses);
    CHECK(!flag, "message 0 was not sent yet");
    for (int i = 0; i < kRequests - 1; i++) CHECK(requests[i] != MPI_REQUEST_NULL, "testall takes all or none");
    ask_for(0);
    if (test) {
      for (flag = 0; !flag;) MPI_Testall(kRequests, requests, &flag, statuses);
    } else {
      MPI_Waitall(kRequests, requests, statuses);
    }
    for (int i = 0; i < kRequests - 1; i++) {
      check_status(&statuses[i], 0, i, 1, MPI_INT);
      CHECK_EQ(values[i], i * 7 + 1);
    }
    check_status(&statuses[kRequests - 1], MPI_ANY_SOURCE, MPI_ANY_TAG, 0, MPI_INT);
  }
}

static void get_status_and_free(void) {
  MPI_Status status;
  int flag;
  post();
  MPI_Request_get_status(requests[2], &flag, &status);
  CHECK(!flag);
  ask_for(2);
  for (flag = 0; !flag;) MPI_Request_get_status(requests[2], &flag, &status);
  check_status(&status, 0, 2, 1, MPI_INT);
  CHECK(requests[2] != MPI_REQUEST_NULL);
  CHECK_EQ(values[2], 15);
  MPI_Wait(&requests[2], &status);
  check_status(&status, 0, 2, 1, MPI_INT);
  MPI_Request_free(&requests[4]);  // completes all the same
  CHECK(requests[4] == MPI_REQUEST_NULL);
  for (int i = 4; i >= 0; i--)
    if (i != 2) ask_for(i);
  MPI_Waitall(kRequests, requests, MPI_STATUSES_IGNORE);
  CHECK_EQ(values[4], 29);  // it came before message 0, which has come
}

static void persistent(void) {
  enum { kRounds = 50 };
  int out[2] = {0}, in[2], flag, other = 1 - world_rank;
  MPI_Request pair[2];
  MPI_Status status;
  MPI_Send_init(out, 2, MPI_INT, other, 1, MPI_COMM_WORLD, &pair[0]);
  MPI_Recv_init(in, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &pair[1]);
  MPI_Test(&pair[1], &flag, &status);
  CHECK(flag, "an inactive request is complete");
  check_status(&status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0, MPI_INT);
  for (int round = 0; round < kRounds; round++) {
    out[0] = world_rank, out[1] = round;
    MPI_Startall(2, pair);
    MPI_Wait(&pair[1], &status);
    check_status(&status, other, 1, 2, MPI_INT);
    CHECK_EQ(in[0], other);
    CHECK_EQ(in[1], round);
    MPI_Wait(&pair[0], MPI_STATUS_IGNORE);
  }
  MPI_Request_free(&pair[0]);
  MPI_Request_free(&pair[1]);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  if (world_rank == 0) serve();
  if (world_rank == 1) {
    any_and_test();
    some();
    all();
    get_status_and_free();
    ask_for(-1);
  }
  if (world_rank < 2) persistent();
  return finish();
}
