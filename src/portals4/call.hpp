// What every function of the C interface begins with: is there a library, does the handle name something?
//
// Threads: any.
#pragma once

#include <memory>
#include <utility>

#include "portals4/library.hpp"

#define PORTALS4_PUBLIC extern "C" __attribute__((visibility("default")))

namespace heddle::portals4 {

// f(interface) for the interface of `handle`, which names something there: what it returns, PTL_NO_INIT or PTL_ARG_INVALID.
template <class F>
int with(ptl_handle_any_t handle, F&& f) {
  Library* const library = Library::get();
  if (library == nullptr) return PTL_NO_INIT;
  return library->locked(interface_of(handle), [&](Interface* interface) -> int {
    return interface != nullptr && interface->has(handle) ? f(*interface) : PTL_ARG_INVALID;
  });
}

// For the handle of an interface itself.
template <class F>
int with_interface(ptl_handle_ni_t handle, F&& f) {
  if (Library::get() == nullptr) return PTL_NO_INIT;
  return kind_of(handle) == Kind::kInterface ? with(handle, std::forward<F>(f)) : PTL_ARG_INVALID;
}

// f(interface, portal table entry)
template <class F>
int with_portal(ptl_handle_ni_t handle, ptl_pt_index_t index, F&& f) {
  return with_interface(handle, [&](Interface& interface) {
    PortalEntry* const portal = interface.portal(index);
    return portal == nullptr ? PTL_ARG_INVALID : f(interface, *portal);
  });
}

// f(interface, counter)
template <class F>
int with_counter(ptl_handle_ct_t handle, F&& f) {
  return with(handle, [&](Interface& interface) {
    const std::shared_ptr<Counter> counter = interface.cts.find(handle);
    return counter == nullptr ? PTL_ARG_INVALID : f(interface, *counter);
  });
}

inline bool is_none_or_in(const Interface& interface, ptl_handle_any_t handle, ptl_handle_any_t none, Kind kind) {
  return handle == none ||
         (kind_of(handle) == kind && interface_of(handle) == interface_of(interface.handle) && interface.has(handle));
}

// One round, so that a program that never waits gets on, too.
inline void make_progress(ptl_handle_any_t handle) {
  Library& library = *Library::get();
  library.domain().progress_once(library.port(interface_of(handle)).vci());
}

// Puts the object into its table and its handle where it is wanted.
template <class Slots, class T>
int hand_out(Slots& slots, std::shared_ptr<T> object, ptl_handle_any_t* out) {
  const ptl_handle_any_t handle = slots.add(std::move(object));
  if (handle == PTL_INVALID_HANDLE) return PTL_NO_SPACE;
  *out = handle;
  return PTL_OK;
}

}  // namespace heddle::portals4
