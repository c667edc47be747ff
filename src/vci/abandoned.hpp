// Requests that their owner let go before they were complete: the last user of the library waits for them.
//
// Threads: any.
// Cost:    a lock for each, twice.
#pragma once

#include <cstdint>
#include <mutex>

namespace heddle::vci {

struct Abandoned {
  // A process is lost. Removes nobody; what it completes is removed later.
  void (*on_loss)(Abandoned&);
  Abandoned* next;
  Abandoned** place;  // what points here; null: on no list
};

class AbandonedList {
 public:
  bool empty() const noexcept {
    std::lock_guard guard(mutex_);
    return first_ == nullptr;
  }
  void add(Abandoned& one) noexcept {
    std::lock_guard guard(mutex_);
    one.next = first_;
    one.place = &first_;
    if (first_ != nullptr) first_->place = &one.next;
    first_ = &one;
  }
  void remove(Abandoned& one) noexcept {
    std::lock_guard guard(mutex_);
    if (one.place == nullptr) return;
    *one.place = one.next;
    if (one.next != nullptr) one.next->place = one.place;
    one.place = nullptr;
  }
  void tell_of_loss() noexcept {
    std::lock_guard guard(mutex_);
    for (Abandoned* one = first_; one != nullptr; one = one->next) one->on_loss(*one);
  }

 private:
  mutable std::mutex mutex_;
  Abandoned* first_ = nullptr;
};

}  // namespace heddle::vci
