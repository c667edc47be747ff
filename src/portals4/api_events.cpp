// Event queues and counting events: what a program waits for.
#include <span>
#include <utility>

#include "portals4/call.hpp"

namespace heddle::portals4 {
namespace {

// Whether all handles name such objects of one interface.
template <Kind kKind>
int check_all(const ptl_handle_any_t* handles, unsigned size) {
  if (Library::get() == nullptr) return PTL_NO_INIT;
  if (handles == nullptr || size == 0) return PTL_ARG_INVALID;
  return with(handles[0], [&](Interface& interface) -> int {
    for (const ptl_handle_any_t handle : std::span(handles, size)) {
      if (kind_of(handle) != kKind || interface_of(handle) != interface_of(interface.handle) ||
          !interface.has(handle)) {
        return PTL_ARG_INVALID;
      }
    }
    return PTL_OK;
  });
}

// Waits for the first of the queues that has an event. The one to begin with moves on, so that none starves.
std::optional<int> take_event(const ptl_handle_eq_t* handles, unsigned size, ptl_time_t timeout, ptl_event_t* event,
                              unsigned* which) {
  static std::atomic<unsigned> turn{0};
  const unsigned first = turn.fetch_add(1, std::memory_order_relaxed) % size;
  return Library::get()->wait(interface_of(handles[0]), timeout, [&](Interface* interface) -> std::optional<int> {
    for (unsigned i = 0; i < size; ++i) {
      const unsigned at = (first + i) % size;
      const auto queue = interface == nullptr ? nullptr : interface->eqs.find(handles[at]);
      if (queue == nullptr) return PTL_INTERRUPTED;
      const int code = queue->take(event);
      if (code == PTL_EQ_EMPTY) continue;
      *which = at;
      return code;
    }
    return std::nullopt;
  });
}

std::optional<int> reach(const ptl_handle_ct_t* handles, const ptl_size_t* tests, unsigned size, ptl_time_t timeout,
                         ptl_ct_event_t* event, unsigned* which) {
  return Library::get()->wait(interface_of(handles[0]), timeout, [&](Interface* interface) -> std::optional<int> {
    for (unsigned i = 0; i < size; ++i) {
      const auto counter = interface == nullptr ? nullptr : interface->cts.find(handles[i]);
      if (counter == nullptr) return PTL_INTERRUPTED;
      if (!counter->has_reached(tests[i])) continue;
      *event = counter->value;
      *which = i;
      return PTL_OK;
    }
    return std::nullopt;
  });
}

// Whoever waits for what was freed is told.
int freed(Interface& interface) {
  interface.port().note_change();
  return PTL_OK;
}

}  // namespace
}  // namespace heddle::portals4

using namespace heddle::portals4;

PORTALS4_PUBLIC int PtlEQAlloc(ptl_handle_ni_t ni, ptl_size_t count, ptl_handle_eq_t* handle) {
  return with_interface(ni, [&](Interface& interface) -> int {
    if (count == 0 || handle == nullptr) return PTL_ARG_INVALID;
    return hand_out(interface.eqs, std::make_shared<EventQueue>(static_cast<std::size_t>(count)), handle);
  });
}

PORTALS4_PUBLIC int PtlEQFree(ptl_handle_eq_t handle) {
  return with(handle, [&](Interface& interface) -> int {
    if (interface.eqs.find(handle) == nullptr) return PTL_ARG_INVALID;
    interface.eqs.remove(handle);
    return freed(interface);
  });
}

PORTALS4_PUBLIC int PtlEQGet(ptl_handle_eq_t handle, ptl_event_t* event) {
  unsigned which;
  return PtlEQPoll(&handle, 1, 0, event, &which);
}

PORTALS4_PUBLIC int PtlEQWait(ptl_handle_eq_t handle, ptl_event_t* event) {
  unsigned which;
  return PtlEQPoll(&handle, 1, PTL_TIME_FOREVER, event, &which);
}

