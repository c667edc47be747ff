#include "tool/enumeration.hpp"

#include "tool/api.hpp"
#include "tool/text.hpp"

namespace heddle::tool {
namespace {

Status find(MPI_T_enum handle, const mpi::Control** out) {
  for (const mpi::Control& control : mpi::controls()) {
    *out = &control;
    if (handle != MPI_T_ENUM_NULL && handle == enumeration_of(control)) return Status::ok();
  }
  return error(MPI_T_ERR_INVALID_INDEX, "enumtype is no enumeration that MPI_T_cvar_get_info has returned");
}

}  // namespace
}  // namespace heddle::tool

namespace heddle::api {

Status t_enum_get_info(MPI_T_enum enumtype, int* num, char* name, int* name_len) {
  const mpi::Control* control = nullptr;
  HEDDLE_TRY(tool::find(enumtype, &control));
  tool::give(static_cast<int>(control->choices.size()), num);
  tool::give_text(control->name, name, name_len);
  return Status::ok();
}

Status t_enum_get_item(MPI_T_enum enumtype, int index, int* value, char* name, int* name_len) {
  const mpi::Control* control = nullptr;
  HEDDLE_TRY(tool::find(enumtype, &control));
  HEDDLE_TRY(tool::check_index("index", index, control->choices.size()));
  tool::give(index, value);
  tool::give_text(control->choices[static_cast<std::size_t>(index)], name, name_len);
  return Status::ok();
}

}  // namespace heddle::api
