#include "wire/watched.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>

namespace heddle::wire {

void Watched::start(Waker& waker, ProcessId self, const SipKey& key) {
  waker_ = &waker;
  self_ = self;
  key_ = key;
}

bool Watched::adopt(int fd, const WatchFrame& first) {
  if (!first.is_for(self_, key_) || first.kind != WatchFrame::kAsk) return false;
  std::lock_guard lock(mutex_);
  // One that has lost its connection asks again, and so does anybody who has overheard its question: neither closes what is
  // there, for that would be taken for this process's end.
  const auto same = std::ranges::count_if(guests_, [&](const auto& g) { return g.second.source == first.source; });
  const Guest guest{first.source, first.number, {}};
  const bool full = guests_.size() >= kMostGuests || same >= kMostOfOne;
  if (full || !waker_->watch(fd, true, [this, fd] { on_question(fd); })) {
    say(fd, guest, away_ ? WatchFrame::kAway : WatchFrame::kFull);
    close(fd);
    return true;
  }
  guests_.emplace(fd, guest);
  say(fd, guest, away_ ? WatchFrame::kAway : WatchFrame::kHere);
  return true;
}

void Watched::on_question(int fd) {
  std::lock_guard lock(mutex_);
  const auto found = guests_.find(fd);
  if (found == guests_.end()) return;
  Guest& guest = found->second;
  for (int reason = 0;;) {
    switch (guest.input.receive(fd, &reason)) {
      case WatchInput::Got::kNothing:
        return;
      case WatchInput::Got::kEnd:
        return send_away(found);
      case WatchInput::Got::kFrame:
        break;
    }
    const WatchFrame& frame = guest.input.frame;
    if (!frame.is_for(self_, key_) || frame.kind != WatchFrame::kAsk || frame.source != guest.source) {
      ++strangers_;
      return send_away(found);
    }
    guest.number = frame.number;
    say(fd, guest, away_ ? WatchFrame::kAway : WatchFrame::kHere);
  }
}

// One who does not read has no room after some thousand frames, and needs none.
void Watched::say(int fd, const Guest& guest, std::uint32_t kind) noexcept {
  WatchFrame frame;
  frame.source = self_;
  frame.target = guest.source;
  frame.number = guest.number;
  frame.kind = kind;
  int reason = 0;
  send_watch_frame(fd, frame, key_, &reason);
}

void Watched::send_away(std::map<int, Guest>::iterator guest) {
  waker_->forget(guest->first);
  close(guest->first);
  guests_.erase(guest);
}

void Watched::set_away(bool away) noexcept {
  std::lock_guard lock(mutex_);
  if (away_ == away) return;
  away_ = away;
  for (const auto& [fd, guest] : guests_) say(fd, guest, away ? WatchFrame::kAway : WatchFrame::kHere);
}

void Watched::close_all() noexcept {
  set_away(true);
  std::lock_guard lock(mutex_);
  for (auto& [fd, guest] : guests_) {
    // To close what has not been read would break the connection, and the goodbye with it.
    shutdown(fd, SHUT_WR);
    for (int reason = 0; guest.input.receive(fd, &reason) == WatchInput::Got::kFrame;) {
    }
    close(fd);
  }
  guests_.clear();
}

std::size_t Watched::guests() noexcept {
  std::lock_guard lock(mutex_);
  return guests_.size();
}

}  // namespace heddle::wire
