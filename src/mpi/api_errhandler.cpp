#include "mpi/api_errhandler.hpp"

#include "mpi/error_text.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {

Status comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler) {
  Errhandler* made = mpi::take_errhandler(mpi::Kind::kComm, reinterpret_cast<Errhandler::Function>(function));
  return mpi::hand_out(made, errhandler, "an error handler");
}

Status comm_set_errhandler(Comm& comm, Errhandler& errhandler) {
  if (!errhandler.is_predefined() && errhandler.target != mpi::Kind::kComm) {
    return error(MPI_ERR_ERRHANDLER, "the error handler was not made by MPI_Comm_create_errhandler");
  }
  mpi::set_errhandler(comm, errhandler);
  return Status::ok();
}

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
