// Cancelled sends: each was received whole, or never happened, and MPI_Wait returns although nobody receives (MPI 5.0, 3.8.4).
//
// Every rank sends to the next one; a rank alone to itself.
#include "check.h"

enum { kMost = 4 << 20 };
static unsigned char out[kMost], in[kMost];
static int next, before;

static int was_cancelled(const MPI_Status* status) {
  int flag;
  MPI_Test_cancelled(status, &flag);
  return flag;
}

static void check_nothing_is_here(void) {
  int flag;
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag, "a message that was taken back is still there");
  MPI_Barrier(MPI_COMM_WORLD);
}

static void nobody_receives(int bytes) {
  MPI_Request requests[3];
  MPI_Status statuses[3];
  fill(out, (size_t)bytes, 1);
  MPI_Ssend_init(out, bytes, MPI_BYTE, next, 3, MPI_COMM_WORLD, &requests[2]);
  for (int round = 0; round < 3; round++) {
    MPI_Issend(out, bytes, MPI_BYTE, next, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend(out, bytes, MPI_BYTE, next, 2, MPI_COMM_WORLD, &requests[1]);
    MPI_Start(&requests[2]);
    for (int i = 0; i < 3; i++) MPI_Cancel(&requests[i]);
    MPI_Waitall(3, requests, statuses);
    CHECK(was_cancelled(&statuses[0]) && was_cancelled(&statuses[2]), "nobody receives it");
    if (bytes > 1 << 16) CHECK(was_cancelled(&statuses[1]), "nobody receives it");
    int gone = was_cancelled(&statuses[1]), came;
    MPI_Sendrecv(&gone, 1, MPI_INT, next, 9, &came, 1, MPI_INT, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!came) MPI_Recv(in, bytes, MPI_BYTE, before, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check_nothing_is_here();
  }
  // A persistent one is as good as before.
  MPI_Request receive;
  memset(in, 0, (size_t)bytes);
  MPI_Irecv(in, bytes, MPI_BYTE, before, 3, MPI_COMM_WORLD, &receive);
  MPI_Start(&requests[2]);
  MPI_Wait(&receive, &statuses[0]);
  MPI_Wait(&requests[2], &statuses[2]);
  CHECK(!was_cancelled(&statuses[2]));
  CHECK_PATTERN(in, (size_t)bytes, 1);
  MPI_Request_free(&requests[2]);
  // One that is let go goes all the same, before what is sent later.
  MPI_Issend(out, bytes, MPI_BYTE, next, 4, MPI_COMM_WORLD, &requests[0]);
  MPI_Cancel(&requests[0]);
  MPI_Request_free(&requests[0]);
  MPI_Sendrecv(out, 1, MPI_BYTE, next, 9, in, 1, MPI_BYTE, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// What is left keeps its order.
static void order(int bytes) {
  static const int tags[] = {1, 2, 1, 1, 2, 3}, left[] = {0, 2, 3, 5};
  MPI_Request requests[6];
  MPI_Status status;
  for (int i = 0; i < 6; i++) {
    fill(out + i * bytes, (size_t)bytes, (unsigned)i);
    MPI_Issend(out + i * bytes, bytes, MPI_BYTE, next, tags[i], MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 1; i < 6; i += 3) {
    MPI_Cancel(&requests[i]);
    MPI_Wait(&requests[i], &status);
    CHECK(was_cancelled(&status), "nobody receives it");
  }
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < 4; i++) {
    MPI_Recv(in, bytes, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    CHECK_EQ(status.MPI_TAG, tags[left[i]]);
    CHECK_PATTERN(in, (size_t)bytes, (unsigned)left[i]);
  }
  MPI_Waitall(6, requests, MPI_STATUSES_IGNORE);
}

// While the receive may be there: exactly one of the message and of what is sent in its place arrives.
static void race(int bytes, int rounds) {
  for (int i = 0; i < rounds; i++) {
    MPI_Request send, receive = MPI_REQUEST_NULL;
    MPI_Status status;
    fill(out, (size_t)bytes, (unsigned)i);
    memset(in, 0, (size_t)bytes);
    if (i % 3 == 0) MPI_Irecv(in, bytes, MPI_BYTE, before, 5, MPI_COMM_WORLD, &receive);
    (i % 2 ? MPI_Isend : MPI_Issend)(out, bytes, MPI_BYTE, next, 5, MPI_COMM_WORLD, &send);
    if (i % 3 == 1) MPI_Irecv(in, bytes, MPI_BYTE, before, 5, MPI_COMM_WORLD, &receive);
    MPI_Cancel(&send);
    if (i % 3 == 2) MPI_Irecv(in, bytes, MPI_BYTE, before, 5, MPI_COMM_WORLD, &receive);
    MPI_Wait(&send, &status);
    const int gone = was_cancelled(&status);
    if (gone) {
      fill(out, (size_t)bytes, (unsigned)i + 1000);
      MPI_Send(out, bytes, MPI_BYTE, next, 5, MPI_COMM_WORLD);
    }
    MPI_Wait(&receive, &status);
    check_status(&status, before, 5, bytes, MPI_BYTE);
    int came;
    MPI_Sendrecv(&gone, 1, MPI_INT, next, 9, &came, 1, MPI_INT, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_PATTERN(in, (size_t)bytes, (unsigned)(came ? i + 1000 : i));
  }
}

static int of_my_source(int mine) {
  int its;
  MPI_Sendrecv(&mine, 1, MPI_INT, next, 9, &its, 1, MPI_INT, before, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  return its;
}

// Behind more than a receiver with few headers has room for, so that it looks for the message at its sender: it has been told of it, has
// taken it, or is about to.
static void held(int round) {
  enum { kBefore = 40, kWays = 4 };
  MPI_Request sends[kBefore], victim, receive = MPI_REQUEST_NULL;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  int got = 0, way = round % kWays;
  const int length = 8 + round * 700;  // from the third on more than a header carries
  fill(out, (size_t)length, (unsigned)round);
  memset(in, 0, (size_t)length);
  for (int i = 0; i < kBefore; i++) MPI_Isend(out, 8, MPI_BYTE, next, 1, MPI_COMM_WORLD, &sends[i]);
  MPI_Issend(out, length, MPI_BYTE, next, 7, MPI_COMM_WORLD, &victim);
  if (way == 0) MPI_Probe(before, 7, MPI_COMM_WORLD, &status);
  if (way == 1) MPI_Mprobe(before, 7, MPI_COMM_WORLD, &message, &status);
  if (way <= 1) MPI_Barrier(MPI_COMM_WORLD);
  if (way == 2) MPI_Irecv(in, length, MPI_BYTE, before, 7, MPI_COMM_WORLD, &receive);
  MPI_Cancel(&victim);
  for (int i = 0; way == 3 && i < 1 + round / kWays && message == MPI_MESSAGE_NULL; i++)
    MPI_Improbe(before, 7, MPI_COMM_WORLD, &got, &message, &status);
  if (message != MPI_MESSAGE_NULL) {
    MPI_Mrecv(in, length, MPI_BYTE, &message, &status);
    got = 1;
  }
  MPI_Wait(&victim, &status);
  const int gone = of_my_source(was_cancelled(&status));
  if (way == 2) {
    if (gone) MPI_Cancel(&receive);
    MPI_Wait(&receive, &status);
    got = !was_cancelled(&status);
  }
  CHECK_EQ(gone, !got);
  if (got) CHECK_PATTERN(in, (size_t)length, (unsigned)round);
  if (way == 0) CHECK(gone, "nobody receives it");
  MPI_Iprobe(before, 7, MPI_COMM_WORLD, &got, &status);
  CHECK(!got, "it was taken back");
  for (int i = 0; i < kBefore; i++) MPI_Recv(in, 8, MPI_BYTE, before, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Waitall(kBefore, sends, MPI_STATUSES_IGNORE);
  check_nothing_is_here();
}

// Between two runs a persistent request has nothing that could be cancelled: an error, and the request is as good as before.
static void inactive(void) {
  MPI_Request requests[3];
  MPI_Status status;
  MPI_Send_init(out, 1, MPI_INT, next, 5, MPI_COMM_WORLD, &requests[0]);
  MPI_Recv_init(in, 1, MPI_INT, before, 5, MPI_COMM_WORLD, &requests[1]);
  MPI_Recv_init(in, 1, MPI_INT, MPI_PROC_NULL, 5, MPI_COMM_WORLD, &requests[2]);
  for (int round = 0; round < 2; round++) {
    for (int i = 0; i < 3; i++) CHECK_CLASS(MPI_Cancel(&requests[i]), MPI_ERR_REQUEST);
    MPI_Start(&requests[1]);
    CHECK_EQ(MPI_Cancel(&requests[1]), MPI_SUCCESS);
    MPI_Wait(&requests[1], &status);
    CHECK(was_cancelled(&status), "nobody has sent");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Startall(3, requests);
    MPI_Wait(&requests[1], &status);
    CHECK(!was_cancelled(&status));
    CHECK_EQ(MPI_Cancel(&requests[2]), MPI_SUCCESS);  // it has ended already, but is active until somebody completes it
    MPI_Wait(&requests[2], MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    for (int i = 0; i < 3; i++) CHECK_CLASS(MPI_Cancel(&requests[i]), MPI_ERR_REQUEST);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  for (int i = 0; i < 3; i++) MPI_Request_free(&requests[i]);
}

// Who only posts and cancels gets the message in the end.
static void in_vain(int bytes) {
  MPI_Request send, receive;
  MPI_Status status;
  fill(out, (size_t)bytes, 3);
  memset(in, 0, (size_t)bytes);
  MPI_Issend(out, bytes, MPI_BYTE, next, 6, MPI_COMM_WORLD, &send);
  do {
    MPI_Irecv(in, bytes, MPI_BYTE, before, 6, MPI_COMM_WORLD, &receive);
    MPI_Cancel(&receive);
    MPI_Wait(&receive, &status);
  } while (was_cancelled(&status));
  check_status(&status, before, 6, bytes, MPI_BYTE);
  CHECK_PATTERN(in, (size_t)bytes, 3);
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  next = (world_rank + 1) % world_size;
  before = (world_rank + world_size - 1) % world_size;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  inactive();
  for (int round = 0; round < 40; round++) held(round);
  static const int sizes[] = {0, 8, 5000, 100000, kMost};
  for (int i = 0; i < 5; i++) {
    nobody_receives(sizes[i]);
    check_nothing_is_here();
    if (sizes[i] <= kMost / 6) order(sizes[i]);
    race(sizes[i], sizes[i] == kMost ? 12 : 120);
    in_vain(sizes[i]);
    check_nothing_is_here();
  }
  return finish();
}
