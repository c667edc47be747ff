// Misuse that must end a program with a clear message and a non-zero exit code, never with a hang or a crash.
//   misuse <case>
#include <signal.h>
#include <unistd.h>

#include "check.h"

static void before_init(void) {
  int value = 0;
  MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
}

static void rank_before_init(void) { MPI_Comm_rank(MPI_COMM_WORLD, &world_rank); }

static void after_finalize(void) {
  MPI_Init(NULL, NULL);
  MPI_Finalize();
  MPI_Barrier(MPI_COMM_WORLD);
}

static void init_twice(void) {
  MPI_Init(NULL, NULL);
  MPI_Init(NULL, NULL);
}

static void init_after_finalize(void) {
  MPI_Init(NULL, NULL);
  MPI_Finalize();
  MPI_Init(NULL, NULL);
}

static void finalize_twice(void) {
  MPI_Init(NULL, NULL);
  MPI_Finalize();
  MPI_Finalize();
}

static void freed_communicator(void) {
  MPI_Comm copy, stale;
  MPI_Init(NULL, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  stale = copy;
  MPI_Comm_free(&copy);
  MPI_Barrier(stale);
}

static void freed_type(void) {
  MPI_Datatype type, stale;
  int data[2] = {0};
  MPI_Init(NULL, NULL);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_commit(&type);
  stale = type;
  MPI_Type_free(&type);
  MPI_Send(data, 1, stale, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
}

static void null_buffer(void) {
  MPI_Init(NULL, NULL);
  MPI_Bcast(NULL, 3, MPI_INT, 0, MPI_COMM_WORLD);
}

static void bad_rank(void) {
  MPI_Init(NULL, NULL);
  MPI_Send(NULL, 0, MPI_INT, 12345, 0, MPI_COMM_WORLD);
}

// One message of two is too long for its receive: which of them failed, and why.
static void truncated(void) {
  char data[400] = {0};
  MPI_Request requests[2];
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  for (int i = 0; i < 2; i++) {
    if (world_rank == 0) MPI_Isend(data, i == 0 ? 8 : 400, MPI_BYTE, 1, i + 1, MPI_COMM_WORLD, &requests[i]);
    if (world_rank == 1) MPI_Irecv(data, 8, MPI_BYTE, 0, i + 1, MPI_COMM_WORLD, &requests[i]);
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Barrier(MPI_COMM_WORLD);
}

// One rank aborts with 7 while the others wait for a message that will never come.
static void abort_seven(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  if (world_rank == world_size - 1) MPI_Abort(MPI_COMM_WORLD, 7);
  MPI_Recv(NULL, 0, MPI_INT, world_size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// One rank dies while the others wait: in a receive, in a collective, in a busy loop of tests, outside MPI.
static void killed(void) {
  MPI_Request request;
  int flag = 0;
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == world_size - 1) raise(SIGKILL);
  if (world_rank == 0) MPI_Recv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  if (world_rank == 1) MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 2) pause();
  MPI_Irecv(NULL, 0, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &request);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void segfault(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (world_rank == 0) raise(SIGSEGV);
  MPI_Barrier(MPI_COMM_WORLD);
}

// A rank that leaves without MPI_Finalize leaves the others waiting: the launcher ends them.
static void leaves_early(void) {
  MPI_Init(NULL, NULL);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  if (world_rank == 0) _exit(3);
  MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void killed_in_init(void) {
  const char* rank = getenv("PMI_RANK");
  if (rank && strcmp(rank, "0") == 0) raise(SIGKILL);
  MPI_Init(NULL, NULL);
}

int main(int argc, char** argv) {
  static const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"before_init", before_init},
               {"rank_before_init", rank_before_init},
               {"after_finalize", after_finalize},
               {"init_twice", init_twice},
               {"init_after_finalize", init_after_finalize},
               {"finalize_twice", finalize_twice},
               {"freed_communicator", freed_communicator},
               {"freed_type", freed_type},
               {"null_buffer", null_buffer},
               {"bad_rank", bad_rank},
               {"truncated", truncated},
               {"abort_seven", abort_seven},
               {"killed", killed},
               {"segfault", segfault},
               {"leaves_early", leaves_early},
               {"killed_in_init", killed_in_init}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    if (argc > 1 && strcmp(argv[1], cases[i].name) == 0) {
      cases[i].run();
      printf("misuse: %s went unnoticed\n", cases[i].name);
      return 0;
    }
  fprintf(stderr, "misuse: which case?\n");
  return 0;
}
