// Events: their types, the one source that they come from, registrations, and what a callback may ask of its instance.
#include "tool/event.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include "base/clock.hpp"
#include "mpi/handle.hpp"
#include "mpi/info.hpp"
#include "tool/api.hpp"
#include "tool/text.hpp"

namespace heddle::tool {
namespace {

constexpr int kUser = MPI_T_VERBOSITY_USER_BASIC, kDetail = MPI_T_VERBOSITY_USER_DETAIL;

constexpr EventType kTypes[] = {
    {"message_unexpected", "matching", kDetail, 4,
     "a message came before its receive was posted: VCI, source in its communicator, tag, bytes"},
    {"flow_disabled", "messages", kUser, 1,
     "as many unexpected messages are kept as may be, so senders hold theirs: VCI"},
    {"flow_bytes_disabled", "messages", kUser, 1,
     "as many bytes of unexpected messages are kept as may be, so senders keep payloads: VCI"},
    {"process_lost", "communicators", kUser, 1,
     "a process of the job has died, or is cut off: its rank in mpi://WORLD"},
    {"vci_shared", "threads", kUser, 1,
     "a communicator or window found no VCI free, and uses one that others use too: VCI"},
};
static_assert(std::size(kTypes) == vci::kEvents);

constexpr const char* kSource = "process";
constexpr MPI_Count kTicks = 1'000'000'000;

Status check_source(int index) { return check_index("source_index", index, 1); }

using Place = std::map<std::uintptr_t, Registration>::iterator;

Status find(MPI_T_event_registration handle, Place* out) {
  *out = state().registrations.find(number_of(handle));
  if (*out != state().registrations.end() && !(*out)->second.freed) return Status::ok();
  return error(MPI_T_ERR_INVALID_HANDLE, "event_registration is no live handle: it was freed, or never was one");
}

Status find(MPI_T_event_instance instance) {
  if (state().instance != 0 && number_of(instance) == state().instance) return Status::ok();
  return error(MPI_T_ERR_INVALID_HANDLE,
               "event_instance is no live handle: it is one only while the callback runs that was given it");
}

Status level_of(MPI_T_cb_safety safety, std::size_t* level) {
  switch (safety) {
    case MPI_T_CB_REQUIRE_NONE:
      *level = 0;
      return Status::ok();
    case MPI_T_CB_REQUIRE_MPI_RESTRICTED:
      *level = 1;
      return Status::ok();
    case MPI_T_CB_REQUIRE_THREAD_SAFE:
      *level = 2;
      return Status::ok();
    case MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE:
      *level = 3;
      return Status::ok();
  }
  return error(MPI_T_ERR_INVALID, "cb_safety is %d; it must be one of MPI_T_CB_REQUIRE_*", static_cast<int>(safety));
}

// There are no hints for events, so none is in force.
Status give_no_hints(MPI_Info* out) {
  mpi::Info* made = mpi::take_info({});
  if (made == nullptr) return error(MPI_T_ERR_MEMORY, "no memory for an info object");
  *out = mpi::to_handle(made);
  return Status::ok();
}

int values_of(const vci::Occurrence& one) noexcept { return kTypes[static_cast<std::size_t>(one.event)].values; }

void copy_out(const vci::Occurrence& one, int first, int count, void* buffer) noexcept {
  static_assert(sizeof(MPI_Count) == sizeof one.values[0]);
  std::memcpy(buffer, &one.values[static_cast<std::size_t>(first)],
              static_cast<std::size_t>(count) * sizeof(MPI_Count));
}

}  // namespace

std::span<const EventType> event_types() noexcept { return kTypes; }

}  // namespace heddle::tool

