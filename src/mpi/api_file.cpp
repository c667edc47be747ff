#include "mpi/api_file.hpp"

#include "mpi/error_text.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {

using mpi::Kind;

Status file_create_errhandler(MPI_File_errhandler_function* function, MPI_Errhandler* errhandler) {
  mpi::Errhandler* made = mpi::take_errhandler(Kind::kFile, reinterpret_cast<mpi::Errhandler::Function>(function));
  return mpi::hand_out(made, errhandler, "an error handler");
}
Status file_set_errhandler(File& file, mpi::Errhandler& errhandler) {
  HEDDLE_TRY(mpi::check_target(errhandler, Kind::kFile));
  mpi::set_errhandler(file, errhandler);
  return Status::ok();
}
Status file_get_errhandler(File& file, MPI_Errhandler* errhandler) {
  *errhandler = mpi::to_handle(mpi::get_errhandler(file));
  return Status::ok();
}
Status file_call_errhandler(File& file, int errorcode) {
  int known;
  HEDDLE_TRY(mpi::error_class_of(errorcode, &known));
  mpi::raise(file, Status::of_class(errorcode), "MPI_File_call_errhandler");
  return Status::ok();
}

Status register_datarep(const char* datarep, MPI_Datarep_conversion_function* read_conversion_fn,
                        MPI_Datarep_conversion_function* write_conversion_fn,
                        MPI_Datarep_extent_function* dtype_file_extent_fn, void* extra_state, bool wide) {
  return mpi::register_datarep(datarep,
                               {read_conversion_fn, write_conversion_fn, dtype_file_extent_fn, extra_state, wide});
}

}  // namespace heddle::api
