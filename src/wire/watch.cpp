#include "wire/watch.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "mpi.h"

namespace heddle::wire {
namespace {

constexpr int kAsksInTurn = 2;

std::int64_t now_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

bool read_place(const std::string& address, std::uint16_t port, sockaddr_in* out) {
  out->sin_family = AF_INET;
  out->sin_port = htons(port);
  return inet_pton(AF_INET, address.c_str(), &out->sin_addr) == 1;
}

}  // namespace

Watch::~Watch() {
  for (auto& [id, peer] : peers_) {
    if (peer.link != nullptr && peer.link->fd >= 0) close(peer.link->fd);
  }
  if (timer_ >= 0) close(timer_);
}

Status Watch::start(Waker& waker, WatchOptions options) {
  waker_ = &waker;
  options_ = std::move(options);
  ask_ms_ = std::min(kMostAskMs, options_.seconds * 1000 / 4);
  tick_ms_ = ask_ms_ / 2;
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer_ < 0) return error(MPI_ERR_OTHER, "cannot make a timer: %s", std::strerror(errno));
  return waker.watch(timer_, true, [this] { tick(); });
}

void Watch::know(ProcessId peer, const std::string& address, std::uint16_t port) {
  sockaddr_in at{};
  if (timer_ < 0 || port == 0 || !read_place(address, port, &at)) return;
  std::lock_guard lock(mutex_);
  peers_[peer].at = at;
}

bool Watch::knows(ProcessId peer) noexcept {
  std::lock_guard lock(mutex_);
  return timer_ < 0 || peers_.contains(peer);
}

bool Watch::need(ProcessId peer) noexcept {
  std::lock_guard lock(mutex_);
  const auto found = peers_.find(peer);
  if (found != peers_.end()) found->second.unneeded = 0;
  return timer_ < 0 || found != peers_.end();
}

bool Watch::is_done(ProcessId peer) noexcept {
  std::lock_guard lock(mutex_);
  const auto found = peers_.find(peer);
  return found != peers_.end() && found->second.done;
}

void Watch::begin() noexcept {
  if (timer_ < 0 || runs_.load(std::memory_order_relaxed) || runs_.exchange(true)) return;
  const timespec every{tick_ms_ / 1000, tick_ms_ % 1000 * 1'000'000L};
  const itimerspec in{every, every};
  timerfd_settime(timer_, 0, &in, nullptr);
}

void Watch::rest() noexcept {
  const itimerspec never{};
  timerfd_settime(timer_, 0, &never, nullptr);
  absent_ = quiet_ms_ = 0;
  last_tick_ = 0;
  asks_.store(false);
  runs_.store(false);
}

std::size_t Watch::connections() noexcept {
  std::lock_guard lock(mutex_);
  return links_;
}

void Watch::tick() {
  std::uint64_t rung = 0;
  [[maybe_unused]] const ssize_t n = read(timer_, &rung, sizeof rung);
  const std::int64_t now = now_ms();
  const int elapsed =
      last_tick_ == 0 ? tick_ms_ : static_cast<int>(std::min<std::int64_t>(now - last_tick_, 2 * tick_ms_));
  last_tick_ = now;
  const WatchActivity activity = options_.activity();
  if (activity.looked == seen_.looked) {  // the process computes, or is not let run
    if (++absent_ >= kAbsences) rest();
    return;
  }
  absent_ = 0;
  quiet_ms_ = activity.moved == seen_.moved ? quiet_ms_ + elapsed : 0;
  seen_ = activity;
  asks_.store(quiet_ms_ >= ask_ms_);
  Losses losses;
  {
    std::lock_guard lock(mutex_);
    for (auto& [id, peer] : peers_) {
      peer.rest_ms = std::max(0, peer.rest_ms - elapsed);
      peer.unneeded = std::min(peer.unneeded + 1, kAbsences);
      std::string why;
      if (peer.link != nullptr && judge(id, peer, elapsed, &why)) losses.emplace_back(id, why);
    }
    if (quiet_ms_ >= ask_ms_) turn();
  }
  for (const auto& [id, why] : losses) options_.lost(id, why.c_str());
  if (options_.has_left) judge_refusing();
}

