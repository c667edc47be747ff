// Messages of middle length, which a network may bring behind their announcement: to a receive that was there, that comes a moment
// later or much later, that takes less or elsewhere, and to none. Each byte is checked, and none may be written beside it.
#include "check.h"

enum { kGuard = 64, kMost = 1 << 20 };

static const int sizes[] = {65 << 10, 128 << 10, (256 << 10) + 3, 700 << 10, 768 << 10, (768 << 10) + 1};
static unsigned char sent[kMost], received[kMost + kGuard];

static void expect(int bytes, unsigned seed, int room) {
  CHECK_PATTERN(received, (size_t)bytes, seed);
  for (int at = room; at < room + kGuard; at++) CHECK_EQ(received[at], 0xee);
}

static void post(int bytes, int peer, int tag, MPI_Request* request) {
  memset(received, 0xee, sizeof received);
  MPI_Irecv(received, bytes, MPI_BYTE, peer, tag, MPI_COMM_WORLD, request);
}

// Each receive is posted a moment after the answer to what was sent.
static void back_and_forth(int bytes, int peer) {
  for (unsigned i = 0; i < 100; i++) {
    fill(sent, (size_t)bytes, i + (unsigned)world_rank);
    memset(received, 0xee, sizeof received);
    if (world_rank == 0) MPI_Send(sent, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
    MPI_Recv(received, bytes, MPI_BYTE, peer, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    expect(bytes, i + (unsigned)peer, bytes);
    if (world_rank == 1) MPI_Send(sent, bytes, MPI_BYTE, peer, 1, MPI_COMM_WORLD);
  }
}

// The receiver makes progress for long before it has a receive; others pass meanwhile.
static void late(int bytes, int peer, unsigned round) {
  MPI_Request request;
  MPI_Status status;
  MPI_Message message;
  int flag = 0, n = 0, word = 0;
  if (world_rank == 0) {
    fill(sent, (size_t)bytes, round);
    if (round % 3 == 0) MPI_Isend(sent, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
    if (round % 3 == 1) MPI_Issend(sent, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
    if (round % 3 == 2) MPI_Isend(sent, bytes, MPI_BYTE, peer, 2, MPI_COMM_WORLD, &request);
    for (int i = 0; i < 20; i++) {
      MPI_Send(&i, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);
      MPI_Recv(&word, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      CHECK_EQ(word, i);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  for (int i = 0; i < 20; i++) {
    MPI_Recv(&word, 1, MPI_INT, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQ(word, i);
    MPI_Send(&word, 1, MPI_INT, peer, 3, MPI_COMM_WORLD);
  }
  memset(received, 0xee, sizeof received);
  if (round % 2 == 0) {
    while (!flag) MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &n);
    CHECK_EQ(n, bytes);
    MPI_Mrecv(received, bytes, MPI_BYTE, &message, &status);
  } else {
    MPI_Recv(received, bytes, MPI_BYTE, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &status);
  }
  expect(bytes, round, bytes);
}

// A receive that has less room, and one whose memory is in pieces.
static void odd(int bytes, int peer) {
  MPI_Request request;
  MPI_Datatype pairs;
  const int half = bytes / 4;
  MPI_Type_vector(half, 1, 2, MPI_BYTE, &pairs);
  MPI_Type_commit(&pairs);
  for (unsigned round = 0; round < 40; round++) {
    if (world_rank == 0) {
      fill(sent, (size_t)bytes, round);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Send(sent, bytes, MPI_BYTE, peer, 4, MPI_COMM_WORLD);
      MPI_Barrier(MPI_COMM_WORLD);
      MPI_Send(sent, half, MPI_BYTE, peer, 5, MPI_COMM_WORLD);
      continue;
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    post(bytes / 2, peer, 4, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_CLASS(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE);
    for (int at = bytes / 2; at < bytes / 2 + kGuard; at++) CHECK_EQ(received[at], 0xee);
    memset(received, 0xee, sizeof received);
    MPI_Irecv(received, 1, pairs, peer, 5, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    CHECK_EQ(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
    fill(sent, (size_t)half, round);
    for (int i = 0; i < half; i++) {
      CHECK_EQ(received[2 * i], sent[i]);
      CHECK_EQ(received[2 * i + 1], 0xee);
    }
  }
  MPI_Type_free(&pairs);
}

// What nobody receives is taken back, at once or when the receiver has long seen it; what comes after it is not disturbed.
static void taken_back(int bytes, int peer) {
  MPI_Request request;
  MPI_Status status;
  int flag = 0;
  for (unsigned round = 0; round < 40; round++) {
    if (world_rank == 1) {
      for (unsigned i = 0; i <= round % 4; i++) MPI_Recv(&flag, 0, MPI_INT, peer, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      post(bytes, peer, 6, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect(bytes, round, bytes);
      continue;
    }
    fill(sent, (size_t)bytes, round + 100);
    MPI_Isend(sent, bytes, MPI_BYTE, peer, 6, MPI_COMM_WORLD, &request);
    for (unsigned i = 0; i < round % 4; i++) MPI_Ssend(&flag, 0, MPI_INT, peer, 7, MPI_COMM_WORLD);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &flag);
    CHECK(flag, "%d bytes in round %u", bytes, round);
    fill(sent, (size_t)bytes, round);
    MPI_Send(&flag, 0, MPI_INT, peer, 7, MPI_COMM_WORLD);
    MPI_Send(sent, bytes, MPI_BYTE, peer, 6, MPI_COMM_WORLD);
  }
}

// The sender lets its request go, and the receiver takes the messages in another order.
static void let_go(int bytes, int peer) {
  enum { kMessages = 6 };
  static unsigned char each[kMessages][kMost];
  MPI_Request request;
  for (unsigned round = 0; round < 10; round++) {
    for (int i = 0; i < kMessages && world_rank == 0; i++) {
      fill(each[i], (size_t)bytes, round + (unsigned)i);
      MPI_Isend(each[i], bytes, MPI_BYTE, peer, 10 + i, MPI_COMM_WORLD, &request);
      MPI_Request_free(&request);
    }
    for (int i = kMessages - 1; i >= 0 && world_rank == 1; i--) {
      post(bytes, peer, 10 + i, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
      expect(bytes, round + (unsigned)i, bytes);
    }
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  CHECK_EQ(world_size, 2);
  const int peer = world_rank ^ 1;
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    back_and_forth(sizes[s], peer);
    for (unsigned round = 0; round < 40; round++) late(sizes[s], peer, round);
    odd(sizes[s], peer);
    taken_back(sizes[s], peer);
    let_go(sizes[s], peer);
  }
  return finish();
}
