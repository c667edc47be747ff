// How what has happened gets to the callbacks of tools.
//
// Problem: a callback may read its event, free its own registration, register others, call MPI.
// Method:  the tool layer's lock is held to find out whom to call, not while calling. Whoever is called is looked up by number
//          again afterwards; a registration that is freed meanwhile goes when its last call has returned. One thread delivers at
//          a time; another one, or a callback that waits in MPI, leaves what there is to it.
// Threads: those that wait or test in MPI, with no lock held.
#include <algorithm>
#include <atomic>
#include <utility>

#include "mpi/counts.hpp"
#include "tool/event.hpp"

namespace heddle::tool {
namespace {

using vci::Event;
using vci::EventLog;
using vci::Occurrence;

constexpr MPI_T_cb_safety kSafety[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                       MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
static_assert(std::size(kSafety) == Registration::kLevels);

// The level of the callback that is called; kLevels: there is none.
std::size_t level_of(const Registration& one) noexcept {
  const auto first = std::ranges::find_if(one.callbacks, [](const auto& c) { return c.function != nullptr; });
  return static_cast<std::size_t>(first - one.callbacks.begin());
}

bool is_of(const Registration& one, Event event) noexcept { return one.type == static_cast<int>(event); }

// A call that has returned.
void returned(std::uintptr_t number) noexcept {
  Registration gone;
  {
    LockGuard guard(state().lock);
    const auto place = state().registrations.find(number);
    if (place == state().registrations.end()) return;  // with the last MPI_T_finalize
    if (--place->second.calls != 0 || !place->second.freed) return;
    gone = place->second;
    state().registrations.erase(place);
  }
  if (gone.on_free != nullptr) {
    gone.on_free(to_handle<MPI_T_event_registration>(number), MPI_T_CB_REQUIRE_NONE, gone.free_data);
  }
}

// Of the registrations after `*number`, the next one that `wants`, with one more call under way. False: there is none.
template <class Wants>
bool next(std::uintptr_t* number, Registration* copy, Wants&& wants) noexcept REQUIRES(state().lock) {
  auto& all = state().registrations;
  for (auto place = all.upper_bound(*number); place != all.end(); ++place) {
    if (place->second.freed || level_of(place->second) == Registration::kLevels || !wants(place->second)) continue;
    *number = place->first;
    ++place->second.calls;
    *copy = place->second;
    return true;
  }
  return false;
}

void deliver(const Occurrence& occurrence) noexcept {
  Registration one;
  for (std::uintptr_t number = 0;;) {
    std::uintptr_t instance;
    {
      LockGuard guard(state().lock);
      const auto wants = [&](const Registration& r) {
        return is_of(r, occurrence.event) && r.since <= occurrence.time;
      };
      if (!next(&number, &one, wants)) return;
      instance = state().instance = state().next++;
      state().occurrence = occurrence;
    }
    const std::size_t level = level_of(one);
    one.callbacks[level].function(to_handle<MPI_T_event_instance>(instance),
                                  to_handle<MPI_T_event_registration>(number), kSafety[level],
                                  one.callbacks[level].user_data);
    {
      LockGuard guard(state().lock);
      state().instance = 0;
    }
    returned(number);
  }
}

void tell_of_dropped(Event event, std::uint64_t count) noexcept {
  Registration one;
  for (std::uintptr_t number = 0;;) {
    {
      LockGuard guard(state().lock);
      const auto wants = [&](const Registration& r) { return is_of(r, event) && r.on_dropped != nullptr; };
      if (!next(&number, &one, wants)) return;
    }
    const std::size_t level = level_of(one);
    one.on_dropped(static_cast<MPI_Count>(count), to_handle<MPI_T_event_registration>(number), 0, kSafety[level],
                   one.callbacks[level].user_data);
    returned(number);
  }
}

void deliver_all() noexcept {
  static std::atomic<bool> at_it{false};
  if (at_it.exchange(true, std::memory_order_acquire)) return;
  EventLog& log = mpi::event_log();
  Occurrence occurrence;
  while (log.take(&occurrence)) deliver(occurrence);
  for (std::size_t i = 0; i < vci::kEvents; ++i) {
    const auto event = static_cast<Event>(i);
    if (const std::uint64_t count = log.take_dropped(event); count != 0) tell_of_dropped(event, count);
  }
  at_it.store(false, std::memory_order_release);
}

}  // namespace

void listen_for_registrations(const State& state) noexcept {
  std::uint32_t wanted = 0;
  for (const auto& [number, one] : state.registrations) {
    if (!one.freed && level_of(one) != Registration::kLevels) wanted |= 1u << one.type;
  }
  mpi::event_log().listen(deliver_all);
  mpi::event_log().want(wanted);
}

}  // namespace heddle::tool
