#include "channel.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace heddle::launcher {

Status Channel::open(Fd in, Fd out) {
  in_ = std::move(in);
  out_ = std::move(out);
  fcntl(in_.get(), F_SETFL, O_NONBLOCK);
  fcntl(out_.get(), F_SETFL, O_NONBLOCK);
  return loop_.watch(in_.get(), EPOLLIN, [this] { read_once(); });
}

void Channel::close() {
  if (!in_.is_open()) return;
  *alive_ = false;
  loop_.forget(in_.get());
  if (waiting_) loop_.forget(out_.get());
  in_.reset();
  out_.reset();
}

void Channel::fail(const std::string& why) {
  close();
  listener_.on_closed(why);
}

void Channel::read_available() {
  while (in_.is_open() && read_once()) {
  }
}

bool Channel::read_once() {
  static char bytes[65536];  // not on the stack: a small 'ulimit -s' is for the ranks
  const ssize_t n = read(in_.get(), bytes, sizeof bytes);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {
    fail(n == 0 ? "" : std::strerror(errno));
    return false;
  }
  heard_ = Clock::now();
  excused_ = false;
  take({bytes, static_cast<std::size_t>(n)});
  return true;
}

void Channel::take(std::string_view bytes) {
  if (!greeted_) {
    greeted_ = listener_.on_greeting(bytes);
    if (!greeted_) return;
  }
  decoder_.append(bytes);
  if (taking_) return;  // a listener reads on; what it finds is handled below, in order
  taking_ = true;
  Frame frame;
  Status status;
  while (in_.is_open() && decoder_.next(frame, status)) {
    if (frame.type != FrameType::kBeat) listener_.on_frame(frame);
  }
  taking_ = false;
  if (!status) fail(last_error_detail());
}

void Channel::send_bytes(std::string_view bytes) {
  if (!out_.is_open()) return;
  unsent_ += bytes;
  if (!waiting_) write_some();
}

void Channel::write_some() {
  while (sent_ < unsent_.size()) {
    const ssize_t n = write(out_.get(), unsent_.data() + sent_, unsent_.size() - sent_);
    if (n >= 0) {
      sent_ += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      break;
    } else if (errno != EINTR) {
      sent_ = unsent_.size();  // nobody reads; the other descriptor will say so
    }
  }
  const bool done = sent_ == unsent_.size();
  if (done || sent_ > (1 << 20)) {
    unsent_.erase(0, sent_);
    sent_ = 0;
  }
  if (done && waiting_) loop_.forget(out_.get());
  if (!done && !waiting_) loop_.watch(out_.get(), EPOLLOUT, [this] { write_some(); }).ignore();
  waiting_ = !done;
}

void Channel::drain(std::chrono::milliseconds limit) {
  const auto end = Clock::now() + limit;
  while (out_.is_open() && sent_ < unsent_.size()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    pollfd p{out_.get(), POLLOUT, 0};
    if (left <= 0 || poll(&p, 1, static_cast<int>(left)) <= 0) return;
    write_some();
  }
}

void Channel::watch_silence(std::chrono::seconds limit) {
  limit_ = limit;
  interval_ = std::min<std::chrono::milliseconds>(limit_ / 4, std::chrono::seconds(1));
  heard_ = last_beat_ = Clock::now();
  beat();
}

bool Channel::misses_beats() const noexcept {
  return is_open() && limit_.count() != 0 && !excused_ && Clock::now() - heard_ > 2 * interval_;
}

void Channel::beat() {
  const auto now = Clock::now();
  if (const auto late = now - last_beat_ - interval_; late > interval_) heard_ += late;  // it was we who slept
  last_beat_ = now;
  const auto silent_at = heard_ + limit_;
  if (!excused_ && now >= silent_at) return listener_.on_silent();
  send(FrameType::kBeat);
  loop_.at(silent_at > now ? std::min(now + interval_, silent_at) : now + interval_, [this, alive = alive_] {
    if (*alive) beat();
  });
}

}  // namespace heddle::launcher
