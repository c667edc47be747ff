// Buffers that belong to a communicator: which one a buffered send is charged to, and what its flush waits for. A long
// message stays buffered until it is received.
#include "check.h"

enum { kLong = 100000, kCharge = kLong + MPI_BSEND_OVERHEAD };

static unsigned char data[kLong], got[kLong], space[2][3 * kCharge];
static int next, before;
static MPI_Comm a, b;

static int send_long(MPI_Comm comm, unsigned seed) {
  fill(data, kLong, seed + (unsigned)world_rank);
  const int code = MPI_Bsend(data, kLong, MPI_BYTE, next, 1, comm);
  memset(data, 0, kLong);  // it is ours again
  return code;
}

static void receive_long(MPI_Comm comm, unsigned seed) {
  MPI_Status status;
  memset(got, 0, kLong);
  MPI_Recv(got, kLong, MPI_BYTE, before, 1, comm, &status);
  check_status(&status, before, 1, kLong, MPI_BYTE);
  CHECK_PATTERN(got, kLong, seed + (unsigned)before);
}

static void attach(MPI_Comm comm, int which, int messages) {
  CHECK_CLASS(MPI_Comm_attach_buffer(comm, space[which], messages * kCharge), MPI_SUCCESS);
}

static void detach(MPI_Comm comm, int which, int messages) {
  void* address = NULL;
  int size = -1;
  CHECK_CLASS(MPI_Comm_detach_buffer(comm, &address, &size), MPI_SUCCESS);
  CHECK(address == space[which], "%p", address);
  CHECK_EQ(size, messages * kCharge);
}

static void attach_process(int which, int messages) {
  CHECK_CLASS(MPI_Buffer_attach(space[which], messages * kCharge), MPI_SUCCESS);
}
static void detach_process(int which) {
  void* address = NULL;
  int size;
  CHECK_CLASS(MPI_Buffer_detach(&address, &size), MPI_SUCCESS);
  CHECK(address == space[which], "%p", address);
}

// Every rank has sent, and none has received, when an attempt is judged.
static void precedence(void) {
  attach(a, 0, 1);
  attach_process(1, 2);
  CHECK_CLASS(send_long(a, 1), MPI_SUCCESS);
  CHECK_CLASS(send_long(a, 2), MPI_ERR_BUFFER);  // although the process has room
  CHECK_CLASS(send_long(b, 3), MPI_SUCCESS);
  CHECK_CLASS(send_long(b, 4), MPI_SUCCESS);
  CHECK_CLASS(send_long(b, 5), MPI_ERR_BUFFER);
  MPI_Barrier(MPI_COMM_WORLD);
  receive_long(a, 1);
  receive_long(b, 3);
  receive_long(b, 4);
  detach_process(1);
  MPI_Comm_flush_buffer(a);
  CHECK_CLASS(send_long(a, 6), MPI_SUCCESS);  // there is room again, and none is needed elsewhere
  CHECK_CLASS(send_long(b, 7), MPI_ERR_BUFFER);
  MPI_Barrier(MPI_COMM_WORLD);
  receive_long(a, 6);
  detach(a, 0, 1);
  CHECK_CLASS(send_long(a, 8), MPI_ERR_BUFFER);

  attach_process(1, 1);  // what has none of its own uses the process's again
  CHECK_CLASS(send_long(a, 9), MPI_SUCCESS);
  receive_long(a, 9);
  detach_process(1);
}

static void flushes(void) {
  MPI_Request flush_a, flush_b, flush_process;
  int flag;
  attach(a, 0, 1);
  attach_process(1, 1);
  CHECK_CLASS(send_long(a, 1), MPI_SUCCESS);
  MPI_Comm_iflush_buffer(a, &flush_a);
  MPI_Comm_iflush_buffer(b, &flush_b);
  MPI_Buffer_iflush(&flush_process);
  MPI_Comm_flush_buffer(b);  // what `a` and the process have buffered is not theirs
  MPI_Buffer_flush();
  MPI_Wait(&flush_b, MPI_STATUS_IGNORE);
  MPI_Wait(&flush_process, MPI_STATUS_IGNORE);
  MPI_Test(&flush_a, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag, "nobody has received yet");
  MPI_Barrier(MPI_COMM_WORLD);
  receive_long(a, 1);
  MPI_Wait(&flush_a, MPI_STATUS_IGNORE);
  CHECK_CLASS(send_long(a, 2), MPI_SUCCESS);
  CHECK_CLASS(send_long(b, 3), MPI_SUCCESS);
  MPI_Barrier(MPI_COMM_WORLD);
  receive_long(a, 2);
  MPI_Comm_flush_buffer(a);  // the process's message is still there
  MPI_Buffer_iflush(&flush_process);
  MPI_Test(&flush_process, &flag, MPI_STATUS_IGNORE);
  CHECK(!flag);
  MPI_Barrier(MPI_COMM_WORLD);
  receive_long(b, 3);
  MPI_Wait(&flush_process, MPI_STATUS_IGNORE);
  detach(a, 0, 1);
  detach_process(1);
}

