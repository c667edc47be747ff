// Buffered sends: complete whatever the receiver does, from a buffer that is free again when the messages have left.
#include "check.h"

enum { kLong = 100000, kRuns = 3 };

// Both ranks send before either receives, run after run, with one persistent request.
static void persistent(int bytes) {
  int peer = 1 - world_rank, size = 0;
  unsigned char *out = malloc((size_t)bytes), *in = malloc((size_t)bytes),
                *space = malloc(2 * (kLong + MPI_BSEND_OVERHEAD));
  void* detached = NULL;
  MPI_Request request;
  MPI_Status status;
  // Room for two runs: one that has not left when the next begins.
  MPI_Buffer_attach(space, 2 * (bytes + MPI_BSEND_OVERHEAD));
  MPI_Bsend_init(out, bytes, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &request);
  for (int run = 0; run < kRuns; run++) {
    fill(out, (size_t)bytes, (unsigned)(run + world_rank));
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    memset(out, 0, (size_t)bytes);  // it is ours again
    MPI_Recv(in, bytes, MPI_BYTE, peer, 4, MPI_COMM_WORLD, &status);
    check_status(&status, peer, 4, bytes, MPI_BYTE);
    CHECK_PATTERN(in, (size_t)bytes, (unsigned)(run + peer));
    MPI_Barrier(MPI_COMM_WORLD);
  }
  // Detaching waits for the messages, not for the request.
  MPI_Buffer_detach(&detached, &size);
  CHECK(detached == space, "%p", detached);
  CHECK_EQ(size, 2 * (bytes + MPI_BSEND_OVERHEAD));
  MPI_Request_free(&request);
  free(out);
  free(in);
  free(space);
}

// A start that fails leaves the request as it was. A short message may leave at once, but its program cannot know that: it is refused, too,
// where a buffer lacks or is too small, whatever was sent before.
static void no_buffer(void) {
  static unsigned char data[kLong], got[kLong], space[kLong + MPI_BSEND_OVERHEAD];
  int size, flag = 0;
  void* detached;
  MPI_Request request;
  fill(data, kLong, 3);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < 3; i++) {
    CHECK_CLASS(MPI_Bsend(data, 4, MPI_BYTE, world_rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    MPI_Sendrecv(data, 4, MPI_BYTE, world_rank, 1, got, 4, MPI_BYTE, world_rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  CHECK_CLASS(MPI_Bsend(data, 4, MPI_BYTE, MPI_PROC_NULL, 0, MPI_COMM_WORLD), MPI_SUCCESS);
  MPI_Buffer_attach(space, 3 + MPI_BSEND_OVERHEAD);
  CHECK_CLASS(MPI_Bsend(data, 4, MPI_BYTE, world_rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  MPI_Buffer_detach(&detached, &size);
  CHECK_CLASS(MPI_Bsend(data, kLong, MPI_BYTE, world_rank, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
  MPI_Bsend_init(data, kLong, MPI_BYTE, world_rank, 0, MPI_COMM_WORLD, &request);
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_BUFFER);
  MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
  CHECK(flag, "a request that did not start is not active");

  MPI_Buffer_attach(space, (int)sizeof space);
  CHECK_CLASS(MPI_Start(&request), MPI_SUCCESS);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Recv(got, kLong, MPI_BYTE, world_rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  CHECK_PATTERN(got, kLong, 3);
  MPI_Buffer_detach(&detached, &size);
  MPI_Request_free(&request);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK_EQ(world_size, 2);
  no_buffer();
  for (int bytes = 8; bytes <= kLong; bytes *= 12) persistent(bytes);
  persistent(kLong);
  return finish();
}