PORTALS4_PUBLIC int PtlEQPoll(const ptl_handle_eq_t* handles, unsigned size, ptl_time_t timeout, ptl_event_t* event,
                              unsigned* which) {
  if (const int code = check_all<Kind::kEventQueue>(handles, size); code != PTL_OK) return code;
  if (event == nullptr || which == nullptr) return PTL_ARG_INVALID;
  return take_event(handles, size, timeout, event, which).value_or(PTL_EQ_EMPTY);
}

PORTALS4_PUBLIC int PtlCTAlloc(ptl_handle_ni_t ni, ptl_handle_ct_t* handle) {
  return with_interface(ni, [&](Interface& interface) -> int {
    return handle == nullptr ? PTL_ARG_INVALID : hand_out(interface.cts, std::make_shared<Counter>(), handle);
  });
}

PORTALS4_PUBLIC int PtlCTFree(ptl_handle_ct_t handle) {
  return with_counter(handle, [&](Interface& interface, Counter& counter) -> int {
    interface.cancel_triggered(counter);
    interface.cts.remove(handle);
    return freed(interface);
  });
}

PORTALS4_PUBLIC int PtlCTCancelTriggered(ptl_handle_ct_t handle) {
  return with_counter(handle, [](Interface& interface, Counter& counter) -> int {
    interface.cancel_triggered(counter);
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlCTGet(ptl_handle_ct_t handle, ptl_ct_event_t* event) {
  const auto read = [&] {
    return with_counter(handle, [&](Interface&, Counter& counter) -> int {
      if (event == nullptr) return PTL_ARG_INVALID;
      *event = counter.value;
      return PTL_OK;
    });
  };
  if (const int code = read(); code != PTL_OK) return code;
  make_progress(handle);
  return read();
}

PORTALS4_PUBLIC int PtlCTWait(ptl_handle_ct_t handle, ptl_size_t test, ptl_ct_event_t* event) {
  unsigned which;
  return PtlCTPoll(&handle, &test, 1, PTL_TIME_FOREVER, event, &which);
}

PORTALS4_PUBLIC int PtlCTPoll(const ptl_handle_ct_t* handles, const ptl_size_t* tests, unsigned size,
                              ptl_time_t timeout, ptl_ct_event_t* event, unsigned* which) {
  if (const int code = check_all<Kind::kCounter>(handles, size); code != PTL_OK) return code;
  if (tests == nullptr || event == nullptr || which == nullptr) return PTL_ARG_INVALID;
  return reach(handles, tests, size, timeout, event, which).value_or(PTL_CT_NONE_REACHED);
}

PORTALS4_PUBLIC int PtlCTSet(ptl_handle_ct_t handle, ptl_ct_event_t to) {
  return with_counter(handle, [&](Interface& interface, Counter&) -> int {
    interface.set(handle, to);
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlCTInc(ptl_handle_ct_t handle, ptl_ct_event_t by) {
  return with_counter(handle, [&](Interface& interface, Counter&) -> int {
    if (by.success != 0 && by.failure != 0) return PTL_ARG_INVALID;
    interface.change(handle, by);
    return PTL_OK;
  });
}

PORTALS4_PUBLIC int PtlTriggeredCTInc(ptl_handle_ct_t handle, ptl_ct_event_t by, ptl_handle_ct_t trigger,
                                      ptl_size_t threshold) {
  return with_counter(handle, [&](Interface& interface, Counter&) -> int {
    if (by.success != 0 && by.failure != 0) return PTL_ARG_INVALID;
    return interface.trigger(trigger, threshold, {[=](Interface& self) { self.change(handle, by); }, {}});
  });
}

PORTALS4_PUBLIC int PtlTriggeredCTSet(ptl_handle_ct_t handle, ptl_ct_event_t to, ptl_handle_ct_t trigger,
                                      ptl_size_t threshold) {
  return with_counter(handle, [&](Interface& interface, Counter&) -> int {
    return interface.trigger(trigger, threshold, {[=](Interface& self) { self.set(handle, to); }, {}});
  });
}
