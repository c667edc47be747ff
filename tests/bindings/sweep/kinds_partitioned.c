// Kinds of partitioned communication: requests of one partition, and partitions.
#include "objects.h"

static int item;
static Word new_partitioned(int sends, int started) {
  MPI_Request made;
  if (sends) {
    MPI_Psend_init(&item, 1, 1, MPI_INT, MPI_PROC_NULL, 0, live_comm, MPI_INFO_NULL, &made);
  } else {
    MPI_Precv_init(&item, 1, 1, MPI_INT, MPI_PROC_NULL, 0, live_comm, MPI_INFO_NULL, &made);
  }
  if (started) MPI_Start(&made);
  return (Word)made;
}
static Word new_started_send(void) { return new_partitioned(1, 1); }
static Word new_started_receive(void) { return new_partitioned(0, 1); }
static Word new_inactive_send(void) { return new_partitioned(1, 0); }
static Word new_inactive_receive(void) { return new_partitioned(0, 0); }
// Whatever became of it, and if it is one that was refused.
static void end_partitioned(Word value) {
  MPI_Request request = (MPI_Request)value;
  MPI_Pready(0, request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
}

#define REQUESTS BAD_HANDLE(V, MADE, MPI_ERR_REQUEST, stale_request, the_type, MPI_INT)
#define NOT_PARTITIONED \
  { "not partitioned", MPI_ERR_REQUEST, MADE(new_persistent_request), kEverywhere }
static const Wrong bad_sends[] = {{"MPI_REQUEST_NULL", MPI_ERR_REQUEST, V(MPI_REQUEST_NULL), kEverywhere},
                                  REQUESTS,
                                  NOT_PARTITIONED,
                                  {"a receive", MPI_ERR_REQUEST, MADE(new_started_receive), kEverywhere},
                                  {"not started", MPI_ERR_REQUEST, MADE(new_inactive_send), kEverywhere},
                                  LAST};
static const Wrong bad_receives[] = {REQUESTS,
                                     NOT_PARTITIONED,
                                     {"a send", MPI_ERR_REQUEST, MADE(new_started_send), kEverywhere},
                                     {"MPI_REQUEST_NULL", MPI_SUCCESS, V(MPI_REQUEST_NULL), kEverywhere},
                                     {"not started", MPI_SUCCESS, MADE(new_inactive_receive), kEverywhere},
                                     LAST};
const Kind kind_partitioned_send = {MADE(new_started_send), end_partitioned, bad_sends};
const Kind kind_partitioned_receive = {MADE(new_started_receive), end_partitioned, bad_receives};

#define ARG(text, form, value) \
  { text, MPI_ERR_ARG, form(value), kEverywhere }
static const Wrong bad_numbers[] = {ARG("-1", V, -1), ARG("the least int", V, INT_MIN), LAST};
static const Wrong bad_partitions[] = {ARG("-1", V, -1), ARG("beyond the last", V, 1),
                                       ARG("the largest int", V, INT_MAX), LAST};
static const Wrong bad_lists[] = {NULL_POINTER, ARG("-1", INT, -1), ARG("beyond the last", INT, 1), LAST};
const Kind kind_partitions = {V(1), NULL, bad_numbers};
const Kind kind_partition = {V(0), NULL, bad_partitions};
const Kind kind_partition_list = {INT(0), NULL, bad_lists};

static const Wrong bad_sources[] = {{"MPI_ANY_SOURCE", MPI_ERR_RANK, V(MPI_ANY_SOURCE), kEverywhere},
                                    {"-77", MPI_ERR_RANK, V(-77), kEverywhere},
                                    {"beyond the last", MPI_ERR_RANK, V(1000), kEverywhere},
                                    LAST};
const Kind kind_partitioned_source = {V(MPI_PROC_NULL), NULL, bad_sources};
