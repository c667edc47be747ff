// PtlInit to PtlAbort, network interfaces, maps and identities, bundles.
#include <algorithm>
#include <mutex>
#include <string>

#include "boot/boot.hpp"
#include "portals4/call.hpp"

namespace heddle::portals4 {
namespace {

std::mutex init_mutex;  // guards:
int init_count = 0;
bool was_finished = false;

// Which of the four; kInterfaces: no such one.
std::uint32_t interface_for(unsigned options) {
  const unsigned matching = options & (PTL_NI_MATCHING | PTL_NI_NO_MATCHING);
  const unsigned naming = options & (PTL_NI_LOGICAL | PTL_NI_PHYSICAL);
  if ((matching | naming) != options || matching == 0 || naming == 0 || (matching & (matching - 1)) != 0 ||
      (naming & (naming - 1)) != 0) {
    return kInterfaces;
  }
  return (matching == PTL_NI_MATCHING ? 0 : 1) + (naming == PTL_NI_LOGICAL ? 0 : 2);
}

// The job gives them out.
int check_pid(const Library& library, ptl_pid_t pid) {
  if (pid == PTL_PID_ANY || pid == library.self()) return PTL_OK;
  return pid < library.nodes().size() ? PTL_PID_IN_USE : PTL_ARG_INVALID;
}

bool is_empty(const Interface& interface) { return interface.users == 0; }

}  // namespace
}  // namespace heddle::portals4

using namespace heddle::portals4;

PORTALS4_PUBLIC int PtlInit() {
  std::lock_guard lock(init_mutex);
  if (init_count == 0) {
    if (was_finished) {
      heddle::boot::write_message("heddle: PtlInit was called after the last PtlFini; a process joins its job once");
      return PTL_FAIL;
    }
    auto library = std::make_unique<Library>();
    if (!library->start()) {
      heddle::boot::write_message(std::string("heddle: PtlInit: ") + heddle::last_error_detail());
      return PTL_FAIL;
    }
    Library::set(library.release());
  }
  ++init_count;
  return PTL_OK;
}

PORTALS4_PUBLIC void PtlFini() {
  std::lock_guard lock(init_mutex);
  if (init_count == 0 || --init_count != 0) return;
  const std::unique_ptr<Library> library(Library::get());
  library->finish();
  Library::set(nullptr);
  was_finished = true;
}

PORTALS4_PUBLIC void PtlAbort() {
  if (Library* const library = Library::get()) library->abort();
}

PORTALS4_PUBLIC int PtlNIInit(ptl_interface_t iface, unsigned options, ptl_pid_t pid, const ptl_ni_limits_t* desired,
                              ptl_ni_limits_t* actual, ptl_handle_ni_t* handle) {
  Library* const library = Library::get();
  if (library == nullptr) return PTL_NO_INIT;
  const std::uint32_t index = interface_for(options);
  if ((iface != PTL_IFACE_DEFAULT && iface != 0) || index == kInterfaces || handle == nullptr) return PTL_ARG_INVALID;
  if (const int code = check_pid(*library, pid); code != PTL_OK) return code;
  std::lock_guard lock(init_mutex);
  return library->locked(index, [&](Interface* interface) {
    if (interface == nullptr) {
      Port& port = library->port(index);
      port.interface() = std::make_unique<Interface>(port, options, port.next_generation(), desired, library->self(),
                                                     library->nodes());
      interface = port.interface().get();
    } else {
      ++interface->users;
    }
    if (actual != nullptr) *actual = interface->limits;
    *handle = interface->handle;
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlNIFini(ptl_handle_ni_t handle) {
  const int code = with_interface(handle, [](Interface& interface) -> int {
    --interface.users;
    return PTL_OK;
  });
  if (code != PTL_OK) return code;
  // Messages may still read the program's memory.
  Library& library = *Library::get();
  const std::uint32_t index = interface_of(handle);
  return *library.wait(index, PTL_TIME_FOREVER, [&](Interface* interface) -> std::optional<int> {
    if (interface == nullptr || interface->handle != handle || !is_empty(*interface)) return PTL_OK;
    Port& port = library.port(index);
    if (!port.is_idle()) return std::nullopt;
    port.close_interface();
    port.note_change();
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlNIStatus(ptl_handle_ni_t handle, ptl_sr_index_t index, ptl_sr_value_t* status) {
  return with_interface(handle, [&](Interface& interface) -> int {
    if (static_cast<unsigned>(index) >= PTL_SR_LAST || status == nullptr) return PTL_ARG_INVALID;
    *status = interface.status[index];
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlNIHandle(ptl_handle_any_t handle, ptl_handle_ni_t* out) {
  return with(handle, [&](Interface& interface) -> int {
    if (out == nullptr) return PTL_ARG_INVALID;
    *out = interface.handle;
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlSetMap(ptl_handle_ni_t handle, ptl_size_t size, const ptl_process_t* mapping) {
  return with_interface(handle, [&](Interface& interface) -> int {
    if (!interface.is_logical() || size == 0 || mapping == nullptr) return PTL_ARG_INVALID;
    std::vector<heddle::wire::ProcessId> map;
    for (ptl_size_t rank = 0; rank < size; ++rank) {
      const auto process = interface.resolve_physical(mapping[rank]);
      if (!process) return PTL_ARG_INVALID;
      map.push_back(*process);
    }
    interface.map = std::move(map);
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlGetMap(ptl_handle_ni_t handle, ptl_size_t size, ptl_process_t* mapping, ptl_size_t* actual) {
  return with_interface(handle, [&](Interface& interface) -> int {
    if (!interface.is_logical() || (size != 0 && mapping == nullptr) || actual == nullptr) return PTL_ARG_INVALID;
    *actual = interface.map.size();
    const ptl_size_t count = std::min(size, *actual);
    for (ptl_size_t rank = 0; rank < count; ++rank) mapping[rank] = interface.physical(interface.map[rank]);
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlGetUid(ptl_handle_ni_t handle, ptl_uid_t* uid) {
  return with_interface(handle, [&](Interface& interface) -> int {
    if (uid == nullptr) return PTL_ARG_INVALID;
    *uid = interface.uid;
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlGetId(ptl_handle_ni_t handle, ptl_process_t* id) {
  return with_interface(handle, [&](Interface& interface) -> int {
    if (id == nullptr) return PTL_ARG_INVALID;
    *id = interface.identify(interface.self());
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlGetPhysId(ptl_handle_ni_t handle, ptl_process_t* id) {
  return with_interface(handle, [&](Interface& interface) -> int {
    if (id == nullptr) return PTL_ARG_INVALID;
    *id = interface.physical(interface.self());
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlHandleIsEqual(ptl_handle_any_t one, ptl_handle_any_t other) {
  return one == other ? PTL_OK : PTL_FAIL;
}

// Nothing is held back, so there is nothing to do but to count.
PORTALS4_PUBLIC int PtlStartBundle(ptl_handle_ni_t handle) {
  return with_interface(handle, [](Interface& interface) -> int {
    ++interface.bundles;
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlEndBundle(ptl_handle_ni_t handle) {
  return with_interface(handle, [](Interface& interface) -> int {
    if (interface.bundles == 0) return PTL_ARG_INVALID;
    --interface.bundles;
    return PTL_OK;
  });
}
