// MPI_Sendrecv, MPI_Sendrecv_replace and their nonblocking forms around a ring, with types that differ on the two
// sides.
#include "check.h"

enum { kMax = 200000 };

static int right, left;

static void plain(int count) {
  int *out = malloc(sizeof(int) * kMax), *in = malloc(sizeof(int) * kMax);
  MPI_Status status;
  for (int i = 0; i < count; i++) out[i] = world_rank * 1000 + i, in[i] = -1;
  MPI_Sendrecv(out, count, MPI_INT, right, 4, in, kMax, MPI_INT, left, 4, MPI_COMM_WORLD, &status);
  check_status(&status, left, 4, count, MPI_INT);
  for (int i = 0; i < count; i++) CHECK_EQ(in[i], left * 1000 + i);
  memset(in, -1, sizeof(int) * (size_t)count);
  MPI_Request request;
  MPI_Isendrecv(out, count, MPI_INT, right, 5, in, kMax, MPI_INT, left, 5, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, &status);
  check_status(&status, left, 5, count, MPI_INT);
  for (int i = 0; i < count; i++) CHECK_EQ(in[i], left * 1000 + i);
  free(out);
  free(in);
}

static void replace(int count) {
  int* data = malloc(sizeof(int) * kMax);
  MPI_Status status;
  for (int i = 0; i < count; i++) data[i] = world_rank * 1000 + i;
  for (int turn = 1; turn <= world_size; turn++) {
    int from = (world_rank + turn * (world_size - 1)) % world_size;
    if (turn % 2) {
      MPI_Sendrecv_replace(data, count, MPI_INT, right, turn, left, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
    } else {
      MPI_Request request;
      MPI_Isendrecv_replace(data, count, MPI_INT, right, turn, left, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
      MPI_Wait(&request, &status);
    }
    check_status(&status, left, turn, count, MPI_INT);
    for (int i = 0; i < count; i++) CHECK_EQ(data[i], from * 1000 + i);
  }
  free(data);
}

// A column of a matrix goes, a row comes: the replaced elements are those of the type and no others.
static void replace_strided(void) {
  enum { kN = 50 };
  int matrix[kN][kN];
  MPI_Datatype column;
  MPI_Type_vector(kN, 1, kN, MPI_INT, &column);
  MPI_Type_commit(&column);
  for (int i = 0; i < kN; i++)
    for (int j = 0; j < kN; j++) matrix[i][j] = world_rank * 10000 + i * kN + j;
  MPI_Sendrecv_replace(&matrix[0][3], 1, column, right, 0, left, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < kN; i++)
    for (int j = 0; j < kN; j++) CHECK_EQ(matrix[i][j], (j == 3 ? left : world_rank) * 10000 + i * kN + j);
  MPI_Type_free(&column);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  right = (world_rank + 1) % world_size, left = (world_rank + world_size - 1) % world_size;
  static const int counts[] = {0, 1, 9, 10, 11, 1000, 5000, kMax};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
    plain(counts[i]);
    replace(counts[i]);
  }
  replace_strided();
  return finish();
}
