#include "p2p/rendezvous.hpp"

#include <algorithm>
#include <utility>

#include "p2p/eager.hpp"
#include "p2p/fetch.hpp"
#include "p2p/send.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

using Pushed = vci::SendOp::Pushed;

// The sender. All under the lane's lock.

// Packets that it claims at once: fewer than find room in a lane that nobody else uses.
constexpr std::uint32_t kClaimed = 4;

void make_offer(SendRequest& send, vci::Lane& lane, std::size_t unit) noexcept {
  wire::PeerMemory* memory = lane.tx().memory();
  const std::size_t total = send.cursor.total();
  const std::size_t units = (total + unit - 1) / unit;
  if (memory == nullptr || !send.cursor.contiguous() || total < send.vci->domain().profile().single_copy_from ||
      units > UINT32_MAX) {
    return;
  }
  send.cursor.seek(0);
  send.offer = memory->all().offer(send.cursor.data(), send.stays ? 0 : 1);
  if (send.offer) send.claims = memory->claims(send.offer, static_cast<std::uint32_t>(units));
}

wire::Units units_of(const Range& range, std::size_t unit) noexcept {
  return {static_cast<std::uint32_t>(range.at / unit), static_cast<std::uint32_t>((range.bytes + unit - 1) / unit)};
}

void finish_send(SendRequest& send) noexcept {
  withdraw_offer(send);
  finish(send);
}

// What to push next; null when the rest is the receiver's.
Range* next_range(SendRequest& send, std::size_t unit) noexcept {
  if (send.handed_back.bytes != 0) return &send.handed_back;
  if (send.mine.bytes == 0 && send.claims) {
    const wire::Units got = send.claims.claim(kClaimed);
    const std::uint64_t at = std::uint64_t{got.first} * unit;
    if (got.count != 0) send.mine = {at, std::min(std::uint64_t{got.count} * unit, send.cursor.total() - at)};
  }
  return send.mine.bytes != 0 ? &send.mine : nullptr;
}

Pushed push_data(vci::SendOp& op, vci::Lane& lane) {
  auto& send = static_cast<SendRequest&>(op);
  const std::size_t unit = lane.max_packet();
  if (send.revoked) [[unlikely]] {
    send.streaming = false;
    return Pushed::kFinished;
  }
  Range* range = next_range(send, unit);
  if (range == nullptr) {
    send.streaming = false;
    if (send.everything_there) finish_send(send);
    return Pushed::kFinished;
  }
  const DataPrefix prefix{send.receiver, range->at};
  const std::size_t n = std::min<std::size_t>(range->bytes, unit);
  wire::Payload payload = bytes_at(send, range->at, n);
  if (!lane.send(header_of(send, kData, sizeof prefix), &prefix, payload)) {
    // The receiver may read it, if this program now goes on with something else.
    if (range == &send.mine && send.claims && send.claims.give_back(units_of(*range, unit))) send.mine = {};
    return Pushed::kBlocked;
  }
  range->at += n;
  range->bytes -= n;
  if (range == &send.mine) send.pushed += n;
  if (send.pushed < send.cursor.total()) return Pushed::kMore;
  finish_send(send);  // the receiver has claimed nothing, so it won't say fin
  return Pushed::kFinished;
}

}  // namespace

// Without credit for its bytes the whole message stays here.
Pushed push_announcement(vci::SendOp& op, vci::Lane& lane) noexcept {
  auto& send = static_cast<SendRequest&>(op);
  const std::size_t unit = lane.max_packet();
  const bool is_long = send.cursor.total() > unit;  // else it may move to memory of its own yet (keep_copy)
  if (is_long && !send.offer) make_offer(send, lane, unit);
  if (is_long && goes_at_once(send)) return push_rts_eager(send, lane);
  const bool fetched = is_long && !send.offer && expose(send, lane);
  const std::size_t first = fetched || send.stays ? 0 : unit;
  send.pushed = first;
  const RtsPrefix prefix{send.cursor.total(), name_of(send), send.offer.bits()};
  const FetchFrom from{send.exposure.key, send.exposure.address};
  wire::Payload payload = fetched ? wire::Payload{&from, sizeof from} : bytes_at(send, 0, first);
  const std::uint8_t portal = fetched ? kRtsFetch : kRts;
  return lane.send(header_of(send, portal, sizeof prefix), &prefix, payload) ? Pushed::kFinished : Pushed::kBlocked;
}

