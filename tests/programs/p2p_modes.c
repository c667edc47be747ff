// Every send mode, blocking, nonblocking and persistent, against a receive that is posted early and one that comes
// late.
#include "check.h"

enum { kCount = 700, kModes = 4, kForms = 3 };

typedef int Send(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int Start(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

static Send* const kBlocking[kModes] = {MPI_Send, MPI_Bsend, MPI_Ssend, MPI_Rsend};
static Start* const kNonblocking[kModes] = {MPI_Isend, MPI_Ibsend, MPI_Issend, MPI_Irsend};
static Start* const kPersistent[kModes] = {MPI_Send_init, MPI_Bsend_init, MPI_Ssend_init, MPI_Rsend_init};
enum { kReady = 3 };

static void send_in(int mode, int form, int* data, int tag) {
  MPI_Request request;
  if (form == 0) {
    kBlocking[mode](data, kCount, MPI_INT, 1, tag, MPI_COMM_WORLD);
    return;
  }
  if (form == 1) {
    kNonblocking[mode](data, kCount, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(request == MPI_REQUEST_NULL);
    return;
  }
  kPersistent[mode](data, kCount, MPI_INT, 1, tag, MPI_COMM_WORLD, &request);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  CHECK(request != MPI_REQUEST_NULL, "a persistent request lives until it is freed");
  MPI_Request_free(&request);
  CHECK(request == MPI_REQUEST_NULL);
}

// `early`: the receive is posted before the sender may send, which ready mode needs.
static void exchange(int mode, int form, int early) {
  int data[kCount], tag = 100 + mode * 10 + form;
  if (world_rank == 0) {
    for (int i = 0; i < kCount; i++) data[i] = i * 3 + tag;
    if (early) MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send_in(mode, form, data, tag);
  } else if (world_rank == 1) {
    MPI_Status status;
    memset(data, -1, sizeof data);
    if (early) {
      MPI_Request request;
      MPI_Irecv(data, kCount, MPI_INT, 0, tag, MPI_COMM_WORLD, &request);
      MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
      MPI_Wait(&request, &status);
    } else {
      MPI_Probe(0, tag, MPI_COMM_WORLD, &status);
      check_status(&status, 0, tag, kCount, MPI_INT);
      MPI_Recv(data, kCount, MPI_INT, 0, tag, MPI_COMM_WORLD, &status);
    }
    check_status(&status, 0, tag, kCount, MPI_INT);
    for (int i = 0; i < kCount; i++) CHECK_EQ(data[i], i * 3 + tag);
  }
}

// A synchronous send is complete only once its receive has begun.
static void synchronous_waits(void) {
  int value = 5, flag = 0;
  if (world_rank == 0) {
    MPI_Request request;
    MPI_Issend(&value, 1, MPI_INT, 1, 7, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 200; i++) {
      MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
      CHECK(!flag, "no receive was posted yet");
    }
    MPI_Send(NULL, 0, MPI_INT, 1, 8, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (world_rank == 1) {
    MPI_Recv(NULL, 0, MPI_INT, 0, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    value = 0;
    MPI_Recv(&value, 1, MPI_INT, 0, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(value, 5);
  }
}

// Buffered sends are done at once, whether a receive exists or not, and detach waits until they have left.
static void buffered_detach(void) {
  enum { kSends = 20, kInts = 2000 };
  if (world_rank == 0) {
    int data[kInts], bytes = kSends * (kInts * (int)sizeof(int) + MPI_BSEND_OVERHEAD), detached_bytes;
    char *buffer = malloc((size_t)bytes), *detached;
    MPI_Buffer_attach(buffer, bytes);
    for (int s = 0; s < kSends; s++) {
      for (int i = 0; i < kInts; i++) data[i] = s * 10000 + i;
      MPI_Bsend(data, kInts, MPI_INT, 1, s, MPI_COMM_WORLD);
    }
    MPI_Send(NULL, 0, MPI_INT, 1, 1000, MPI_COMM_WORLD);
    MPI_Buffer_detach(&detached, &detached_bytes);
    CHECK(detached == buffer);
    CHECK_EQ(detached_bytes, bytes);
    free(buffer);
  } else if (world_rank == 1) {
    int data[kInts];
    MPI_Recv(NULL, 0, MPI_INT, 0, 1000, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int s = kSends - 1; s >= 0; s--) {
      MPI_Recv(data, kInts, MPI_INT, 0, s, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      for (int i = 0; i < kInts; i++) CHECK_EQ(data[i], s * 10000 + i);
    }
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  enum { kBuffer = 1 << 20 };
  void* buffer = malloc(kBuffer);
  int bytes;
  MPI_Buffer_attach(buffer, kBuffer);
  for (int mode = 0; mode < kModes; mode++)
    for (int form = 0; form < kForms; form++)
      for (int early = 0; early < 2; early++)
        if (early || mode != kReady) exchange(mode, form, early);
  MPI_Buffer_detach(&buffer, &bytes);
  CHECK_EQ(bytes, kBuffer);
  free(buffer);
  synchronous_waits();
  buffered_detach();
  return finish();
}