namespace heddle::api {

using tool::number_of;
using tool::Registration;

Status t_source_get_num(int* num_sources) {
  *num_sources = 1;
  return Status::ok();
}

Status t_source_get_info(int source_index, char* name, int* name_len, char* desc, int* desc_len,
                         MPI_T_source_order* ordering, MPI_Count* ticks_per_second, MPI_Count* max_ticks,
                         MPI_Info* info) {
  HEDDLE_TRY(tool::check_source(source_index));
  tool::give_text(tool::kSource, name, name_len);
  tool::give_text("what happens in this process, by its monotonic clock", desc, desc_len);
  tool::give(MPI_T_SOURCE_ORDERED, ordering);
  tool::give(tool::kTicks, ticks_per_second);
  tool::give(std::numeric_limits<MPI_Count>::max(), max_ticks);
  return info != nullptr ? tool::give_no_hints(info) : Status::ok();
}

Status t_source_get_timestamp(int source_index, MPI_Count* timestamp) {
  HEDDLE_TRY(tool::check_source(source_index));
  *timestamp = now_ns();
  return Status::ok();
}

Status t_event_get_num(int* num_events) {
  *num_events = static_cast<int>(tool::event_types().size());
  return Status::ok();
}

Status t_event_get_info(int event_index, char* name, int* name_len, int* verbosity, MPI_Datatype array_of_datatypes[],
                        MPI_Aint array_of_displacements[], int* num_elements, MPI_T_enum* enumtype, MPI_Info* info,
                        char* desc, int* desc_len, int* bind) {
  HEDDLE_TRY(tool::check_index("event_index", event_index, tool::event_types().size()));
  const tool::EventType& type = tool::event_types()[static_cast<std::size_t>(event_index)];
  tool::give_text(type.name, name, name_len);
  tool::give_text(type.meaning, desc, desc_len);
  tool::give(type.verbosity, verbosity);
  if (num_elements != nullptr) {
    for (int i = 0; i < std::min(*num_elements, type.values); ++i) {
      if (array_of_datatypes != nullptr) array_of_datatypes[i] = MPI_COUNT;
      if (array_of_displacements != nullptr) array_of_displacements[i] = i * MPI_Aint{sizeof(MPI_Count)};
    }
    *num_elements = type.values;
  }
  tool::give(MPI_T_ENUM_NULL, enumtype);
  tool::give(int{MPI_T_BIND_NO_OBJECT}, bind);
  return info != nullptr ? tool::give_no_hints(info) : Status::ok();
}

Status t_event_get_index(const char* name, int* event_index) {
  return tool::find_name("event type", name, tool::event_types(), event_index);
}

Status t_event_handle_alloc(int event_index, void*, MPI_Info, MPI_T_event_registration* event_registration) {
  HEDDLE_TRY(tool::check_index("event_index", event_index, tool::event_types().size()));
  tool::State& state = tool::state();
  state.registrations[state.next].type = event_index;
  *event_registration = tool::to_handle<MPI_T_event_registration>(state.next++);
  return Status::ok();
}

Status t_event_handle_set_info(MPI_T_event_registration event_registration, MPI_Info) {
  tool::Place place;
  return tool::find(event_registration, &place);
}

Status t_event_handle_get_info(MPI_T_event_registration event_registration, MPI_Info* info_used) {
  tool::Place place;
  HEDDLE_TRY(tool::find(event_registration, &place));
  return tool::give_no_hints(info_used);
}

// The function that is told of the end may call this interface, so it is called without the lock.
Status t_event_handle_free(MPI_T_event_registration event_registration, void* user_data,
                           MPI_T_event_free_cb_function* free_cb_function) NO_THREAD_SAFETY_ANALYSIS {
  tool::Place place;
  HEDDLE_TRY(tool::find(event_registration, &place));
  tool::State& state = tool::state();
  Registration& one = place->second;
  one.freed = true;
  one.on_free = free_cb_function;
  one.free_data = user_data;
  tool::listen_for_registrations(state);
  if (one.calls != 0) return Status::ok();
  state.registrations.erase(place);
  if (free_cb_function == nullptr) return Status::ok();
  state.lock.unlock();
  free_cb_function(event_registration, MPI_T_CB_REQUIRE_NONE, user_data);
  state.lock.lock();
  return Status::ok();
}

Status t_event_register_callback(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info,
                                 void* user_data, MPI_T_event_cb_function* event_cb_function) {
  tool::Place place;
  HEDDLE_TRY(tool::find(event_registration, &place));
  std::size_t level;
  HEDDLE_TRY(tool::level_of(cb_safety, &level));
  Registration& one = place->second;
  if (std::ranges::all_of(one.callbacks, [](const auto& c) { return c.function == nullptr; })) {
    one.since = now_ns();
  }
  one.callbacks[level] = {event_cb_function, user_data};
  tool::listen_for_registrations(tool::state());
  return Status::ok();
}

Status t_event_callback_set_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety, MPI_Info) {
  tool::Place place;
  HEDDLE_TRY(tool::find(event_registration, &place));
  std::size_t level;
  return tool::level_of(cb_safety, &level);
}

Status t_event_callback_get_info(MPI_T_event_registration event_registration, MPI_T_cb_safety cb_safety,
                                 MPI_Info* info_used) {
  HEDDLE_TRY(t_event_callback_set_info(event_registration, cb_safety, MPI_INFO_NULL));
  return tool::give_no_hints(info_used);
}

Status t_event_set_dropped_handler(MPI_T_event_registration event_registration,
                                   MPI_T_event_dropped_cb_function* dropped_cb_function) {
  tool::Place place;
  HEDDLE_TRY(tool::find(event_registration, &place));
  place->second.on_dropped = dropped_cb_function;
  return Status::ok();
}

Status t_event_read(MPI_T_event_instance event_instance, int element_index, void* buffer) {
  HEDDLE_TRY(tool::find(event_instance));
  const vci::Occurrence& one = tool::state().occurrence;
  HEDDLE_TRY(tool::check_index("element_index", element_index, static_cast<std::size_t>(tool::values_of(one))));
  tool::copy_out(one, element_index, 1, buffer);
  return Status::ok();
}

Status t_event_copy(MPI_T_event_instance event_instance, void* buffer) {
  HEDDLE_TRY(tool::find(event_instance));
  const vci::Occurrence& one = tool::state().occurrence;
  tool::copy_out(one, 0, tool::values_of(one), buffer);
  return Status::ok();
}

Status t_event_get_timestamp(MPI_T_event_instance event_instance, MPI_Count* event_timestamp) {
  HEDDLE_TRY(tool::find(event_instance));
  *event_timestamp = tool::state().occurrence.time;
  return Status::ok();
}

Status t_event_get_source(MPI_T_event_instance event_instance, int* source_index) {
  HEDDLE_TRY(tool::find(event_instance));
  *source_index = 0;
  return Status::ok();
}

}  // namespace heddle::api
