#include "mpi/api_handle.hpp"

#include "mpi/handle.hpp"

namespace heddle::api {
namespace {

using mpi::Kind;

template <class Handle>
int to_int(Handle handle, Kind kind) {
  const std::uintptr_t value = mpi::handle_value(handle);
  if (value < mpi::kPredefinedLimit) return static_cast<int>(value);
  auto* object = mpi::live_object<mpi::Object>(value, kind);
  return object != nullptr ? mpi::to_int(*object) : 0;
}

template <class Handle>
Handle from_int(int index, Kind kind, Handle null) {
  if (index > 0 && static_cast<std::uintptr_t>(index) < mpi::kPredefinedLimit) {
    return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(index));
  }
  mpi::Object* object = mpi::from_int(index, kind);
  return object != nullptr ? reinterpret_cast<Handle>(object) : null;
}

}  // namespace

int comm_toint(MPI_Comm comm) { return to_int(comm, Kind::kComm); }
int type_toint(MPI_Datatype datatype) { return to_int(datatype, Kind::kDatatype); }
int errhandler_toint(MPI_Errhandler errhandler) { return to_int(errhandler, Kind::kErrhandler); }
int file_toint(MPI_File file) { return to_int(file, Kind::kFile); }
int group_toint(MPI_Group group) { return to_int(group, Kind::kGroup); }
int info_toint(MPI_Info info) { return to_int(info, Kind::kInfo); }
int message_toint(MPI_Message message) { return to_int(message, Kind::kMessage); }
int op_toint(MPI_Op op) { return to_int(op, Kind::kOp); }
int request_toint(MPI_Request request) { return to_int(request, Kind::kRequest); }
int session_toint(MPI_Session session) { return to_int(session, Kind::kSession); }
int win_toint(MPI_Win win) { return to_int(win, Kind::kWin); }

MPI_Comm comm_fromint(int comm) { return from_int(comm, Kind::kComm, MPI_COMM_NULL); }
MPI_Datatype type_fromint(int datatype) { return from_int(datatype, Kind::kDatatype, MPI_DATATYPE_NULL); }
MPI_Errhandler errhandler_fromint(int errhandler) {
  return from_int(errhandler, Kind::kErrhandler, MPI_ERRHANDLER_NULL);
}
MPI_File file_fromint(int file) { return from_int(file, Kind::kFile, MPI_FILE_NULL); }
MPI_Group group_fromint(int group) { return from_int(group, Kind::kGroup, MPI_GROUP_NULL); }
MPI_Info info_fromint(int info) { return from_int(info, Kind::kInfo, MPI_INFO_NULL); }
MPI_Message message_fromint(int message) { return from_int(message, Kind::kMessage, MPI_MESSAGE_NULL); }
MPI_Op op_fromint(int op) { return from_int(op, Kind::kOp, MPI_OP_NULL); }
MPI_Request request_fromint(int request) { return from_int(request, Kind::kRequest, MPI_REQUEST_NULL); }
MPI_Session session_fromint(int session) { return from_int(session, Kind::kSession, MPI_SESSION_NULL); }
MPI_Win win_fromint(int win) { return from_int(win, Kind::kWin, MPI_WIN_NULL); }

}  // namespace heddle::api
