// Every rank has sent to every other one on many communicators, and all of it was received: what those lanes may still
// send is lent to them and idle. No one is refused for that; a short message leaves at once whoever it is for.
#include "counter.h"

enum { COMMS = 24, MESSAGES = 200, BYTES = 2000 };

static char out[BYTES], in[BYTES];

static void all_to_all(MPI_Comm comm) {
  for (int step = 0; step < world_size; ++step) {
    const int to = (world_rank + step) % world_size, from = (world_rank + world_size - step) % world_size;
    for (int i = 0; i < MESSAGES; ++i) {
      MPI_Request request;
      MPI_Isend(out, BYTES, MPI_BYTE, to, i, comm, &request);
      MPI_Recv(in, BYTES, MPI_BYTE, from, i, comm, MPI_STATUS_IGNORE);
      CHECK_EQ(in[i], (char)from);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
  }
}

int main(int argc, char** argv) {
  MPI_Comm comms[COMMS];
  int provided;
  start(&argc, &argv);
  CHECK_EQ(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided), MPI_SUCCESS);
  memset(out, world_rank, sizeof out);
  Counter headers = count("flow_disables"), bytes = count("flow_byte_disables");
  for (int i = 0; i < COMMS; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    all_to_all(comms[i]);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_EQ(counted(&headers), 0);
  CHECK_EQ(counted(&bytes), 0);
  for (int i = 0; i < COMMS; ++i) MPI_Comm_free(&comms[i]);
  MPI_T_finalize();
  return finish();
}