// Detaching waits until the messages have left; they arrive whole although the buffer is overwritten then.
static void detaching(void) {
  MPI_Request request;
  void* address = NULL;
  MPI_Count size = -1;
  CHECK_CLASS(MPI_Comm_attach_buffer_c(a, space[0], 2 * kCharge), MPI_SUCCESS);
  CHECK_CLASS(send_long(a, 1), MPI_SUCCESS);
  MPI_Irecv(got, kLong, MPI_BYTE, before, 1, a, &request);
  CHECK_CLASS(MPI_Comm_detach_buffer_c(a, &address, &size), MPI_SUCCESS);
  CHECK(address == space[0], "%p", address);
  CHECK_EQ(size, 2 * kCharge);
  memset(space[0], 0xee, sizeof space[0]);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK_PATTERN(got, kLong, 1 + (unsigned)before);
}

// Rank 0 says when it has detached, which rank 1 must not hear before it has received.
static void detaching_waits(void) {
  enum { kProbes = 20000, kBegun = 2, kDetached = 3 };
  int flag;
  if (world_size < 2 || world_rank > 1) return;
  if (world_rank == 0) {
    attach(a, 0, 1);
    CHECK_CLASS(send_long(a, 3), MPI_SUCCESS);
    MPI_Ssend(NULL, 0, MPI_BYTE, 1, kBegun, a);
    detach(a, 0, 1);
    MPI_Send(NULL, 0, MPI_BYTE, 1, kDetached, a);
  } else {
    MPI_Recv(NULL, 0, MPI_BYTE, 0, kBegun, a, MPI_STATUS_IGNORE);
    for (int i = 0; i < kProbes; i++) {
      MPI_Iprobe(0, kDetached, a, &flag, MPI_STATUS_IGNORE);
      CHECK(!flag, "rank 0 has detached what is still needed");
    }
    receive_long(a, 3);
    MPI_Recv(NULL, 0, MPI_BYTE, 0, kDetached, a, MPI_STATUS_IGNORE);
  }
}

static void automatic(void) {
  void* address = NULL;
  int size = -1;
  CHECK_CLASS(MPI_Comm_attach_buffer(a, MPI_BUFFER_AUTOMATIC, 1), MPI_SUCCESS);
  for (unsigned i = 0; i < 10; i++) CHECK_CLASS(send_long(a, i), MPI_SUCCESS);
  CHECK_CLASS(send_long(b, 0), MPI_ERR_BUFFER);
  MPI_Barrier(MPI_COMM_WORLD);
  for (unsigned i = 0; i < 10; i++) receive_long(a, i);
  CHECK_CLASS(MPI_Comm_detach_buffer(a, &address, &size), MPI_SUCCESS);
  CHECK(address == MPI_BUFFER_AUTOMATIC, "%p", address);
  CHECK_EQ(size, 0);
}

// A duplicate has no buffer; one that is freed lives until its messages, and who waits for them, have gone.
static void lives(void) {
  MPI_Comm copy;
  MPI_Request receive, flush, persistent;
  attach(a, 0, 1);
  MPI_Comm_dup(a, &copy);
  CHECK_CLASS(send_long(copy, 1), MPI_ERR_BUFFER);
  detach(a, 0, 1);

  attach(copy, 1, 2);
  fill(data, kLong, 5 + (unsigned)world_rank);
  MPI_Bsend_init(data, kLong, MPI_BYTE, next, 1, copy, &persistent);
  for (int run = 0; run < 2; run++) {
    MPI_Start(&persistent);
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
  }
  CHECK_CLASS(MPI_Start(&persistent), MPI_ERR_BUFFER);
  MPI_Request_free(&persistent);
  MPI_Barrier(MPI_COMM_WORLD);
  receive_long(copy, 5);
  receive_long(copy, 5);
  detach(copy, 1, 2);
  MPI_Comm_attach_buffer(copy, MPI_BUFFER_AUTOMATIC, 0);
  CHECK_CLASS(send_long(copy, 6), MPI_SUCCESS);
  MPI_Comm_iflush_buffer(copy, &flush);
  MPI_Irecv(got, kLong, MPI_BYTE, before, 1, copy, &receive);
  MPI_Comm_free(&copy);
  MPI_Wait(&flush, MPI_STATUS_IGNORE);
  MPI_Wait(&receive, MPI_STATUS_IGNORE);
  CHECK_PATTERN(got, kLong, 6 + (unsigned)before);
}

static void errors(void) {
  void* address;
  int size;
  CHECK_CLASS(MPI_Comm_detach_buffer(a, &address, &size), MPI_ERR_BUFFER);
  attach(a, 0, 1);
  CHECK_CLASS(MPI_Comm_attach_buffer(a, space[1], kCharge), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Comm_attach_buffer(b, space[1], -1), MPI_ERR_ARG);
  detach(a, 0, 1);
  CHECK_CLASS(MPI_Comm_attach_buffer(MPI_COMM_NULL, space[0], kCharge), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_detach_buffer(MPI_COMM_NULL, &address, &size), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_flush_buffer(MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Comm_detach_buffer(a, NULL, &size), MPI_ERR_ARG);
  CHECK_CLASS(MPI_Comm_iflush_buffer(a, NULL), MPI_ERR_ARG);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  next = (world_rank + 1) % world_size;
  before = (world_rank + world_size - 1) % world_size;
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &a);  // with the error handler
  MPI_Comm_dup(MPI_COMM_WORLD, &b);
  precedence();
  flushes();
  detaching();
  detaching_waits();
  automatic();
  lives();
  errors();
  MPI_Comm_free(&a);
  MPI_Comm_free(&b);
  return finish();
}
