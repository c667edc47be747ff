#include "wire/ofi.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/clock.hpp"
#include "mpi.h"
#include "wire/descriptors.hpp"

namespace heddle::wire {
namespace {

// What an endpoint of the TCP providers takes (net 8, ofi_rxm 15), and a peer (1, ofi_rxm 2), with some to spare.
constexpr unsigned kDescriptorsOfPort = 24, kDescriptorsOfPeer = 8;

}  // namespace

Status OfiWire::open(OfiOptions options, std::unique_ptr<OfiWire>* out) {
  std::unique_ptr<OfiWire> wire(new OfiWire(std::move(options)));
  const OfiOptions& chosen = wire->options_;
  if (!chosen.threaded) wire->lock_.elide();
  HEDDLE_TRY(Fabric::open(chosen.choice, &wire->fabric_));
  HEDDLE_TRY(wire->waker_.start());
  HEDDLE_TRY(wire->start_timer());
  if (wire->fabric_->by_ip()) HEDDLE_TRY(wire->choose_address());
  OfiPort* port = nullptr;
  HEDDLE_TRY(wire->open_port(0, &port));
  std::vector<std::byte> address;
  HEDDLE_TRY(port->address(&address));
  wire->address_bytes_ = address.size();
  *out = std::move(wire);
  return Status::ok();
}

Status OfiWire::choose_address() {
  const std::vector<std::string>& mine = fabric_->addresses();
  // Also one without a choice must answer who has one, and who watches it.
  watched_.start(waker_, options_.self, options_.key);
  HEDDLE_TRY(reach_.listen(waker_, options_.self, options_.key,
                           [this](int fd, const WatchFrame& first) { return watched_.adopt(fd, first); }));
  ProcessId peer = 0;
  // One that the user has named may be the wrong one; with the same address on every host, nothing else would tell.
  const bool asks = mine.size() > 1 || !options_.choice.interface.empty();
  std::string text;
  HEDDLE_TRY(options_.introduce(write_introduction({reach_.port(), mine}), asks, &peer, &text));
  std::string chosen = mine.front();
  for (int asked = 1; asks; ++asked) {
    Introduction other;
    HEDDLE_TRY(read_introduction(peer, text, &other));
    std::string reaching, refusing;
    const Status found = reach_.find(peer, other.addresses, other.port, &reaching, &refusing);
    const std::string why = last_error_detail();
    // One that has ended, in order, does not answer; its host refuses, where it is the right one.
    const bool has_left = !found && options_.has_left && options_.has_left(peer, other.port).value_or(false);
    if (mine.size() > 1 && found) chosen = reaching;
    if (mine.size() > 1 && has_left && !refusing.empty()) chosen = refusing;
    if (found) break;
    if (asked < kMostAsked && options_.introduce({}, true, &peer, &text)) continue;
    if (!has_left) return error(MPI_ERR_OTHER, "%s", why.c_str());
    break;
  }
  address_ = chosen;
  HEDDLE_TRY(fabric_->bind_to(chosen));
  return start_watch();
}

Status OfiWire::start_watch() {
  WatchOptions options;
  options.self = options_.self;
  options.key = options_.key;
  options.seconds = options_.detection_seconds;
  options.address = address_;
  options.activity = [this] { return activity(); };
  options.lost = options_.lost;
  options.has_left = options_.has_left;
  options.can_tell_later = options_.can_tell_later;
  return watch_.start(waker_, std::move(options));
}

WatchActivity OfiWire::activity() const noexcept {
  WatchActivity sum;
  for (const std::atomic<OfiPort*>& p : ports_) {
    const OfiPort* port = p.load(std::memory_order_acquire);
    if (port == nullptr) continue;
    sum.looked += port->looked();
    sum.moved += port->moved();
  }
  return sum;
}

OfiWire::~OfiWire() {
  watched_.set_away(true);
  if (!address_.empty() && options_.leave) options_.leave(reach_.port());  // not of one that never opened
  waker_.stop();
  if (timer_ >= 0) close(timer_);
}

Status OfiWire::start_timer() {
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (timer_ < 0) return error(MPI_ERR_OTHER, "cannot make a timer: %s", std::strerror(errno));
  return waker_.watch(timer_, true, [this] { flush(); });
}

void OfiWire::flush_soon() noexcept {
  if (timer_runs_.load(std::memory_order_relaxed) || timer_runs_.exchange(true)) return;
  const itimerspec in{{0, 0}, {0, kFlushNs}};
  timerfd_settime(timer_, 0, &in, nullptr);
}

void OfiWire::flush() noexcept {
  std::uint64_t rung = 0;
  [[maybe_unused]] const ssize_t n = read(timer_, &rung, sizeof rung);
  timer_runs_.store(false);
  for (const std::atomic<OfiPort*>& p : ports_) {
    OfiPort* port = p.load(std::memory_order_acquire);
    if (port != nullptr && !port->flush()) flush_soon();
  }
}

Dropped OfiWire::dropped(std::uint32_t vci) const noexcept {
  Dropped all;
  if (const OfiPort* its = port(vci); its != nullptr) all = {its->counts().strange, its->counts().replayed};
  if (vci == 0) all.strange += reach_.strangers() + watched_.strangers();
  return all;
}

Status OfiWire::open_port(std::uint32_t vci, OfiPort** out) {
  LockGuard guard(lock_);
  if (owned_[vci] == nullptr) {
    std::unique_ptr<OfiPort> owned;
    const OfiPort::Identity identity{options_.self, options_.key};
    HEDDLE_TRY(have_descriptors(timer_, kDescriptorsOfPort));
    HEDDLE_TRY(OfiPort::open(fabric_, identity, vci, &owned));
    if (owned->wait_fd() >= 0) {
      HEDDLE_TRY(waker_.watch(owned->wait_fd(), false, [this, vci] {
        armed_[vci].store(false, std::memory_order_release);
        options_.ring();
      }));
    }
    ports_[vci].store(owned.get(), std::memory_order_release);
    options_.ring();  // who sleeps already must watch it, too
    owned_[vci] = std::move(owned);
  }
  *out = owned_[vci].get();
  return Status::ok();
}

Status OfiWire::card(std::string* out) {
  Card card{fabric_->provider(), {}, {}};
  if (reach_.port() != 0) card.watched = {reach_.port(), {address_}};
  HEDDLE_TRY(port(0)->address(&card.address));
  *out = write_card(card);
  return Status::ok();
}

bool OfiWire::reaches(ProcessId peer) const noexcept { return peer < options_.processes && !options_.is_near(peer); }

Status OfiWire::connect(std::uint32_t from, ProcessId peer, std::uint32_t to, TxLane** lane) {
  OfiPort* port = nullptr;
  HEDDLE_TRY(open_port(from, &port));
  *lane = &lane_between(*port, peer, to);
  return Status::ok();
}

OfiLane& OfiWire::lane_between(OfiPort& port, ProcessId peer, std::uint32_t to) {
  LockGuard guard(lock_);
  for (OfiLane& lane : lanes_) {
    if (&lane.port() == &port && lane.peer() == peer && lane.to() == to) return lane;
  }
  return lanes_.emplace_back(*this, port, peer, to);
}

unsigned OfiWire::poll(std::uint32_t vci, Sink& sink, unsigned limit) noexcept {
  OfiPort* polled = port(vci);
  if (polled == nullptr) return 0;
  sinks_[vci] = &sink;
  const unsigned moved = polled->poll(*this, limit);
  if (moved != 0) {
    in_vain_[vci] = 0;
  } else if (++in_vain_[vci] % kBeginEvery == 0) {
    watch_.begin();
  }
  if (OfiLane* lane = polled->unresolved(); lane != nullptr) resolve(*lane);
  if (vci == 0 && !questions_.empty()) answer_questions();
  return moved;
}

bool OfiWire::rings() const noexcept {
  if (port(0)->wait_fd() < 0 || unanswered_.load(std::memory_order_relaxed) != 0) return false;
  return std::ranges::none_of(ports_, [](const std::atomic<OfiPort*>& p) {
    OfiPort* port = p.load(std::memory_order_acquire);
    return port != nullptr && port->is_blocked();
  });
}

bool OfiWire::arm(std::uint32_t vcis) noexcept {
  watch_.begin();
  for (std::uint32_t i = 0; i < kMaxVcis; ++i) {
    OfiPort* slept_on = (vcis >> i & 1) != 0 ? port(i) : nullptr;
    if (slept_on == nullptr || slept_on->wait_fd() < 0) continue;
    if (!slept_on->try_wait()) return false;
    if (!armed_[i].exchange(true, std::memory_order_acq_rel) && !waker_.arm(slept_on->wait_fd())) {
      armed_[i].store(false, std::memory_order_release);
      return false;
    }
  }
  return true;
}

bool OfiWire::owes() const noexcept {
  return unanswered_.load(std::memory_order_relaxed) != 0 ||
         std::ranges::any_of(ports_, [](const std::atomic<OfiPort*>& p) {
           OfiPort* port = p.load(std::memory_order_acquire);
           return port != nullptr && port->owes();
         });
}

bool OfiWire::lose(std::uint32_t vci, ProcessId process, bool finally) noexcept {
  OfiPort* const lost_to = port(vci);
  if (lost_to == nullptr) return true;
  if (vci == 0) {
    std::erase_if(questions_, [process](const auto& question) { return question.first == process; });
    unanswered_.store(questions_.size(), std::memory_order_relaxed);
  }
  return lost_to->lose(process, finally);
}

bool OfiWire::resolve(OfiLane& lane) noexcept {
  std::vector<std::byte> address;
  const bool found =
      lane.to() == 0 ? find_first_address(lane.peer(), &address) : find_other_address(lane.peer(), lane.to(), &address);
  if (!found) return false;
  if (address.size() != address_bytes_) {  // the provider would read behind its end
    options_.lost(lane.peer(), "its address has not as many bytes as those of this provider");
    return false;
  }
  if (!have_descriptors(timer_, kDescriptorsOfPeer)) {  // no fault of the peer
    options_.fatal(last_error_detail());
    return false;
  }
  if (!lane.resolve(address.data())) options_.lost(lane.peer(), last_error_detail());
  return lane.is_resolved();
}

bool OfiWire::find_peer_card(ProcessId peer, Card* card) {
  std::string text;
  if (!options_.find_card(peer, &text)) return false;
  if (!read_card(peer, text, card)) {
    options_.lost(peer, last_error_detail());
    return false;
  }
  if (card->watched.port != 0) watch_.know(peer, card->watched.addresses.front(), card->watched.port);
  return true;
}

bool OfiWire::find_first_address(ProcessId peer, std::vector<std::byte>* out) {
  Card card;
  if (!find_peer_card(peer, &card)) return false;
  if (card.provider != fabric_->provider()) {
    error(MPI_ERR_OTHER, "it uses %s and this process %s; set HEDDLE_FABRIC_PROVIDER to the same for all",
          card.provider.c_str(), fabric_->provider().c_str())
        .ignore();
    options_.lost(peer, last_error_detail());
    return false;
  }
  *out = std::move(card.address);
  return true;
}

// To be watched, it must be known where it answers; who sends learns that anyway.
bool OfiWire::expect(ProcessId peer) noexcept {
  if (!watch_.asks() || !reaches(peer) || watch_.need(peer)) return false;
  Card card;
  find_peer_card(peer, &card);
  return true;
}

// The next one of another host that is not lost, so that of each host somebody knows when it is gone, and no process has more than one to
// watch for that.
void OfiWire::expect_anyone() noexcept {
  const std::int64_t now = now_ns();
  if (!watch_.asks() || now < anyone_after_.load(std::memory_order_relaxed)) return;
  anyone_after_.store(now + kAnyoneNs,
                      std::memory_order_relaxed);  // its card may not be there, and the launcher slow to say so
  ProcessId next = options_.self;
  do {
    next = (next + 1) % options_.processes;
  } while (next != options_.self && (!reaches(next) || watch_.is_done(next)));
  if (!reaches(next) || watch_.knows(next)) return;
  Card card;
  find_peer_card(next, &card);
}

bool OfiWire::find_other_address(ProcessId peer, std::uint32_t vci, std::vector<std::byte>* out) {
  OfiPort& first = *port(0);
  OfiLane& lane = lane_between(first, peer, 0);
  {
    LockGuard guard(lock_);
    const auto told = told_.find({peer, vci});
    if (told != told_.end() && !told->second.empty()) {
      *out = told->second;
      return true;
    }
    if (told != told_.end()) return false;  // asked
  }
  const Header question{kWhere, 0, 0, 0, 0, static_cast<std::int32_t>(vci)};
  Payload none;
  if (!lane.try_send(question, nullptr, none)) return false;
  LockGuard guard(lock_);
  told_.try_emplace({peer, vci});
  return false;
}

void OfiWire::answer_questions() noexcept {
  std::erase_if(questions_, [this](const auto& question) {
    const auto [peer, vci] = question;
    OfiPort* asked_for = nullptr;
    std::vector<std::byte> address;
    if (!open_port(vci, &asked_for) || !asked_for->address(&address)) {
      options_.fatal(last_error_detail());
      return true;
    }
    const Header header{kHere, 0, 0, 0, 0, static_cast<std::int32_t>(vci)};
    Payload payload{address.data(), address.size()};
    return lane_between(*port(0), peer, 0).try_send(header, nullptr, payload);
  });
  unanswered_.store(questions_.size(), std::memory_order_relaxed);
}

void OfiWire::packet(const FrameHeader& frame, const Packet& packet) noexcept {
  const auto vci = static_cast<std::uint32_t>(packet.header.tag);
  switch (packet.header.portal) {
    case kWhere:
      if (vci < kMaxVcis) questions_.emplace_back(frame.source, vci);
      unanswered_.store(questions_.size(), std::memory_order_relaxed);
      return;
    case kHere: {
      LockGuard guard(lock_);
      std::vector<std::byte>& address = told_[{frame.source, vci}];
      if (address.empty()) address.assign(packet.payload, packet.payload + packet.payload_bytes);
      return;
    }
    default:
      sinks_[frame.to]->deliver(packet);
  }
}

}  // namespace heddle::wire
