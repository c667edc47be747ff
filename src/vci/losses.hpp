// Which processes of the job are lost: dead, or cut off for good.
//
// Order:   a loss is noted, then what the lost process has sent is handled, then it is published: from then on the answers
//          below know of it.
// Threads: any; one at a time adds and publishes. count() costs a load, the rest takes a lock and is for after a loss.
#pragma once

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "wire/types.hpp"

namespace heddle::vci {

class Losses {
 public:
  std::uint32_t count() const noexcept { return count_.load(std::memory_order_acquire); }
  bool has(wire::ProcessId process) const {
    std::lock_guard guard(mutex_);
    return find(process) < lost_.begin() + count_.load(std::memory_order_relaxed);
  }
  // Also before it is published.
  bool is_noted(wire::ProcessId process) const {
    std::lock_guard guard(mutex_);
    return find(process) != lost_.end();
  }
  // What is known of it; empty: it is not lost.
  std::string why(wire::ProcessId process) const {
    std::lock_guard guard(mutex_);
    const auto found = find(process);
    return found == lost_.end() ? "" : found->second;
  }
  // True: this is news.
  bool add(wire::ProcessId process, std::string why) {
    std::lock_guard guard(mutex_);
    if (find(process) != lost_.end()) return false;
    lost_.emplace_back(process, std::move(why));
    return true;
  }
  void publish() noexcept { count_.fetch_add(1, std::memory_order_release); }

 private:
  using List = std::vector<std::pair<wire::ProcessId, std::string>>;
  List::const_iterator find(wire::ProcessId process) const {
    return std::ranges::find(lost_, process, &List::value_type::first);
  }

  std::atomic<std::uint32_t> count_{0};
  mutable std::mutex mutex_;  // guards:
  List lost_;
};

}  // namespace heddle::vci