// Whom it asks and tells may take their time, and locks: not under this one's.
void Watch::judge_refusing() {
  struct Refusing {
    ProcessId id;
    sockaddr_in at;
    bool is_needed;
  };
  std::vector<Refusing> refusing;
  {
    std::lock_guard lock(mutex_);
    for (const auto& [id, peer] : peers_) {
      if (peer.refusals > 1 && !peer.known && !peer.done) {
        refusing.push_back({id, peer.at, peer.unneeded < kAbsences && quiet_ms_ >= limit_ms()});
      }
    }
  }
  for (const auto& [id, at, is_needed] : refusing) {
    const std::uint16_t port = ntohs(at.sin_port);
    const std::optional<bool> left = options_.has_left(id, port);
    if (!left && (options_.can_tell_later || !is_needed)) continue;
    {
      std::lock_guard lock(mutex_);
      Peer& peer = peers_[id];
      peer.refusals = 0;
      if (left.value_or(false)) continue;  // it may come back
      peer.done = true;
      if (peer.link != nullptr) unlink(peer);
    }
    char address[INET_ADDRSTRLEN] = "?";
    inet_ntop(AF_INET, &at.sin_addr, address, sizeof address);
    const std::string why = std::string("connections to ") + address + ", port " + std::to_string(port) +
                            ", are refused: by a firewall between the hosts, by another host that has this address "
                            "(HEDDLE_FABRIC_INTERFACE chooses), or because its process has ended";
    options_.lost(id, why.c_str());
  }
}

// Those who have no connection get one, as far as there may be more, or others that have answered give theirs up.
void Watch::turn() {
  const auto waits = [](const Peer& peer) { return peer.link == nullptr && !peer.done && peer.rest_ms == 0; };
  auto waiting = static_cast<std::size_t>(std::ranges::count_if(peers_, waits, &Peers::value_type::second));
  const std::size_t room = options_.most - std::min(options_.most, links_);
  std::size_t wanted = waiting - std::min(waiting, room);
  for (auto& [id, peer] : peers_) {
    if (wanted == 0) break;
    if (peer.link == nullptr || !peer.link->answered || peer.link->answers < kAsksInTurn) continue;
    unlink(peer);
    peer.rest_ms = ask_ms_;  // the others first
    --wanted;
  }
  auto at = peers_.lower_bound(next_);
  for (std::size_t i = 0; i < peers_.size() && waiting != 0 && links_ < options_.most; ++i, ++at) {
    if (at == peers_.end()) at = peers_.begin();
    if (!waits(at->second)) continue;
    --waiting;
    at->second.link = std::make_unique<Link>();
    at->second.link->silent_ms = std::min(quiet_ms_, ask_ms_ + tick_ms_) + tick_ms_;  // nothing has come from anybody
    ++links_;
    connect(at->first, at->second);
    next_ = at->first + 1;
  }
}

void Watch::connect(ProcessId id, Peer& peer) {
  Link& link = *peer.link;
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) {  // no descriptor is left, which says nothing about the peer
    unlink(peer);
    peer.rest_ms = ask_ms_;
    return;
  }
  link.fd = fd;
  link.age_ms = link.answers = 0;
  link.asked = link.answered = false;
  link.input = {};
  ++link.tries;
  if (getrandom(&link.number, sizeof link.number, 0) != sizeof link.number) link.number = 0;
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof yes);
  sockaddr_in from{};
  if (read_place(options_.address, 0, &from)) {  // where that fails, the way is the kernel's choice
    bind(fd, reinterpret_cast<const sockaddr*>(&from), sizeof from);
  }
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&peer.at), sizeof peer.at) != 0 && errno != EINPROGRESS) {
    return broken(peer, errno);
  }
  if (!waker_->watch(fd, true, [this, id] {
        std::lock_guard lock(mutex_);
        const auto found = peers_.find(id);
        if (found != peers_.end() && found->second.link != nullptr) receive(id, found->second);
      })) {
    disconnect(peer);
  }
}

