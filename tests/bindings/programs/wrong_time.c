/* wrong_time WHEN: calls MPI when it may not. Ends the job, with a line that says so. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  const char* when = argc > 1 ? argv[1] : "";
  int flag = -1, value = 0, major = 0, minor = 0;
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Info info;

  /* These may be called at any time. */
  MPI_Initialized(&flag);
  if (flag != 0) return 3;
  MPI_Finalized(&flag);
  if (flag != 0) return 4;
  if (MPI_Get_version(&major, &minor) != MPI_SUCCESS || major != 5) return 5;
  if (MPI_Get_library_version(text, &value) != MPI_SUCCESS || strstr(text, "Heddle") == NULL) return 6;
  if (MPI_Info_create(&info) != MPI_SUCCESS || MPI_Info_free(&info) != MPI_SUCCESS) return 7;

  if (strcmp(when, "before") == 0) MPI_Send(&value, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  MPI_Init(&argc, &argv);
  if (strcmp(when, "twice") == 0) MPI_Init(&argc, &argv);
  if (strcmp(when, "missing") == 0) MPI_Open_port(MPI_INFO_NULL, text);
  MPI_Initialized(&flag);
  if (flag == 0) return 8;
  MPI_Finalize();
  MPI_Finalized(&flag);
  if (flag == 0) return 9;
  if (strcmp(when, "after") == 0) MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(when, "again") == 0) MPI_Init(&argc, &argv);
  if (strcmp(when, "finalized") == 0) MPI_Finalize();
  puts("end");
  return 0;
}
