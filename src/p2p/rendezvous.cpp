// The sender. All under the lane's lock.
#include "p2p/rendezvous.hpp"

#include <algorithm>
#include <utility>

#include "p2p/eager.hpp"
#include "p2p/fetch.hpp"
#include "p2p/pull.hpp"
#include "p2p/send.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

using Pushed = vci::SendOp::Pushed;

// Packets that it claims at once: fewer than find room in a lane that nobody else uses.
constexpr std::uint32_t kClaimed = 4;
// The most that it writes at once: who else wants the lane waits meanwhile.
constexpr std::uint32_t kMostWritten = 8;

// Whether a message is to be read, and perhaps written, instead of sent.
bool is_to_be_copied(const SendRequest& send, vci::Lane& lane, wire::PeerMemory& memory) noexcept {
  if (!memory.is_known_to_be_read()) return false;
  const bool may_be_both = may_be_written(send.args.channel, send.cursor.total());
  if (may_be_both && memory.all().sides() == wire::Sides::kBoth) return true;
  wire::CopyCosts& costs = memory.all().costs();
  const wire::CopyMeans own = costs.means();
  const bool is_cheaper =
      lane.tx().answers() ? lane.tx().is_read_there() : own.read != 0 && own.reading_is_cheaper(false);
  return costs.next_is_read(is_cheaper || (may_be_both && lane.tx().fills_slowly()));
}

// What its receiver says of the next ones, in the last word of an answer. REQUIRES: the lane's lock.
void note_which(SendRequest& send, std::uint64_t word) noexcept {
  if ((word & kSaysWhich) != 0) send.lane->tx().note_answer((word & kReadsNext) != 0);
}

void make_offer(SendRequest& send, vci::Lane& lane, std::size_t unit) noexcept {
  wire::PeerMemory* memory = lane.tx().memory();
  const std::size_t total = send.cursor.total();
  const std::size_t units = (total + unit - 1) / unit;
  if (memory == nullptr || !send.cursor.contiguous() || units > UINT32_MAX) return;
  const bool at_once = is_to_be_copied(send, lane, *memory);
  if (!at_once && total < send.vci->domain().profile().single_copy_from) return;
  send.cursor.seek(0);
  send.offer = memory->all().offer(send.cursor.data(), send.stays || at_once ? 0 : 1, at_once);
  if (send.offer) send.claims = memory->claims(send.offer, static_cast<std::uint32_t>(units));
}

wire::Units units_of(const Range& range, std::size_t unit) noexcept {
  return {static_cast<std::uint32_t>(range.at / unit), static_cast<std::uint32_t>((range.bytes + unit - 1) / unit)};
}

std::uint32_t units_to_write(const SendRequest& send, std::size_t unit) noexcept {
  return std::min(send.claims.fair(most_at_once(send.vci->domain(), unit)), kMostWritten);
}

// What to push next; null when the rest is the receiver's.
Range* next_range(SendRequest& send, std::size_t unit) noexcept {
  if (send.handed_back.bytes != 0) return &send.handed_back;
  if (send.mine.bytes == 0 && send.claims) {
    const wire::Units got = send.claims.claim(send.target == 0 ? kClaimed : units_to_write(send, unit));
    const std::uint64_t at = std::uint64_t{got.first} * unit;
    if (got.count != 0) send.mine = {at, std::min(std::uint64_t{got.count} * unit, send.cursor.total() - at)};
  }
  return send.mine.bytes != 0 ? &send.mine : nullptr;
}

// Each sends the beginning of the range, *n bytes. False: there was no room, and nothing of it counts.
bool push_range(SendRequest& send, vci::Lane& lane, const Range& range, std::size_t* n) noexcept {
  const DataPrefix prefix{send.receiver, range.at};
  *n = std::min<std::size_t>(range.bytes, lane.max_packet());
  wire::Payload payload = bytes_at(send, range.at, *n);
  return lane.send(header_of(send, kData, sizeof prefix), &prefix, payload);
}

