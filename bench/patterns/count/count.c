// How deep the library's queues are searched in any program: a profiling library that reads at the beginning and the end.
//
//   LD_PRELOAD=libcount.so for every rank; rank 0 prints print_depth.h's lines at MPI_Finalize: for the program's messages on
//   all of its communicators, and for the whole process, where the searches for messages inside of collectives are among them
//
// Method:  a communicator is read from when it is made until it is freed. A probe is a search too, each time.
// Limits:  communicators that are made otherwise than by Dup, Split, Create or Cart count in the process alone.
// Threads: those of a program in which only one calls MPI.
#include "../print_depth.h"

struct Counted {
  MPI_Comm comm;
  struct DepthReader reader;
  struct Depth before;
  struct Counted* next;
};

static struct Counted* counted;  // the newest first
static struct Depth ended;       // of communicators that were freed

static void begin(MPI_Comm comm) {
  if (comm == MPI_COMM_NULL) return;
  struct Counted* one = malloc(sizeof *one);
  if (!one) abort();
  depth_open(&one->reader, comm);
  one->comm = comm;
  one->before = depth_read(&one->reader, kOfComm);
  one->next = counted;
  counted = one;
}

static void end(MPI_Comm comm) {
  struct Counted** at = &counted;
  while (*at && (*at)->comm != comm) at = &(*at)->next;
  struct Counted* one = *at;
  if (!one) return;
  *at = one->next;
  struct Depth depth = depth_since(&one->reader, kOfComm, &one->before);
  depth_add(&ended, &depth);
  depth_close(&one->reader);
  free(one);
}

static struct DepthReader process;
static struct Depth before;

static int opened(int code) {
  int rank;
  if (code != MPI_SUCCESS) return code;
  depth_open(&process, MPI_COMM_SELF);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int scope = 0; scope < kScopes && rank == 0; scope++) depth_tell_missing(&process, scope, "count");
  begin(MPI_COMM_WORLD);
  begin(MPI_COMM_SELF);
  before = depth_read(&process, kOfProcess);
  return code;
}

int MPI_Init(int* argc, char*** argv) { return opened(PMPI_Init(argc, argv)); }
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return opened(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize(void) {
  struct Depth of_process = depth_since(&process, kOfProcess, &before);
  while (counted) end(counted->comm);
  if (!process.missing[kOfComm]) depth_print(kOfComm, &ended, 0, MPI_COMM_WORLD);
  if (!process.missing[kOfProcess]) depth_print(kOfProcess, &of_process, 0, MPI_COMM_WORLD);
  depth_close(&process);
  return PMPI_Finalize();
}

static int made(int code, const MPI_Comm* comm) {
  if (code == MPI_SUCCESS) begin(*comm);
  return code;
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* newcomm) { return made(PMPI_Comm_dup(comm, newcomm), newcomm); }
int MPI_Comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm* newcomm) {
  return made(PMPI_Comm_dup_with_info(comm, info, newcomm), newcomm);
}
int MPI_Comm_split(MPI_Comm comm, int color, int key, MPI_Comm* newcomm) {
  return made(PMPI_Comm_split(comm, color, key, newcomm), newcomm);
}
int MPI_Comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm* newcomm) {
  return made(PMPI_Comm_create(comm, group, newcomm), newcomm);
}
int MPI_Cart_create(MPI_Comm old, int n, const int dims[], const int periods[], int reorder, MPI_Comm* newcomm) {
  return made(PMPI_Cart_create(old, n, dims, periods, reorder, newcomm), newcomm);
}
int MPI_Cart_sub(MPI_Comm comm, const int remain[], MPI_Comm* newcomm) {
  return made(PMPI_Cart_sub(comm, remain, newcomm), newcomm);
}
int MPI_Comm_free(MPI_Comm* comm) {
  end(*comm);
  return PMPI_Comm_free(comm);
}
