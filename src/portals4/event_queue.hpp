// An event queue: the newest `count` events.
//
// Problem: a full queue must lose something, and say so; but a portal table entry with flow control may lose nothing.
// Method:  the oldest event goes for a new one. Flow control asks for room before a message is taken, and reserves it. The
//          event that says that an entry was disabled takes no room and never goes: there is one for each time that the
//          program has enabled the entry.
// Threads: the holder of the interface's lock.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "portals4.h"

namespace heddle::portals4 {

class EventQueue {
 public:
  explicit EventQueue(std::size_t count) : count_(count) {}

  bool has_room(std::size_t events) const { return events_.size() - disabled_ + reserved_ + events <= count_; }
  void reserve(std::size_t events) { reserved_ += events; }
  void give_back(std::size_t events) { reserved_ -= events; }

  void post(const ptl_event_t& event) {
    if (!has_room(1)) {
      const auto oldest =
          std::ranges::find_if(events_, [](const ptl_event_t& e) { return e.type != PTL_EVENT_PT_DISABLED; });
      if (oldest != events_.end()) {
        events_.erase(oldest);
        dropped_ = true;
      }
    }
    events_.push_back(event);
  }
  void post_disabled(const ptl_event_t& event) {
    ++disabled_;
    events_.push_back(event);
  }

  // PTL_OK, PTL_EQ_DROPPED or PTL_EQ_EMPTY.
  int take(ptl_event_t* event) {
    if (events_.empty()) return PTL_EQ_EMPTY;
    *event = events_.front();
    events_.pop_front();
    if (event->type == PTL_EVENT_PT_DISABLED) --disabled_;
    const int code = dropped_ ? PTL_EQ_DROPPED : PTL_OK;
    dropped_ = false;
    return code;
  }

 private:
  const std::size_t count_;
  std::size_t reserved_ = 0;
  std::size_t disabled_ = 0;  // events that say so
  bool dropped_ = false;
  std::deque<ptl_event_t> events_;
};

}  // namespace heddle::portals4
