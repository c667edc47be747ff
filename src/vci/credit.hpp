// What a lane may send of messages before it has to ask: the sending side of flow control.
//
// Problem: a message must not come where nothing is left to keep it; and to check that must cost nothing.
// Method:  the lane counts down. `ready` messages may go at once; the rest waits in `more`, so that the countdown ends where
//          something is to be done: the receiver is asked when half of what it lent is left, long before the lane is empty.
// Threads: the holder of the lane's lock.
// Cost:    a message counts down what would else be counted up.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "portals/flow.hpp"

namespace heddle::vci {

class LaneCredit {
 public:
  // Payloads up to so many bytes lie in the message's header at the receiver.
  static constexpr std::size_t kFree = 64;

  explicit LaneCredit(portals::Credit first) noexcept
      : ready_(first.headers), bytes_(first.bytes), window_(first), given_(first.headers) {}

  // The usual case: one message of at most kFree bytes.
  bool is_ready() const noexcept { return ready_ != 0; }
  void take_ready() noexcept { --ready_; }
  // Nothing is ready while operations are queued.
  void close() noexcept {
    more_ += ready_;
    ready_ = 0;
  }
  // Makes some ready; false: there is none.
  bool open() noexcept {
    ready_ = (more_ + 1) / 2;
    more_ -= ready_;
    return ready_ != 0;
  }

  std::uint32_t headers() const noexcept { return ready_ + more_; }
  std::uint32_t bytes() const noexcept { return bytes_; }
  void take_header() noexcept { more_ != 0 ? --more_ : --ready_; }
  void take_bytes(std::size_t n) noexcept { bytes_ -= static_cast<std::uint32_t>(n); }

  // Whether the receiver is to be asked.
  bool is_short() const noexcept {
    if (asked_) return false;
    return (headers() <= window_.headers / 2 && !no_headers_) || (bytes_ < window_.bytes / 2 && !no_bytes_);
  }
  // The same for one who has to wait for it: also when the last answer was no, but to another question.
  bool must_ask_for_headers() const noexcept { return !asked_ && (!no_headers_ || !asked_when_empty_); }
  // What to ask; the answer is awaited.
  void ask(portals::Credit* used, portals::Credit* left) noexcept {
    *left = {headers(), bytes_};
    *used = {lent_.headers - std::min(lent_.headers, left->headers), lent_.bytes - std::min(lent_.bytes, left->bytes)};
    lent_ = {lent_.headers - used->headers, lent_.bytes - used->bytes};
    asked_ = true;
    asked_when_empty_ = left->headers == 0;
  }
  // An answer, or what comes later because the answer was no.
  void grant(const portals::GrantPrefix& grant) noexcept {
    // What was asked meanwhile gets no answer.
    if (asked_ && (grant.refused & portals::kAnswer) == 0) asked_when_empty_ = false;
    asked_ = false;
    ++grants_;
    given_ += grant.credit.headers;
    more_ += grant.credit.headers;
    bytes_ += grant.credit.bytes;
    lent_ = {lent_.headers + grant.credit.headers, lent_.bytes + grant.credit.bytes};
    window_ = {std::max(window_.headers, headers()), std::max(window_.bytes, bytes_)};
    no_headers_ = (grant.refused & portals::kHeaders) != 0;
    no_bytes_ = (grant.refused & portals::kBytes) != 0;
  }

  // The receiver has said that it lends none now.
  bool is_refused() const noexcept { return no_headers_ && asked_when_empty_ && headers() == 0; }
  std::uint16_t grants() const noexcept { return grants_; }
  bool is_asked() const noexcept { return asked_; }
  bool has_no_bytes() const noexcept { return no_bytes_; }
  std::uint64_t taken() const noexcept { return given_ - headers(); }

 private:
  std::uint32_t ready_;
  std::uint32_t more_ = 0;
  std::uint32_t bytes_;
  portals::Credit lent_;      // of the receiver's, as it knows
  portals::Credit window_;    // the most that there was at once
  std::uint16_t grants_ = 0;  // seen
  bool asked_ = false;
  bool asked_when_empty_ = false;
  bool no_headers_ = false, no_bytes_ = false;
  std::uint64_t given_;  // headers, since the beginning
};

}  // namespace heddle::vci
