// MPI_Waitall with MPI_STATUSES_IGNORE over arrays of every mixture: receives of several communicators in turns, of
// communicators freed meanwhile and of types freed meanwhile, sends, null handles, persistent ones, and failures.
#include "check.h"

enum { kComms = 3, kEach = 40, kReceives = kComms * kEach };

static int other, in[kReceives], out[kReceives];
static MPI_Request requests[3 * kReceives];

static void begin(int round) {
  for (int i = 0; i < kReceives; i++) in[i] = -1, out[i] = round * 1000 + i;
}
static void check_values(int round) {
  for (int i = 0; i < kReceives; i++) CHECK(in[i] == round * 1000 + i, "message %d brought %d", i, in[i]);
}

// Receive i is of communicator i % kComms, or of i / kEach: each next one on another VCI, or many in a row on one.
static void several_communicators(int in_turns, int late) {
  MPI_Comm comms[kComms];
  MPI_Datatype type;
  int n = 0;
  for (int c = 0; c < kComms; c++) MPI_Comm_dup(MPI_COMM_WORLD, &comms[c]);
  begin(in_turns);
  for (int i = 0; i < kReceives; i++) {
    MPI_Comm comm = comms[in_turns ? i % kComms : i / kEach];
    MPI_Type_contiguous(4, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_Irecv(&in[i], 1, type, other, i, comm, &requests[n++]);
    MPI_Type_free(&type);
    if (i % 7 == 0) requests[n++] = MPI_REQUEST_NULL;
    if (!late) MPI_Isend(&out[i], 1, MPI_INT, other, i, comm, &requests[n++]);
  }
  if (late) {  // the last ones first
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = kReceives - 1; i >= 0; i--)
      MPI_Send(&out[i], 1, MPI_INT, other, i, comms[in_turns ? i % kComms : i / kEach]);
  }
  for (int c = 0; c < kComms; c++) MPI_Comm_free(&comms[c]);
  MPI_Waitall(n, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < n; i++) CHECK(requests[i] == MPI_REQUEST_NULL, "handle %d", i);
  check_values(in_turns);
}

// Persistent receives among the others become inactive; their handles stay.
static void persistent_ones(void) {
  begin(3);
  for (int i = 0; i < kReceives; i++) {
    if (i % 5 == 0)
      MPI_Recv_init(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]);
    else
      MPI_Irecv(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < kReceives; i += 10) MPI_Start(&requests[i]);  // every other one of them stays inactive
  for (int i = 0; i < kReceives; i++)
    if (i % 10 != 5) MPI_Send(&out[i], 1, MPI_INT, other, i, MPI_COMM_WORLD);
  MPI_Waitall(kReceives, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < kReceives; i++) {
    CHECK((requests[i] == MPI_REQUEST_NULL) == (i % 5 != 0), "handle %d", i);
    CHECK_EQ(in[i], i % 10 == 5 ? -1 : 3000 + i);
    if (i % 5 == 0) MPI_Request_free(&requests[i]);
  }
}

// Two of the messages are too long. All requests complete all the same, and what came whole is there.
static void failures(void) {
  int longer[2] = {7, 8};
  begin(4);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < kReceives; i++) MPI_Irecv(&in[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &requests[i]);
  for (int i = 0; i < kReceives; i++) {
    if (i == 11 || i == 90)
      MPI_Send(longer, 2, MPI_INT, other, i, MPI_COMM_WORLD);
    else
      MPI_Send(&out[i], 1, MPI_INT, other, i, MPI_COMM_WORLD);
  }
  CHECK_CLASS(MPI_Waitall(kReceives, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
  for (int i = 0; i < kReceives; i++) {
    CHECK(requests[i] == MPI_REQUEST_NULL, "handle %d", i);
    if (i != 11 && i != 90) CHECK_EQ(in[i], 4000 + i);
  }
  CHECK_EQ(MPI_Waitall(kReceives, requests, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  argc > 1 ? start_threaded(&argc, &argv) : start(&argc, &argv);
  other = world_size - 1 - world_rank;
  for (int in_turns = 0; in_turns < 2; in_turns++)
    for (int late = 0; late < 2; late++) several_communicators(in_turns, late);
  persistent_ones();
  failures();
  return finish();
}
