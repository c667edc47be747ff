// What the collective programs share: one call in two forms, and the communicators that each check runs on.
#ifndef HEDDLE_COLL_H
#define HEDDLE_COLL_H

#include "check.h"

static MPI_Comm comm;
static int rank, size, nonblocking;

// RUN(Bcast, bcast, arguments...): MPI_Bcast, or MPI_Ibcast and a wait.
#define RUN(Blocking, nonblocking_name, ...)           \
  do {                                                 \
    if (nonblocking) {                                 \
      MPI_Request request_;                            \
      MPI_I##nonblocking_name(__VA_ARGS__, &request_); \
      MPI_Wait(&request_, MPI_STATUS_IGNORE);          \
      CHECK(request_ == MPI_REQUEST_NULL);             \
    } else {                                           \
      MPI_##Blocking(__VA_ARGS__);                     \
    }                                                  \
  } while (0)

// On all ranks in order, on all in reverse, and on odd and even ones apart; blocking and nonblocking.
static inline void on_each_comm(void (*checks)(void)) {
  MPI_Comm reversed, half, comms[3] = {MPI_COMM_WORLD};
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  comms[1] = reversed, comms[2] = half;
  for (int c = 0; c < 3; c++) {
    comm = comms[c];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (nonblocking = 0; nonblocking < 2; nonblocking++) checks();
  }
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&half);
}

// What rank `from` contributes for `to` at place `i`: different for each of the three.
static inline int element(int from, int to, int i) { return from * 1000003 + to * 1009 + i * 7 + 1; }

#endif
