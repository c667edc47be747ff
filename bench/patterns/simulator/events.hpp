// What comes to pass in the simulated machine, in the order of time.
//
// Threads: none.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace heddle::patterns {

enum class What : std::uint8_t {
  kStep,    // a rank goes on
  kArrive,  // a message's first byte, or its announcement, is at the receiver's interface
  kMatch,   // it is there as a whole
  kAsked,   // the sender of an announced message is asked for its data
  kData,    // the first byte of that data is at the receiver's interface
};

struct Event {
  double time;
  std::uint64_t number;  // ties are kept in order
  What what;
  std::int32_t rank;      // of a step
  std::uint32_t message;  // of the others

  bool operator>(const Event& other) const noexcept {
    return time != other.time ? time > other.time : number > other.number;
  }
};

class Events {
 public:
  double now() const noexcept { return now_; }
  bool empty() const noexcept { return events_.empty(); }

  void at(double time, What what, std::int32_t rank, std::uint32_t message = 0) {
    events_.push({time, next_number_++, what, rank, message});
  }
  // The next, at which time now is. REQUIRES: not empty.
  Event take() {
    const Event event = events_.top();
    events_.pop();
    now_ = event.time;
    return event;
  }

 private:
  double now_ = 0;
  std::uint64_t next_number_ = 0;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace heddle::patterns
