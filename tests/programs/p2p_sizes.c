// Messages of every size class, with each byte verified, one way, both ways at once, and late or early received.
//   p2p_sizes [largest bytes]
#include "check.h"

static void exchange(unsigned char* out, unsigned char* in, int bytes, unsigned seed, int late) {
  int other = 1 - world_rank;
  MPI_Request requests[2];
  MPI_Status status;
  fill(out, (size_t)bytes, seed + (unsigned)world_rank);
  memset(in, 0, (size_t)bytes + 1);
  in[bytes] = 0xA5;
  if (!late) MPI_Irecv(in, bytes, MPI_BYTE, other, (int)seed, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(out, bytes, MPI_BYTE, other, (int)seed, MPI_COMM_WORLD, &requests[0]);
  if (late) {
    MPI_Probe(other, (int)seed, MPI_COMM_WORLD, &status);
    check_status(&status, other, (int)seed, bytes, MPI_BYTE);
    MPI_Irecv(in, bytes + 1, MPI_BYTE, other, (int)seed, MPI_COMM_WORLD, &requests[1]);
  }
  MPI_Wait(&requests[1], &status);
  check_status(&status, other, (int)seed, bytes, MPI_BYTE);
  CHECK_PATTERN(in, (size_t)bytes, seed + (unsigned)other);
  CHECK_EQ(in[bytes], 0xA5);
  MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
}

// Many in flight at once, of mixed sizes, received in the reverse order of tags.
static void mixed(unsigned char* out, unsigned char* in) {
  enum { kMessages = 40 };
  MPI_Request requests[kMessages];
  size_t offset = 0;
  if (world_rank > 1) return;
  for (int i = 0; i < kMessages; i++) {
    int m = world_rank == 0 ? i : kMessages - 1 - i, bytes = (m * 7919) % 100000;
    size_t place = (size_t)m * 100000;
    if (world_rank == 0) {
      fill(out + place, (size_t)bytes, (unsigned)m);
      MPI_Isend(out + place, bytes, MPI_BYTE, 1, m, MPI_COMM_WORLD, &requests[i]);
    } else {
      MPI_Irecv(in + place, bytes, MPI_BYTE, 0, m, MPI_COMM_WORLD, &requests[i]);
    }
    offset += (size_t)bytes;
  }
  MPI_Waitall(kMessages, requests, MPI_STATUSES_IGNORE);
  CHECK(offset > 0);
  if (world_rank == 1)
    for (int m = 0; m < kMessages; m++)
      CHECK_PATTERN(in + (size_t)m * 100000, (size_t)((m * 7919) % 100000), (unsigned)m);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  size_t largest = argc > 1 ? (size_t)atoll(argv[1]) : 64u << 20, room = largest + 2 < 4000000 ? 4000000 : largest + 2;
  unsigned char *out = malloc(room), *in = malloc(room);
  unsigned seed = 1;
  if (world_rank < 2) {
    for (size_t bytes = 1; bytes <= largest; bytes *= 2)
      for (int delta = -1; delta <= 1; delta++)
        if (bytes < (1u << 20) || delta == 0)
          for (int late = 0; late < 2; late++) exchange(out, in, (int)bytes + delta, seed++, late);
    mixed(out, in);
  }
  free(out);
  free(in);
  return finish();
}
