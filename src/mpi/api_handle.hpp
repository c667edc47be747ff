// Handles as integers (MPI 5.0, 19.3.4), for the generated bindings: raw handles, and a value instead of a Status.
//
// A predefined handle's integer is its constant. Any other object gets an index when it is first asked for, and keeps
// it. 0 stands for what is no live object; an integer that names nothing gives the null handle.
#pragma once

#include "mpi.h"

namespace heddle::api {

int comm_toint(MPI_Comm comm);
int type_toint(MPI_Datatype datatype);
int errhandler_toint(MPI_Errhandler errhandler);
int file_toint(MPI_File file);
int group_toint(MPI_Group group);
int info_toint(MPI_Info info);
int message_toint(MPI_Message message);
int op_toint(MPI_Op op);
int request_toint(MPI_Request request);
int session_toint(MPI_Session session);
int win_toint(MPI_Win win);

MPI_Comm comm_fromint(int comm);
MPI_Datatype type_fromint(int datatype);
MPI_Errhandler errhandler_fromint(int errhandler);
MPI_File file_fromint(int file);
MPI_Group group_fromint(int group);
MPI_Info info_fromint(int info);
MPI_Message message_fromint(int message);
MPI_Op op_fromint(int op);
MPI_Request request_fromint(int request);
MPI_Session session_fromint(int session);
MPI_Win win_fromint(int win);

}  // namespace heddle::api
