// The types of events: one row each, in the order of vci::Event.
//
// An instance is so many values of MPI_COUNT in a row. They are kept by vci/event_log.hpp and told by whoever waits or
// tests in MPI next, with no lock held, one at a time and in the order of their times: so a callback may do whatever a
// program may, and of several that were registered for one type the one of the least safety is called (MPI 5.0, 15.3.8).
#pragma once

#include <span>

#include "tool/state.hpp"

namespace heddle::tool {

struct EventType {
  const char* name;
  const char* category;
  int verbosity;
  int values;
  const char* meaning;
};

std::span<const EventType> event_types() noexcept;

// What has a callback is noted from now on, the rest is not.
void listen_for_registrations(const State& state) noexcept;

}  // namespace heddle::tool
