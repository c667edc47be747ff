// Sessions of performance variables and their handles: what is counted from when on.
//
// Method:  the VCIs count for everybody and never stop. A handle that is started remembers where they stood, so sessions
//          know nothing of each other, and a variable that nobody looks at costs no more than its counting.
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "mpi/control.hpp"
#include "mpi/counts.hpp"
#include "mpi/handle.hpp"
#include "tool/api.hpp"
#include "tool/pvar.hpp"
#include "tool/state.hpp"
#include "tool/text.hpp"
#include "wire/segment.hpp"

namespace heddle::tool {
namespace {

using Handles = std::map<std::uintptr_t, PvarHandle>;

const Pvar& variable_of(const PvarHandle& handle) noexcept {
  return pvars()[static_cast<std::size_t>(handle.variable)];
}

Status check_object(const Pvar& variable, const mpi::Comm* comm) {
  if (variable.of_comm == nullptr) return Status::ok();
  if (comm != nullptr && comm->is(mpi::Kind::kComm)) {
    return variable.is_of_matching() ? mpi::may_touch_matching() : Status::ok();
  }
  return error(MPI_T_ERR_INVALID_HANDLE, "%s needs a live communicator, whose handle obj_handle points to",
               variable.name);
}

// What the VCIs say now, or the process, or the communicator.
void look(const PvarHandle& handle, std::vector<unsigned long>& values) {
  const Pvar& variable = variable_of(handle);
  if (variable.of_comm != nullptr) return variable.of_comm(*handle.comm, values);
  if (variable.of_process != nullptr) return variable.of_process(values);
  std::array<vci::Counts, wire::kMaxVcis> counts;
  mpi::read_counts(std::span(counts).first(values.size()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = variable.of_vci(counts[i]);
}

// A highest value is the greatest that the handle has seen: of several engines at once they give what it must have been at
// least, by what they hold now.
std::vector<unsigned long> value_at(PvarHandle& handle, const std::vector<unsigned long>& now) {
  const Pvar& variable = variable_of(handle);
  if (variable.var_class == MPI_T_PVAR_CLASS_HIGHWATERMARK) {
    std::ranges::transform(handle.sum, now, handle.sum.begin(),
                           [](auto seen, auto one) { return std::max(seen, one); });
    return handle.sum;
  }
  if (!variable.is_counter()) return now;
  std::vector<unsigned long> value = handle.sum;
  for (std::size_t i = 0; handle.running && i < value.size(); ++i) value[i] += now[i] - handle.base[i];
  return value;
}

void start(PvarHandle& handle) {
  if (handle.running) return;
  look(handle, handle.base);
  handle.running = true;
}

void stop(PvarHandle& handle) {
  std::vector<unsigned long> now(handle.sum.size());
  look(handle, now);
  handle.sum = value_at(handle, now);
  handle.running = false;
}

// To this value, from this moment on.
void set(PvarHandle& handle, std::vector<unsigned long> value, std::vector<unsigned long> now) noexcept {
  handle.sum = std::move(value);
  handle.base = std::move(now);
}

void reset(PvarHandle& handle) {
  std::vector<unsigned long> zero(handle.sum.size()), now(handle.sum.size());
  look(handle, now);
  set(handle, std::move(zero), std::move(now));
}

void copy_out(const std::vector<unsigned long>& value, void* buf) noexcept {
  std::memcpy(buf, value.data(), value.size() * sizeof value[0]);
}

Status check_session(MPI_T_pvar_session session) {
  if (state().sessions.contains(number_of(session))) return Status::ok();
  return error(MPI_T_ERR_INVALID_SESSION, "pe_session is no live session: it was freed, or never was one");
}

Status find(MPI_T_pvar_session session, MPI_T_pvar_handle handle, Handles::iterator* out) {
  HEDDLE_TRY(check_session(session));
  *out = state().pvar_handles.find(number_of(handle));
  if (*out == state().pvar_handles.end()) {
    return error(MPI_T_ERR_INVALID_HANDLE, "handle is no live handle of a performance variable%s",
                 handle == MPI_T_PVAR_ALL_HANDLES ? ": this call takes one, not MPI_T_PVAR_ALL_HANDLES" : "");
  }
  if ((*out)->second.session == number_of(session)) return Status::ok();
  return error(MPI_T_ERR_INVALID_HANDLE, "handle belongs to another session than pe_session");
}

Status refuse(int error_class, const PvarHandle& handle, const char* what) {
  return error(error_class, "%s cannot be %s; MPI_T_pvar_get_info says which variables can", variable_of(handle).name,
               what);
}

// `act` on the counter behind the handle, or on each of the session's; `otherwise` is what to say of another variable.
template <class Act>
Status on_counters(MPI_T_pvar_session session, MPI_T_pvar_handle handle, int otherwise, const char* what, Act act) {
  if (handle != MPI_T_PVAR_ALL_HANDLES) {
    Handles::iterator found;
    HEDDLE_TRY(find(session, handle, &found));
    if (!variable_of(found->second).is_counter()) return refuse(otherwise, found->second, what);
    HEDDLE_TRY(check_object(variable_of(found->second), found->second.comm));
    act(found->second);
    return Status::ok();
  }
  HEDDLE_TRY(check_session(session));
  for (auto& [number, one] : state().pvar_handles) {
    if (one.session != number_of(session) || !variable_of(one).is_counter()) continue;
    if (check_object(variable_of(one), one.comm)) act(one);  // what is bound to something that is gone stays as it was
  }
  return Status::ok();
}

}  // namespace

void drop(State& state, Handles::iterator handle) {
  const Pvar& variable = variable_of(handle->second);
  if (variable.of_vci != nullptr) mpi::unpin_control(mpi::kVcis);
  if (variable.close != nullptr) variable.close();
  if (handle->second.comm != nullptr) mpi::release(*handle->second.comm);
  state.pvar_handles.erase(handle);
}

}  // namespace heddle::tool

namespace heddle::api {

using tool::Handles;
using tool::number_of;

Status t_pvar_session_create(MPI_T_pvar_session* pe_session) {
  tool::State& state = tool::state();
  state.sessions.insert(state.next);
  *pe_session = tool::to_handle<MPI_T_pvar_session>(state.next++);
  return Status::ok();
}

Status t_pvar_session_free(MPI_T_pvar_session* pe_session) {
  HEDDLE_TRY(tool::check_session(*pe_session));
  tool::State& state = tool::state();
  for (auto next = state.pvar_handles.begin(); next != state.pvar_handles.end();) {
    const auto handle = next++;
    if (handle->second.session == number_of(*pe_session)) tool::drop(state, handle);
  }
  state.sessions.erase(number_of(*pe_session));
  *pe_session = MPI_T_PVAR_SESSION_NULL;
  return Status::ok();
}

Status t_pvar_handle_alloc(MPI_T_pvar_session pe_session, int pvar_index, void* obj_handle, MPI_T_pvar_handle* handle,
                           int* count) {
  HEDDLE_TRY(tool::check_session(pe_session));
  HEDDLE_TRY(tool::check_index("pvar_index", pvar_index, tool::pvars().size()));
  const tool::Pvar& pvar = tool::pvars()[static_cast<std::size_t>(pvar_index)];
  int elements = pvar.elements;
  if (pvar.of_vci != nullptr) HEDDLE_TRY(mpi::read_control(mpi::kVcis, &elements, MPI_T_ERR_INVALID));
  tool::PvarHandle made;
  made.session = number_of(pe_session);
  made.variable = pvar_index;
  if (pvar.of_comm != nullptr) {
    if (obj_handle != nullptr) made.comm = mpi::from_handle(*static_cast<MPI_Comm*>(obj_handle));
    HEDDLE_TRY(tool::check_object(pvar, made.comm));
  }
  made.base.resize(static_cast<std::size_t>(elements));
  made.sum.resize(static_cast<std::size_t>(elements));
  tool::State& state = tool::state();
  mpi::Comm* const comm = made.comm;
  const auto place = state.pvar_handles.emplace(state.next, std::move(made)).first;
  if (pvar.open != nullptr) {
    if (const Status opened = pvar.open(comm); !opened) {
      state.pvar_handles.erase(place);
      return opened;
    }
  }
  if (comm != nullptr) comm->retain();
  if (pvar.of_vci != nullptr) mpi::pin_control(mpi::kVcis);
  *handle = tool::to_handle<MPI_T_pvar_handle>(state.next++);
  *count = elements;
  return Status::ok();
}

Status t_pvar_handle_free(MPI_T_pvar_session pe_session, MPI_T_pvar_handle* handle) {
  Handles::iterator found;
  HEDDLE_TRY(tool::find(pe_session, *handle, &found));
  tool::drop(tool::state(), found);
  *handle = MPI_T_PVAR_HANDLE_NULL;
  return Status::ok();
}

Status t_pvar_start(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return tool::on_counters(pe_session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, "started or stopped", tool::start);
}

Status t_pvar_stop(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return tool::on_counters(pe_session, handle, MPI_T_ERR_PVAR_NO_STARTSTOP, "started or stopped", tool::stop);
}

Status t_pvar_read(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  Handles::iterator found;
  HEDDLE_TRY(tool::find(pe_session, handle, &found));
  HEDDLE_TRY(tool::check_object(tool::variable_of(found->second), found->second.comm));
  std::vector<unsigned long> now(found->second.sum.size());
  tool::look(found->second, now);
  tool::copy_out(tool::value_at(found->second, now), buf);
  return Status::ok();
}

Status t_pvar_write(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, const void* buf) {
  Handles::iterator found;
  HEDDLE_TRY(tool::find(pe_session, handle, &found));
  tool::PvarHandle& one = found->second;
  if (!tool::variable_of(one).is_counter()) return tool::refuse(MPI_T_ERR_PVAR_NO_WRITE, one, "written");
  HEDDLE_TRY(tool::check_object(tool::variable_of(one), one.comm));
  std::vector<unsigned long> value(one.sum.size()), now(one.sum.size());
  std::memcpy(value.data(), buf, value.size() * sizeof value[0]);
  tool::look(one, now);
  tool::set(one, std::move(value), std::move(now));
  return Status::ok();
}

Status t_pvar_reset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle) {
  return tool::on_counters(pe_session, handle, MPI_T_ERR_PVAR_NO_WRITE, "reset", tool::reset);
}

// What is counted between a read and a reset would be lost; so both are of the same look at the VCIs.
Status t_pvar_readreset(MPI_T_pvar_session pe_session, MPI_T_pvar_handle handle, void* buf) {
  Handles::iterator found;
  HEDDLE_TRY(tool::find(pe_session, handle, &found));
  tool::PvarHandle& one = found->second;
  if (!tool::variable_of(one).is_counter()) {
    return tool::refuse(MPI_T_ERR_PVAR_NO_ATOMIC, one, "read and reset in one");
  }
  HEDDLE_TRY(tool::check_object(tool::variable_of(one), one.comm));
  std::vector<unsigned long> zero(one.sum.size()), now(one.sum.size());
  tool::look(one, now);
  tool::copy_out(tool::value_at(one, now), buf);
  tool::set(one, std::move(zero), std::move(now));
  return Status::ok();
}

}  // namespace heddle::api
