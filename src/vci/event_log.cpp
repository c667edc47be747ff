#include "vci/event_log.hpp"

#include <utility>

#include "base/clock.hpp"

namespace heddle::vci {

// The time is taken under the lock, so that what is taken first is what came first.
void EventLog::keep(Event event, std::array<std::int64_t, Occurrence::kValues> values) noexcept {
  LockGuard guard(lock_);
  if (count_ == kRoom) {
    ++dropped_[static_cast<std::size_t>(event)];
  } else {
    ring_[(first_ + count_++) % kRoom] = {event, now_ns(), values};
  }
  has_news_.store(true, std::memory_order_relaxed);
}

bool EventLog::take(Occurrence* oldest) noexcept {
  LockGuard guard(lock_);
  if (count_ == 0) {
    has_news_.store(false, std::memory_order_relaxed);
    return false;
  }
  *oldest = ring_[first_];
  first_ = (first_ + 1) % kRoom;
  --count_;
  return true;
}

std::uint64_t EventLog::take_dropped(Event event) noexcept {
  LockGuard guard(lock_);
  return std::exchange(dropped_[static_cast<std::size_t>(event)], 0);
}

}  // namespace heddle::vci