void withdraw_offer(SendRequest& send) noexcept {
  if (send.exposure.registration != nullptr) {
    send.lane->tx().conceal(send.exposure);
    send.exposure = {};
  }
  if (!send.offer) return;
  send.lane->tx().memory()->all().withdraw(send.offer);
  send.offer = {};
  send.claims = {};
}

void on_cts(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<CtsPrefix>();
  auto& send = *reinterpret_cast<SendRequest*>(prefix.sender);
  vci::Vci& vci = *send.vci;
  {
    LockGuard guard(send.lane->lock());  // orders this after the announcement, which another thread may have pushed
    if (send.revoked) {
      send.everything_there = true;  // it does not fetch any more
      return vci.wake_waiters();
    }
    send.receiver = prefix.receiver;
    send.everything_there = send.cursor.total() == 0;
    if (!send.claims) send.mine = {send.pushed, send.cursor.total() - send.pushed};
    send.push = push_data;
    send.answered = send.held != nullptr;
    if (std::exchange(send.streaming, true)) return;  // of what went unasked: from here on as it is asked for
    if (send.answered) return;                        // that this message is taken comes by another lane
  }
  send.lane->stream(send);
}

void on_push(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<PushPrefix>();
  auto& send = *reinterpret_cast<SendRequest*>(prefix.sender);
  bool idle;
  {
    LockGuard guard(send.lane->lock());
    if (send.revoked) return;
    send.handed_back = {prefix.at, prefix.bytes};
    idle = !send.streaming;
    send.streaming = true;
  }
  if (idle) send.lane->stream(send);
}

void on_fin(vci::Vci&, const wire::Packet& packet) {
  auto& send = *reinterpret_cast<SendRequest*>(packet.prefix_as<FinPrefix>().sender);
  vci::Vci& vci = *send.vci;
  {
    LockGuard guard(send.lane->lock());
    send.everything_there = true;
    if (send.revoked) return vci.wake_waiters();
    if (send.streaming) return;  // its next push finds nothing to do
  }
  finish_send(send);
}

// The receiver. All under the VCI's lock, but for the read.

// Reads from the sender while nothing comes. Lives until it is stepped after the receive is complete.
struct Pull : vci::Task {
  ReceiveRequest* receive;  // null: complete
  vci::Vci* vci;
  wire::PeerMemory* memory;
  wire::Offer offer;
  wire::Claims<> claims;
  std::uint64_t sender;  // its name at the peer
  std::byte* to;
  std::size_t unit;
  std::uint64_t seen;  // bytes that had arrived when it was stepped last
  std::uint32_t rounds_in_vain = 0;
  std::uint32_t patience;
  bool plain;
  bool claimed = false;  // anything
  bool failed = false;
  bool reading = false;  // with no lock held
};

bool detach_pull(ReceiveRequest& receive) noexcept {
  if (receive.pull == nullptr) return true;
  if (receive.pull->reading) return false;
  const FinPrefix fin{receive.pull->sender};
  if (receive.pull->claimed) answer(receive, kFin, &fin, sizeof fin);
  receive.pull->receive = nullptr;
  receive.pull = nullptr;
  return true;
}