bool write_range(SendRequest& send, vci::Lane& lane, const Range& range, std::size_t* n) noexcept {
  send.cursor.seek(range.at);
  *n = lane.tx().memory()->write_at(send.target + range.at, send.cursor.data(), range.bytes);
  if (*n < range.bytes) {  // the rest goes in packets: whole ones, as claims are given back in units
    *n -= *n % lane.max_packet();
    send.target = 0;
    if (*n == 0) return true;
  }
  const WrittenPrefix prefix{send.receiver, *n};
  wire::Payload nothing{nullptr, 0};
  return lane.send(header_of(send, kWritten, sizeof prefix), &prefix, nothing);
}

Pushed push_data(vci::SendOp& op, vci::Lane& lane) {
  auto& send = static_cast<SendRequest&>(op);
  const std::size_t unit = lane.max_packet();
  if (send.revoked) [[unlikely]] {
    send.streaming = false;
    return Pushed::kFinished;
  }
  if (lane.is_closed()) send.target = 0;  // whose address that was is gone
  if (send.target != 0 && !lane.tx().has_room()) [[unlikely]]
    return Pushed::kBlocked;  // to say what was written
  Range* range = next_range(send, unit);
  if (range == nullptr) {
    send.streaming = false;
    if (send.everything_there && !is_in_use(send)) finish_send(send);
    return Pushed::kFinished;
  }
  const bool own = range == &send.mine;
  const bool writes = own && send.target != 0;
  std::size_t n = 0;
  if (!(writes ? write_range(send, lane, *range, &n) : push_range(send, lane, *range, &n))) {
    // The receiver may read it, if this program now goes on with something else.
    if (own && send.claims && send.claims.give_back(units_of(*range, unit))) send.mine = {};
    return Pushed::kBlocked;
  }
  range->at += n;
  range->bytes -= n;
  if (own) send.pushed += n;
  if (send.pushed < send.cursor.total()) return writes && range->bytes == 0 ? Pushed::kTurn : Pushed::kMore;
  send.streaming = false;
  send.everything_there = true;  // the receiver has claimed nothing, so it won't say fin
  if (!is_in_use(send)) finish_send(send);
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
  const std::size_t first = fetched || send.stays || send.offer.is_at_once() ? 0 : unit;
  send.pushed = first;
  const RtsPrefix prefix{send.cursor.total(), name_of(send), send.offer.bits()};
  const FetchFrom from{send.exposure.key, send.exposure.address};
  wire::Payload payload = fetched ? wire::Payload{&from, sizeof from} : bytes_at(send, 0, first);
  if (fetched && send.behind == SendRequest::Behind::kWanted && !send.revoked && !lane.is_closed()) {
    return push_behind(send, lane, prefix, payload) ? Pushed::kFinished : Pushed::kBlocked;
  }
  const std::uint8_t portal = fetched ? kRtsFetch : kRts;
  return lane.send(header_of(send, portal, sizeof prefix), &prefix, payload) ? Pushed::kFinished : Pushed::kBlocked;
}

void finish_send(SendRequest& send) noexcept {
  withdraw_offer(send);
  finish(send);
}

void withdraw_offer(SendRequest& send) noexcept {
  if (send.exposure.registration != nullptr) {
    send.lane->tx().conceal(send.exposure);
    send.lane->tx().end_message();
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
      send.everything_there |= !send.claims;  // it does not fetch any more; who reads says when it does not
      return vci.wake_waiters();
    }
    note_pushed(send, false);
    send.receiver = prefix.receiver;
    send.target = prefix.to & kBelow;
    note_which(send, prefix.to);
    if (wire::PeerMemory* memory = send.lane->tx().memory()) memory->way();  // for the next one to this peer
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
    send.handed_back = {prefix.at, prefix.bytes};
    if (send.revoked) return send.vci->wake_waiters();
    idle = !send.streaming;
    send.streaming = true;
  }
  if (idle) send.lane->stream(send);
}

void on_fin(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<FinPrefix>();
  auto& send = *reinterpret_cast<SendRequest*>(prefix.sender);
  vci::Vci& vci = *send.vci;
  {
    LockGuard guard(send.lane->lock());
    send.everything_there = true;
    note_pushed(send, (prefix.landed & kBelow) != 0);
    note_which(send, prefix.landed);
    if (send.revoked) return vci.wake_waiters();
    if (is_in_use(send)) return;  // its next push finds nothing to do, or what is under way ends
  }
  finish_send(send);
}

}  // namespace heddle::p2p
