// What goes wrong in point-to-point calls is reported by its error class, and what is still right goes on.
#include "check.h"

static void truncation(int sent, int room, unsigned early) {
  unsigned char *out = malloc((size_t)sent), *in = malloc((size_t)sent + 1);
  if (world_rank == 0) {
    fill(out, (size_t)sent, early);
    if (early) MPI_Recv(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(out, sent, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
    MPI_Send(out, sent, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  } else if (world_rank == 1) {
    MPI_Status status;
    MPI_Request request;
    memset(in, 0xEE, (size_t)sent + 1);
    if (early) {
      MPI_Irecv(in, room, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &request);
      MPI_Send(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD);
      CHECK_CLASS(MPI_Wait(&request, &status), MPI_ERR_TRUNCATE);
    } else {
      MPI_Probe(0, 0, MPI_COMM_WORLD, &status);
      CHECK_CLASS(MPI_Recv(in, room, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status), MPI_ERR_TRUNCATE);
    }
    for (int i = room; i <= sent; i++) CHECK_EQ(in[i], 0xEE);
    CHECK_CLASS(MPI_Recv(in, sent, MPI_BYTE, 0, 0, MPI_COMM_WORLD, &status), MPI_SUCCESS);
    CHECK_PATTERN(in, (size_t)sent, early);
  }
  free(out);
  free(in);
}

// MPI_ERR_IN_STATUS: the truncated one says so, the others are whole.
static void error_in_status(void) {
  int small = 0, data[100];
  if (world_rank == 0) {
    for (int i = 0; i < 100; i++) data[i] = i;
    MPI_Send(data, 100, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Send(data, 100, MPI_INT, 1, 2, MPI_COMM_WORLD);
  } else if (world_rank == 1) {
    MPI_Request requests[2];
    MPI_Status statuses[2];
    MPI_Irecv(&small, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(data, 100, MPI_INT, 0, 2, MPI_COMM_WORLD, &requests[1]);
    int code = MPI_Waitall(2, requests, statuses);
    if (error_class(code) == MPI_SUCCESS) CHECK(0, "a truncated message was taken for a whole one");
    CHECK_CLASS(code, MPI_ERR_IN_STATUS);
    CHECK_CLASS(statuses[0].MPI_ERROR, MPI_ERR_TRUNCATE);
    if (statuses[1].MPI_ERROR == MPI_ERR_PENDING) MPI_Wait(&requests[1], &statuses[1]);
    check_status(&statuses[1], 0, 2, 100, MPI_INT);
    for (int i = 0; i < 100; i++) CHECK_EQ(data[i], i);
  }
}

static void bad_arguments(void) {
  int data = 0, flag;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm comm = MPI_COMM_WORLD;
  CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, world_size, 0, comm), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, -7, 0, comm), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Send(&data, -1, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, 0, -5, comm), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Send(&data, 1, MPI_DATATYPE_NULL, 0, 0, comm), MPI_ERR_TYPE);
  CHECK_CLASS(MPI_Send(NULL, 1, MPI_INT, 0, 0, comm), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Send(&data, 1, MPI_INT, 0, 0, MPI_COMM_NULL), MPI_ERR_COMM);
  CHECK_CLASS(MPI_Recv(&data, 1, MPI_INT, world_size, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Recv(NULL, 1, MPI_INT, 0, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
  CHECK_CLASS(MPI_Irecv(&data, -2, MPI_INT, 0, 0, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Send_c(&data, INT64_MIN, MPI_INT, 0, 0, comm), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Isend_c(&data, -((MPI_Count)1 << 61) + 3, MPI_DOUBLE, 0, 0, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Irecv_c(&data, INT64_MIN, MPI_INT, 0, 0, comm, &request), MPI_ERR_COUNT);
  CHECK_CLASS(MPI_Probe(world_size + 1, 0, comm, MPI_STATUS_IGNORE), MPI_ERR_RANK);
  CHECK_CLASS(MPI_Iprobe(0, -9, comm, &flag, MPI_STATUS_IGNORE), MPI_ERR_TAG);
  CHECK_CLASS(MPI_Start(&request), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Request_free(&request), MPI_ERR_REQUEST);
  MPI_Datatype open;
  MPI_Type_contiguous(2, MPI_INT, &open);
  CHECK_CLASS(MPI_Send(&data, 1, open, MPI_PROC_NULL, 0, comm), MPI_ERR_TYPE);  // not committed
  MPI_Type_free(&open);
}

int main(int argc, char** argv) {
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  static const int sizes[] = {2, 60, 5000, 100000, 3 << 20};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    for (unsigned early = 0; early < 2; early++) truncation(sizes[i], sizes[i] / 2, early);
  error_in_status();
  bad_arguments();
  return finish();
}