void Watch::disconnect(Peer& peer) {
  if (peer.link->fd < 0) return;
  waker_->forget(peer.link->fd);
  close(std::exchange(peer.link->fd, -1));
}

void Watch::unlink(Peer& peer) {
  disconnect(peer);
  peer.link.reset();
  --links_;
}

void Watch::ask(ProcessId id, Peer& peer) {
  Link& link = *peer.link;
  WatchFrame frame;
  frame.source = options_.self;
  frame.target = id;
  frame.number = link.number + 1;
  int reason = 0;
  if (send_watch_frame(link.fd, frame, options_.key, &reason)) {
    ++link.number;
    link.asked = true;
    link.answered = false;
    link.asked_ms = 0;
  } else if (reason != EAGAIN && reason != EINTR && reason != ENOTCONN) {
    broken(peer, reason);
  }
}

void Watch::receive(ProcessId id, Peer& peer) {
  for (int reason = 0; peer.link != nullptr && peer.link->fd >= 0;) {
    switch (peer.link->input.receive(peer.link->fd, &reason)) {
      case WatchInput::Got::kNothing:
        return;
      case WatchInput::Got::kEnd:
        return broken(peer, reason);
      case WatchInput::Got::kFrame:
        hear(id, peer);
    }
  }
}

void Watch::hear(ProcessId id, Peer& peer) {
  Link& link = *peer.link;
  const WatchFrame& frame = link.input.frame;
  if (!frame.is_for(options_.self, options_.key) || frame.source != id || frame.kind == WatchFrame::kAsk ||
      link.number - frame.number > 1) {
    return disconnect(peer);  // somebody else has the port now: that is no sign of life
  }
  link.answered |= frame.number == link.number;
  link.silent_ms = link.tries = 0;
  ++link.answers;
  peer.known = true;
  peer.away = frame.kind == WatchFrame::kAway;
  if (frame.kind == WatchFrame::kFull) {
    unlink(peer);
    peer.rest_ms = limit_ms() / 2;
  }
}

// Its connection has ended, or could not be made.
void Watch::broken(Peer& peer, int reason) {
  Link& link = *peer.link;
  const bool ended = reason == 0 || reason == ECONNRESET || reason == EPIPE;
  const bool refused = reason == ECONNREFUSED;
  const bool was_there = link.answers != 0;
  if (peer.away && (ended || refused)) {
    peer.done = true;
    return unlink(peer);
  }
  disconnect(peer);
  if ((ended && was_there) || (refused && peer.known)) {
    link.closed_ms = 0;
  } else if (ended || refused) {  // see Limits
    unlink(peer);
    if (refused) ++peer.refusals;
    peer.rest_ms = !refused ? ask_ms_ : peer.refusals > 1 ? limit_ms() : options_.grace_ms;
  }
}

bool Watch::judge(ProcessId id, Peer& peer, int elapsed, std::string* why) {
  receive(id, peer);
  if (peer.link == nullptr) return false;
  Link& link = *peer.link;
  if (link.closed_ms >= 0) {
    link.closed_ms += elapsed;
    if (link.closed_ms < options_.grace_ms) return false;
    *why = "its process has ended, or its host has closed the connection";
  } else {
    link.age_ms += elapsed;
    link.silent_ms += elapsed;
    if (link.silent_ms < limit_ms()) {
      if (link.fd < 0 || (!link.asked && link.age_ms >= ask_ms_ * link.tries)) {
        disconnect(peer);
        connect(id, peer);
      } else if (!link.asked || (link.answered && (link.asked_ms += elapsed) >= ask_ms_)) {
        ask(id, peer);
      }
      return false;
    }
    *why = "nothing has been heard of it for " + std::to_string(options_.seconds) +
           " s (HEDDLE_DETECTION_TIME): the network between the hosts is cut, or the process is stopped";
  }
  const bool away = peer.away;
  unlink(peer);
  peer.done = true;
  return !away;
}

}  // namespace heddle::wire
