// How deep the library's queues are searched in any program: a profiling library that reads at the beginning and the end.
//
//   LD_PRELOAD=libcount.so for every rank; rank 0 prints print_depth.h's lines for the whole process at MPI_Finalize
//
// For what is no proxy: the searches for messages inside of collectives are among them, as they cost the program too.
#include "../print_depth.h"

static struct DepthReader reader;
static struct Depth before;

static int opened(int code) {
  int rank;
  if (code != MPI_SUCCESS) return code;
  depth_open(&reader, MPI_COMM_SELF);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) depth_tell_missing(&reader, kOfProcess, "count");
  before = depth_read(&reader, kOfProcess);
  return code;
}

int MPI_Init(int* argc, char*** argv) { return opened(PMPI_Init(argc, argv)); }
int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  return opened(PMPI_Init_thread(argc, argv, required, provided));
}

int MPI_Finalize(void) {
  struct Depth depth = depth_since(&reader, kOfProcess, &before);
  if (!reader.missing[kOfProcess]) depth_print(kOfProcess, &depth, 0, MPI_COMM_WORLD);
  depth_close(&reader);
  return PMPI_Finalize();
}
