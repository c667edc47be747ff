// What the collective programs share: one call in three forms, and the communicators that each check runs on.
#ifndef HEDDLE_COLL_H
#define HEDDLE_COLL_H

#include "check.h"

static MPI_Comm comm;
static int rank, size;
static enum { kBlocking, kNonblocking, kPersistent, kForms } form;

// RUN(Bcast, bcast, arguments...): MPI_Bcast; or MPI_Ibcast and a wait; or MPI_Bcast_init, a start and a wait.
#define RUN(Blocking, nonblocking_name, ...)                        \
  do {                                                              \
    MPI_Request request_ = MPI_REQUEST_NULL;                        \
    if (form == kNonblocking) {                                     \
      MPI_I##nonblocking_name(__VA_ARGS__, &request_);              \
      MPI_Wait(&request_, MPI_STATUS_IGNORE);                       \
    } else if (form == kPersistent) {                               \
      MPI_##Blocking##_init(__VA_ARGS__, MPI_INFO_NULL, &request_); \
      MPI_Start(&request_);                                         \
      MPI_Wait(&request_, MPI_STATUS_IGNORE);                       \
      CHECK(request_ != MPI_REQUEST_NULL);                          \
      MPI_Request_free(&request_);                                  \
    } else {                                                        \
      MPI_##Blocking(__VA_ARGS__);                                  \
    }                                                               \
    CHECK(request_ == MPI_REQUEST_NULL);                            \
  } while (0)

// On all ranks in order, on all in reverse, and on odd and even ones apart; in each form.
static inline void on_each_comm(void (*checks)(void)) {
  MPI_Comm reversed, half, comms[3] = {MPI_COMM_WORLD};
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &reversed);
  MPI_Comm_split(MPI_COMM_WORLD, world_rank % 2, world_rank, &half);
  comms[1] = reversed, comms[2] = half;
  for (int c = 0; c < 3; c++) {
    comm = comms[c];
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    for (form = kBlocking; form < kForms; form++) checks();
  }
  MPI_Comm_free(&reversed);
  MPI_Comm_free(&half);
}

// What rank `from` contributes for `to` at place `i`: different for each of the three.
static inline int element(int from, int to, int i) { return from * 1000003 + to * 1009 + i * 7 + 1; }

#endif
