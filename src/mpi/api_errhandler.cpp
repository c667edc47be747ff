#include "mpi/api_errhandler.hpp"

#include "mpi/error_text.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {

namespace {

using mpi::Kind;

template <class Callback>
Status create(Kind target, Callback* function, MPI_Errhandler* errhandler) {
  Errhandler* made = mpi::take_errhandler(target, reinterpret_cast<Errhandler::Function>(function));
  return mpi::hand_out(made, errhandler, "an error handler");
}

template <class Target>
Status set(Target& target, Kind kind, Errhandler& errhandler) {
  HEDDLE_TRY(mpi::check_target(errhandler, kind));
  mpi::set_errhandler(target, errhandler);
  return Status::ok();
}

}  // namespace

Status comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  return create(Kind::kComm, function, errhandler);
}
Status comm_set_errhandler(Comm& comm, Errhandler& errhandler) { return set(comm, Kind::kComm, errhandler); }
Status comm_get_errhandler(Comm& comm, MPI_Errhandler* errhandler) {
  *errhandler = mpi::to_handle(mpi::get_errhandler(comm));
  return Status::ok();
}
Status comm_call_errhandler(Comm& comm, int errorcode) {
  int known;
  HEDDLE_TRY(mpi::error_class_of(errorcode, &known));
  mpi::raise(&comm, Status::of_class(errorcode), "MPI_Comm_call_errhandler");
  return Status::ok();
}

Status session_create_errhandler(MPI_Session_errhandler_function* function, MPI_Errhandler* errhandler) {
  return create(Kind::kSession, function, errhandler);
}
Status session_set_errhandler(Session& session, Errhandler& errhandler) {
  return set(session, Kind::kSession, errhandler);
}
Status session_get_errhandler(Session& session, MPI_Errhandler* errhandler) {
  *errhandler = mpi::to_handle(mpi::get_errhandler(session));
  return Status::ok();
}
Status session_call_errhandler(Session& session, int errorcode) {
  int known;
  HEDDLE_TRY(mpi::error_class_of(errorcode, &known));
  mpi::raise(session, Status::of_class(errorcode), "MPI_Session_call_errhandler");
  return Status::ok();
}

Status errhandler_free(MPI_Errhandler* errhandler) {
  mpi::release(*mpi::from_handle(*errhandler));
  *errhandler = MPI_ERRHANDLER_NULL;
  return Status::ok();
}

Status error_string(int errorcode, char* string, int* resultlen) {
  return mpi::error_string(errorcode, string, resultlen);
}
Status error_class(int errorcode, int* errorclass) { return mpi::error_class_of(errorcode, errorclass); }
Status add_error_class(int* errorclass) { return mpi::add_error_class(errorclass); }
Status add_error_code(int errorclass, int* errorcode) { return mpi::add_error_code(errorclass, errorcode); }
Status add_error_string(int errorcode, const char* string) { return mpi::add_error_string(errorcode, string); }
Status remove_error_class(int errorclass) { return mpi::remove_error_class(errorclass); }
Status remove_error_code(int errorcode) { return mpi::remove_error_code(errorcode); }
Status remove_error_string(int errorcode) { return mpi::remove_error_string(errorcode); }

}  // namespace heddle::api
