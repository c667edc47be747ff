// Messages over 2 GiB: by a count that needs 64 bits, and by a derived type whose int count is small.
#include "check.h"

enum { kChunk = 1 << 20 };

int main(int argc, char** argv) {
  start(&argc, &argv);
  size_t bytes = ((size_t)2 << 30) + 4099;
  MPI_Status status;
  MPI_Count count;
  unsigned char* data = malloc(bytes);
  CHECK(data != NULL, "this test needs %zu bytes per rank", bytes);
  if (world_rank == 0) {
    fill(data, bytes, 3);
    MPI_Send_c(data, (MPI_Count)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
  } else if (world_rank == 1) {
    memset(data, 0, bytes);
    MPI_Recv_c(data, (MPI_Count)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &status);
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    CHECK_EQ(count, bytes);
    CHECK_PATTERN(data, bytes, 3);
    int small;
    MPI_Get_count(&status, MPI_BYTE, &small);
    CHECK_EQ(small, MPI_UNDEFINED);
  }
  MPI_Datatype chunk;
  MPI_Type_contiguous(kChunk, MPI_BYTE, &chunk);
  MPI_Type_commit(&chunk);
  int chunks = (int)(bytes / kChunk);
  if (world_rank == 0) {
    fill(data, bytes, 4);
    MPI_Send(data, chunks, chunk, 1, 2, MPI_COMM_WORLD);
  } else if (world_rank == 1) {
    memset(data, 0, bytes);
    MPI_Recv(data, chunks, chunk, 0, 2, MPI_COMM_WORLD, &status);
    check_status(&status, 0, 2, chunks, chunk);
    MPI_Get_elements_x(&status, chunk, &count);
    CHECK_EQ(count, (size_t)chunks * kChunk);
    CHECK_PATTERN(data, (size_t)chunks * kChunk, 4);
  }
  MPI_Type_free(&chunk);
  free(data);
  return finish();
}
