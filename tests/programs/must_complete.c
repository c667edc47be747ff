// Requests that can only be completed: MPI_Cancel, and MPI_Request_free while they are under way, say so and leave them as they
// are. Rank 0 asks while the others have not begun.
#include "check.h"

static void ask(MPI_Request* request) {
  const MPI_Request before = *request;
  CHECK_CLASS(MPI_Cancel(request), MPI_ERR_REQUEST);
  CHECK_CLASS(MPI_Request_free(request), MPI_ERR_REQUEST);
  CHECK(*request == before);
}

static void go_ahead(void) {
  for (int rank = 1; rank < world_size; rank++) MPI_Send(NULL, 0, MPI_INT, rank, 0, MPI_COMM_WORLD);
}
static void await_rank_0(void) {
  if (world_rank != 0) MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
static void ask_and_complete(MPI_Request* request) {
  if (world_rank == 0) {
    ask(request);
    go_ahead();
  }
  MPI_Wait(request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  MPI_Request request;
  MPI_Comm copy;
  start(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  const int one = 1;
  int sum = 0;

  await_rank_0();
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  ask_and_complete(&request);
  CHECK_EQ(sum, world_size);

  await_rank_0();
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  ask_and_complete(&request);
  MPI_Comm_free(&copy);

  sum = 0;
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
  await_rank_0();
  MPI_Start(&request);
  ask_and_complete(&request);
  CHECK_EQ(sum, world_size);
  CHECK_EQ(MPI_Request_free(&request), MPI_SUCCESS);  // between two runs it may
  return finish();
}
