// The error handler that a program begins with, by mpiexec's -initial-errhandler.
//   initial_errhandler mpi_errors_return|mpi_errors_abort
#include "check.h"

// Before MPI_Init and after MPI_Finalize there is nobody to abort.
static void check_unborn(const char* when) {
  int size;
  if (MPI_Comm_size(MPI_COMM_WORLD, &size) != MPI_SUCCESS) return;
  fprintf(stderr, "initial_errhandler: %s: MPI_Comm_size returned MPI_SUCCESS\n", when);
  exit(1);
}

static void check_handler(MPI_Comm comm, MPI_Errhandler want) {
  MPI_Errhandler got;
  MPI_Comm_get_errhandler(comm, &got);
  CHECK(got == want);
  MPI_Errhandler_free(&got);
}

int main(int argc, char** argv) {
  const int returns = argc > 1 && strcmp(argv[1], "mpi_errors_return") == 0;
  const MPI_Errhandler wanted = returns ? MPI_ERRORS_RETURN : MPI_ERRORS_ABORT;
  char value[64] = "";
  int flag, length = sizeof value;
  MPI_Comm copy;
  MPI_Datatype type;
  if (returns) check_unborn("before MPI_Init");
  start(&argc, &argv);
  MPI_Info_get_string(MPI_INFO_ENV, "mpi_initial_errhandler", &length, value, &flag);
  CHECK(flag && strcmp(value, argv[1]) == 0, "'%s'", value);
  check_handler(MPI_COMM_WORLD, wanted);
  check_handler(MPI_COMM_SELF, wanted);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  check_handler(copy, wanted);
  printf("the handlers are right\n");
  fflush(stdout);
  CHECK_CLASS(MPI_Send(NULL, 0, MPI_INT, world_size, 0, copy), MPI_ERR_RANK);
  CHECK(returns);
  CHECK_CLASS(MPI_Type_contiguous(-1, MPI_INT, &type), MPI_ERR_COUNT);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);  // another one, as ever
  check_handler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  check_handler(copy, MPI_ERRORS_RETURN);
  MPI_Comm_free(&copy);
  MPI_Finalize();
  check_unborn("after MPI_Finalize");
  return 0;
}
