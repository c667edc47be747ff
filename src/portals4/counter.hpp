// A counting event, and the operations that wait for it.
//
// Threads: the holder of the interface's lock.
// Cost:    a count is an addition and a look at the first of those that wait; these are ordered by threshold, and among
//          equals by when they came.
#pragma once

#include <functional>
#include <map>
#include <utility>

#include "portals4.h"

namespace heddle::portals4 {

class Interface;

struct Triggered {
  std::function<void(Interface&)> fire;
  std::function<void(Interface&)> cancel;  // may be empty
};

class Counter {
 public:
  ptl_ct_event_t value{0, 0};

  // What PtlCTWait and PtlCTPoll wait for.
  bool has_reached(ptl_size_t test) const { return value.success >= test || value.failure != 0; }

  void add(ptl_size_t threshold, Triggered operation) { waiting_.emplace(threshold, std::move(operation)); }
  // The next that may go, taken off the list. False: there is none.
  bool take_ready(Triggered* out) {
    const auto first = waiting_.begin();
    if (first == waiting_.end() || first->first > value.success + value.failure) return false;
    *out = std::move(first->second);
    waiting_.erase(first);
    return true;
  }
  bool take_any(Triggered* out) {
    if (waiting_.empty()) return false;
    *out = std::move(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
    return true;
  }

 private:
  std::multimap<ptl_size_t, Triggered> waiting_;
};

}  // namespace heddle::portals4
