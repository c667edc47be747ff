// Long messages in bursts, in both directions at once: enough of them for receivers to try the ways in which they can come
// (docs/decisions/large-messages.md). Each byte is checked, and none may be written behind its message.
#include "check.h"

enum { kMost = 700 << 10, kWindow = 4, kBursts = 50, kGuard = 64 };

static unsigned char sent[kWindow][kMost], received[kWindow][kMost + kGuard];

static void burst(int peer, int bytes, int messages, int seed) {
  MPI_Request requests[2 * kWindow];
  for (int i = 0; i < messages; i++) {
    fill(sent[i], (size_t)bytes, (unsigned)(seed + i + world_rank));
    memset(received[i], 0xee, (size_t)(bytes + kGuard));
    MPI_Irecv(received[i], bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[i]);
  }
  for (int i = 0; i < messages; i++)
    MPI_Isend(sent[i], bytes, MPI_BYTE, peer, i, MPI_COMM_WORLD, &requests[messages + i]);
  MPI_Waitall(2 * messages, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < messages; i++) {
    CHECK_PATTERN(received[i], (size_t)bytes, (unsigned)(seed + i + peer));
    for (int at = bytes; at < bytes + kGuard; at++) CHECK_EQ(received[i][at], 0xee);
  }
}

int main(int argc, char** argv) {
  static const int sizes[] = {64 << 10, (64 << 10) + 1, 200 << 10, (511 << 10) + 7, 513 << 10, kMost};
  start(&argc, &argv);
  const int peer = world_rank ^ 1;
  for (int s = 0; s < 6 && peer < world_size; s++)
    for (int b = 0; b < kBursts; b++) burst(peer, sizes[s], b % 3 == 0 ? 1 : kWindow, s * 1000 + b * 7);
  return finish();
}
