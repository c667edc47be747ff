// Events: there are none, and so no sources, no registrations and no instances. Every index and handle is a wrong one.
#include "tool/api.hpp"
#include "tool/text.hpp"

namespace heddle::tool {
namespace {

Status no_event(int index) { return check_index("event_index", index, 0); }
Status no_source(int index) { return check_index("source_index", index, 0); }
Status no_registration() {
  return error(MPI_T_ERR_INVALID_HANDLE, "event_registration is no live handle: there are no events to register for");
}
Status no_instance() {
  return error(MPI_T_ERR_INVALID_HANDLE, "event_instance is no live handle: no event has been raised");
}

}  // namespace
}  // namespace heddle::tool

namespace heddle::api {

Status t_source_get_num(int* num_sources) {
  *num_sources = 0;
  return Status::ok();
}
Status t_source_get_info(int source_index, char*, int*, char*, int*, MPI_T_source_order*, MPI_Count*, MPI_Count*,
                         MPI_Info*) {
  return tool::no_source(source_index);
}
Status t_source_get_timestamp(int source_index, MPI_Count*) { return tool::no_source(source_index); }

Status t_event_get_num(int* num_events) {
  *num_events = 0;
  return Status::ok();
}
Status t_event_get_info(int event_index, char*, int*, int*, MPI_Datatype[], MPI_Aint[], int*, MPI_T_enum*, MPI_Info*,
                        char*, int*, int*) {
  return tool::no_event(event_index);
}
Status t_event_get_index(const char* name, int*) { return tool::no_such_name("event type", name); }

Status t_event_handle_alloc(int event_index, void*, MPI_Info, MPI_T_event_registration*) {
  return tool::no_event(event_index);
}
Status t_event_handle_set_info(MPI_T_event_registration, MPI_Info) { return tool::no_registration(); }
Status t_event_handle_get_info(MPI_T_event_registration, MPI_Info*) { return tool::no_registration(); }
Status t_event_handle_free(MPI_T_event_registration, void*, MPI_T_event_free_cb_function*) {
  return tool::no_registration();
}
Status t_event_register_callback(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info, void*, MPI_T_event_cb_function*) {
  return tool::no_registration();
}
Status t_event_callback_set_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info) {
  return tool::no_registration();
}
Status t_event_callback_get_info(MPI_T_event_registration, MPI_T_cb_safety, MPI_Info*) {
  return tool::no_registration();
}
Status t_event_set_dropped_handler(MPI_T_event_registration, MPI_T_event_dropped_cb_function*) {
  return tool::no_registration();
}

Status t_event_read(MPI_T_event_instance, int, void*) { return tool::no_instance(); }
Status t_event_copy(MPI_T_event_instance, void*) { return tool::no_instance(); }
Status t_event_get_timestamp(MPI_T_event_instance, MPI_Count*) { return tool::no_instance(); }
Status t_event_get_source(MPI_T_event_instance, int*) { return tool::no_instance(); }

}  // namespace heddle::api
