// Control variables as MPI_T shows them; what they are is in mpi/control.hpp. Each is one MPI_INT, or a text with its end in
// an array of MPI_CHAR; bound to no object.
#include <cstring>
#include <string>

#include "mpi/control.hpp"
#include "tool/api.hpp"
#include "tool/enumeration.hpp"
#include "tool/state.hpp"
#include "tool/text.hpp"

namespace heddle::tool {
namespace {

std::string description(const mpi::Control& control) {
  const std::string initial =
      control.is_text() ? "'" + std::string(control.initial_text) + "'" : mpi::spelled(control, control.initial);
  return std::string(control.environment) + ": " + control.meaning + ". " + mpi::legal_values(control) +
         "; the default is " + initial + ". Can be written " +
         (control.change != nullptr ? "at any time." : "before MPI is initialized.");
}

Status find(MPI_T_cvar_handle handle, int* index) {
  const auto found = state().cvar_handles.find(number_of(handle));
  if (found == state().cvar_handles.end()) {
    return error(MPI_T_ERR_INVALID_HANDLE,
                 "handle is no live handle of a control variable: it was freed, or never one");
  }
  *index = found->second;
  return Status::ok();
}

bool is_text(int index) noexcept { return mpi::controls()[static_cast<std::size_t>(index)].is_text(); }

}  // namespace
}  // namespace heddle::tool

namespace heddle::api {

using mpi::controls;

Status t_cvar_get_num(int* num_cvar) {
  *num_cvar = static_cast<int>(controls().size());
  return Status::ok();
}

Status t_cvar_get_info(int cvar_index, char* name, int* name_len, int* verbosity, MPI_Datatype* datatype,
                       MPI_T_enum* enumtype, char* desc, int* desc_len, int* bind, int* scope) {
  HEDDLE_TRY(tool::check_index("cvar_index", cvar_index, controls().size()));
  const mpi::Control& control = controls()[static_cast<std::size_t>(cvar_index)];
  tool::give_text(control.name, name, name_len);
  tool::give(control.verbosity, verbosity);
  tool::give(control.is_text() ? MPI_CHAR : MPI_INT, datatype);
  tool::give(tool::enumeration_of(control), enumtype);
  tool::give_text(tool::description(control), desc, desc_len);
  tool::give(MPI_T_BIND_NO_OBJECT, bind);
  tool::give(control.scope, scope);
  return Status::ok();
}

Status t_cvar_get_index(const char* name, int* cvar_index) {
  return tool::find_name("control variable", name, controls(), cvar_index);
}

Status t_cvar_handle_alloc(int cvar_index, void*, MPI_T_cvar_handle* handle, int* count) {
  HEDDLE_TRY(tool::check_index("cvar_index", cvar_index, controls().size()));
  tool::State& state = tool::state();
  state.cvar_handles.emplace(state.next, cvar_index);
  *handle = tool::to_handle<MPI_T_cvar_handle>(state.next++);
  *count = tool::is_text(cvar_index) ? static_cast<int>(mpi::kTextBytes) : 1;
  return Status::ok();
}

Status t_cvar_handle_free(MPI_T_cvar_handle* handle) {
  int index = 0;
  HEDDLE_TRY(tool::find(*handle, &index));
  tool::state().cvar_handles.erase(tool::number_of(*handle));
  *handle = MPI_T_CVAR_HANDLE_NULL;
  return Status::ok();
}

Status t_cvar_read(MPI_T_cvar_handle handle, void* buf) {
  int index = 0, value = 0;
  HEDDLE_TRY(tool::find(handle, &index));
  if (tool::is_text(index)) {
    const std::string text = mpi::read_text(index).substr(0, mpi::kTextBytes - 1);
    std::memcpy(buf, text.c_str(), text.size() + 1);
    return Status::ok();
  }
  HEDDLE_TRY(mpi::read_control(index, &value, MPI_T_ERR_INVALID));
  std::memcpy(buf, &value, sizeof value);
  return Status::ok();
}

Status t_cvar_write(MPI_T_cvar_handle handle, const void* buf) {
  int index = 0, value = 0;
  HEDDLE_TRY(tool::find(handle, &index));
  if (tool::is_text(index)) {
    const auto* text = static_cast<const char*>(buf);
    const std::size_t length = strnlen(text, mpi::kTextBytes);
    if (length == mpi::kTextBytes) {
      return error(MPI_T_ERR_INVALID, "the text has no end within its %zu bytes", mpi::kTextBytes);
    }
    return mpi::write_text(index, {text, length});
  }
  std::memcpy(&value, buf, sizeof value);
  return mpi::write_control(index, value);
}

}  // namespace heddle::api
