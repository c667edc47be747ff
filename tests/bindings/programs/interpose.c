/* A tool's own MPI_Send stands before the library's, for the program and for no one else: the library never calls it. */
#include <mpi.h>
#include <stdio.h>

static int sends = 0;

int MPI_Send(const void* buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm) {
  ++sends;
  return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int main(int argc, char** argv) {
  int out = 42, in = 0, rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Request request;
  MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, &request);
  MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, 0, MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Bcast(&in, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Finalize();
  if (in != 42 || sends != 1) printf("received %d, MPI_Send was called %d times\n", in, sends);
  return in == 42 && sends == 1 ? 0 : 1;
}
