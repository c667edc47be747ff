#include "mpi/api_win.hpp"

#include <cstring>

#include "mpi/attribute.hpp"
#include "mpi/error_text.hpp"
#include "mpi/handle.hpp"
#include "mpi/win_hints.hpp"

namespace heddle::api {

using mpi::AttributeFunction;
using mpi::Kind;

Status win_create_keyval(MPI_Win_copy_attr_function* copy, MPI_Win_delete_attr_function* remove, int* keyval,
                         void* extra_state) {
  return mpi::create_keyval(Kind::kWin, reinterpret_cast<AttributeFunction>(copy),
                            reinterpret_cast<AttributeFunction>(remove), extra_state, keyval);
}
Status win_free_keyval(int* keyval) { return mpi::free_keyval(Kind::kWin, keyval); }
Status win_set_attr(mpi::Win& win, int keyval, void* attribute_val) {
  return mpi::set_attribute(win, keyval, attribute_val);
}
Status win_get_attr(mpi::Win& win, int keyval, void* attribute_val, int* flag) {
  return mpi::get_attribute(win, keyval, static_cast<void**>(attribute_val), flag);
}
Status win_delete_attr(mpi::Win& win, int keyval) { return mpi::delete_attribute(win, keyval); }

Status win_create_errhandler(MPI_Win_errhandler_function* function, MPI_Errhandler* errhandler) {
  mpi::Errhandler* made = mpi::take_errhandler(Kind::kWin, reinterpret_cast<mpi::Errhandler::Function>(function));
  return mpi::hand_out(made, errhandler, "an error handler");
}
Status win_set_errhandler(mpi::Win& win, mpi::Errhandler& errhandler) {
  HEDDLE_TRY(mpi::check_target(errhandler, Kind::kWin));
  mpi::set_errhandler(win, errhandler);
  return Status::ok();
}
Status win_get_errhandler(mpi::Win& win, MPI_Errhandler* errhandler) {
  *errhandler = mpi::to_handle(mpi::get_errhandler(win));
  return Status::ok();
}
Status win_call_errhandler(mpi::Win& win, int errorcode) {
  int known;
  HEDDLE_TRY(mpi::error_class_of(errorcode, &known));
  mpi::raise(win, Status::of_class(errorcode), "MPI_Win_call_errhandler");
  return Status::ok();
}

Status win_set_name(mpi::Win& win, const char* win_name) {
  std::lock_guard lock(win.mutex);
  win.name.assign(win_name, strnlen(win_name, MPI_MAX_OBJECT_NAME - 1));
  return Status::ok();
}
Status win_get_name(mpi::Win& win, char* win_name, int* resultlen) {
  std::lock_guard lock(win.mutex);
  std::memcpy(win_name, win.name.c_str(), win.name.size() + 1);
  *resultlen = static_cast<int>(win.name.size());
  return Status::ok();
}

Status win_set_info(mpi::Win& win, mpi::Info* info) {
  return info != nullptr ? mpi::change_hints(win, *info) : Status::ok();
}
Status win_get_info(mpi::Win& win, MPI_Info* info_used) {
  return mpi::hand_out(mpi::take_info(mpi::hints_in_force(win)), info_used, "an info object");
}

}  // namespace heddle::api
