// Handles and statuses as Fortran integers, and back: predefined ones and those that were made.
//   bindings_fint
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int wrong;
#define SAME(is, should)                                                   \
  do {                                                                     \
    if ((is) != (should)) wrong++, printf("%s is not %s\n", #is, #should); \
  } while (0)
#define THERE_AND_BACK(kind, handle) SAME(MPI_##kind##_f2c(MPI_##kind##_c2f(handle)), handle)

int main(int argc, char** argv) {
  MPI_Comm comm;
  MPI_Group group;
  MPI_Win win;
  MPI_Info info;
  MPI_Errhandler errhandler;
  MPI_Request request;
  MPI_Datatype type;
  MPI_Op op = MPI_SUM;
  MPI_Status status, again;
  MPI_Fint integers[MPI_F_STATUS_SIZE];
  int value = 7, got = 0;
  double base = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_SELF, &comm);
  MPI_Comm_group(comm, &group);
  MPI_Win_create(&base, sizeof base, 1, MPI_INFO_NULL, comm, &win);
  MPI_Info_create(&info);
  MPI_Comm_get_errhandler(comm, &errhandler);
  MPI_Type_contiguous(3, MPI_INT, &type);
  MPI_Irecv(&got, 1, MPI_INT, 0, 5, comm, &request);

  THERE_AND_BACK(Comm, MPI_COMM_WORLD);
  THERE_AND_BACK(Comm, MPI_COMM_NULL);
  THERE_AND_BACK(Comm, comm);
  SAME(MPI_Comm_c2f(comm) != MPI_Comm_c2f(MPI_COMM_WORLD), 1);
  THERE_AND_BACK(Group, group);
  THERE_AND_BACK(Win, win);
  THERE_AND_BACK(Info, info);
  THERE_AND_BACK(Errhandler, errhandler);
  THERE_AND_BACK(Type, MPI_DOUBLE);
  THERE_AND_BACK(Type, type);
  THERE_AND_BACK(Op, op);
  THERE_AND_BACK(Request, request);
  THERE_AND_BACK(Message, MPI_MESSAGE_NULL);
  THERE_AND_BACK(Session, MPI_SESSION_NULL);
  THERE_AND_BACK(File, MPI_FILE_NULL);

  MPI_Send(&value, 1, MPI_INT, 0, 5, MPI_Comm_f2c(MPI_Comm_c2f(comm)));
  request = MPI_Request_f2c(MPI_Request_c2f(request));
  MPI_Wait(&request, &status);
  SAME(got, 7);
  MPI_Status_c2f(&status, integers);
  SAME(integers[MPI_F_SOURCE], 0);
  SAME(integers[MPI_F_TAG], 5);
  memset(&again, 0, sizeof again);
  MPI_Status_f2c(integers, &again);
  MPI_Get_count(&again, MPI_INT, &got);
  SAME(got, 1);
  SAME(memcmp(&status, &again, sizeof status), 0);

  MPI_Type_free(&type);
  MPI_Errhandler_free(&errhandler);
  MPI_Info_free(&info);
  MPI_Win_free(&win);
  MPI_Group_free(&group);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return wrong != 0;
}