namespace {

void complete(ReceiveRequest& receive) noexcept {
  if (Pull* pull = receive.pull; pull != nullptr) {
    const FinPrefix fin{pull->sender};
    if (pull->claimed) answer(receive, kFin, &fin, sizeof fin);
    pull->receive = nullptr;
    receive.pull = nullptr;
  }
  finish(receive);
}

// Claims units and reads them. REQUIRES: the VCI's lock, which is let go meanwhile. True: something moved.
bool read_some(Pull& pull) noexcept NO_THREAD_SAFETY_ANALYSIS {
  ReceiveRequest& receive = *pull.receive;
  if (!pull.plain && pull.memory->way() == wire::PeerMemory::Way::kRefused)
    return false;  // since another message failed
  const std::size_t most = receive.vci->domain().profile().pull_bytes / pull.unit;
  const wire::Units got = pull.claims.claim(static_cast<std::uint32_t>(std::max<std::size_t>(most, 1)));
  if (got.count == 0) return false;
  pull.claimed = true;
  const std::uint64_t at = std::uint64_t{got.first} * pull.unit;
  const std::size_t bytes = std::min(std::uint64_t{got.count} * pull.unit, receive.expected - at);
  pull.reading = true;
  pull.vci->lock().unlock();
  const std::size_t n = pull.memory->read(pull.offer, pull.claims.address(), at, pull.to + at, bytes);
  pull.vci->lock().lock();
  pull.reading = false;
  receive.arrived += n;
  pull.seen = receive.arrived;
  if (n < bytes) {
    pull.failed = true;
    const PushPrefix rest{pull.sender, at + n, bytes - n};
    answer(receive, kPush, &rest, sizeof rest);
  }
  if (receive.arrived == receive.expected) complete(receive);
  return true;
}

bool step_pull(vci::Task& task) NO_THREAD_SAFETY_ANALYSIS {
  auto& pull = static_cast<Pull&>(task);
  vci::Vci& vci = *pull.vci;
  bool moved = true;  // nobody may sleep while another thread keeps this one from looking
  if (vci.lock().try_lock()) {
    moved = false;
    if (pull.receive != nullptr && pull.seen != pull.receive->arrived) {
      pull.seen = pull.receive->arrived;
      pull.rounds_in_vain = 0;
    } else if (pull.receive != nullptr && !pull.failed && ++pull.rounds_in_vain > pull.patience) {
      moved = read_some(pull);
      if (!moved) pull.rounds_in_vain = 0;
    }
    const bool done = pull.receive == nullptr;
    vci.unlock_and_wake();
    if (done) {
      vci.destroy(&pull);
      return true;
    }
  }
  if (moved) vci.add_idle_task(pull);  // an end is what counts as movement
  return moved;
}

// Null when the message can't be read: then the sender pushes all of it.
Pull* make_pull(ReceiveRequest& receive, const RtsPrefix& rts) noexcept NO_THREAD_SAFETY_ANALYSIS {
  vci::Lane* lane = nullptr;
  const wire::Offer offer(rts.offer);
  if (!offer || receive.error != 0 || !receive.cursor.contiguous() ||
      !find_lane(*receive.comm, receive.args.channel, receive.source, receive.tag, &lane)) {
    return nullptr;
  }
  wire::PeerMemory* memory = lane->tx().memory();
  if (memory == nullptr || memory->way() == wire::PeerMemory::Way::kRefused) return nullptr;
  auto* pull = receive.vci->pool().make<Pull>();
  if (pull == nullptr) return nullptr;
  pull->step = step_pull;
  pull->receive = &receive;
  pull->vci = receive.vci;
  pull->memory = memory;
  pull->offer = offer;
  pull->sender = rts.sender;
  receive.cursor.seek(0);
  pull->to = receive.cursor.data();
  pull->unit = lane->max_packet();
  pull->claims = memory->claims(offer, static_cast<std::uint32_t>((rts.total + pull->unit - 1) / pull->unit));
  pull->seen = receive.arrived;
  pull->plain = memory->is_plain(offer);
  pull->patience = pull->plain ? 0 : receive.vci->domain().profile().pull_after;
  return pull;
}

}  // namespace

void answer_announcement(ReceiveRequest& receive, const RtsPrefix& rts) noexcept {
  Pull* pull = make_pull(receive, rts);
  receive.pull = pull;
  receive.fetching = nullptr;
  vci::Vci& vci = *receive.vci;
  // A plain copy needs no help, and a process that sends to itself would only help itself by way of cells.
  if (pull == nullptr || !pull->plain) {
    const CtsPrefix cts{rts.sender, reinterpret_cast<std::uint64_t>(&receive)};
    answer(receive, kCts, &cts, sizeof cts);
  }
  if (pull != nullptr) vci.add_idle_task(*pull);  // not before the answer: a fin may not pass it
}

void on_data(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<DataPrefix>();
  auto& receive = *reinterpret_cast<ReceiveRequest*>(prefix.receiver);
  receive.take(prefix.at, packet.payload, packet.payload_bytes);
  if (receive.arrived == receive.expected) complete(receive);
}

}  // namespace heddle::p2p
