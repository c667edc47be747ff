#include "tool/state.hpp"

#include "tool/api.hpp"
#include "tool/event.hpp"
#include "tool/pvar.hpp"

namespace heddle::tool {

State& state() noexcept {
  static State& the_state = *new State;
  return the_state;
}

}  // namespace heddle::tool

namespace heddle::api {

// Every procedure takes the lock, so any level of threads is as good as another.
Status t_init_thread(int required, int* provided) {
  if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) {
    return error(MPI_T_ERR_INVALID, "required = %d is no thread level; say MPI_THREAD_SINGLE, ..., MPI_THREAD_MULTIPLE",
                 required);
  }
  ++tool::state().users;
  *provided = required;
  return Status::ok();
}

Status t_finalize() {
  tool::State& state = tool::state();
  if (--state.users != 0) return Status::ok();
  while (!state.pvar_handles.empty()) tool::drop(state, state.pvar_handles.begin());
  state.sessions.clear();
  state.cvar_handles.clear();
  state.registrations.clear();
  tool::listen_for_registrations(state);
  return Status::ok();
}

}  // namespace heddle::api
