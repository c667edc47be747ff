#include "p2p/eager.hpp"

#include <algorithm>

#include "p2p/cancel.hpp"
#include "p2p/receive.hpp"
#include "p2p/send.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

using Pushed = vci::SendOp::Pushed;
using portals::Arriving;

wire::Header header_by(const SendRequest& send, const vci::Lane& lane, std::uint8_t portal,
                       std::size_t prefix_bytes) noexcept {
  wire::Header header = header_of(send, portal, prefix_bytes);
  header.code = static_cast<std::uint16_t>(lane.owner().index());
  return header;
}

Arriving::Name name_of(const wire::Header& header, std::uint64_t sender) noexcept {
  return {header.context, header.source, header.code, sender};
}

Pushed push_eager_data(vci::SendOp& op, vci::Lane& lane) {
  auto& send = static_cast<SendRequest&>(op);
  Range& rest = send.mine;
  if (!send.revoked && !send.taken_back) [[likely]] {
    const EagerDataPrefix prefix{name_of(send), rest.at};
    const std::size_t n = std::min<std::size_t>(rest.bytes, lane.max_packet());
    wire::Payload payload = bytes_at(send, rest.at, n);
    if (!lane.send(header_by(send, lane, kEagerData, sizeof prefix), &prefix, payload)) return Pushed::kBlocked;
    rest.at += n;
    rest.bytes -= n;
    if (rest.bytes != 0) return Pushed::kMore;
  }
  send.streaming = false;
  if (send.taken_back) [[unlikely]]
    end_cancelled(send);
  return Pushed::kFinished;
}

}  // namespace

Pushed push_rts_eager(SendRequest& send, vci::Lane& lane) noexcept {
  const std::size_t total = send.cursor.total(), first = lane.max_packet();
  const RtsPrefix prefix{total, name_of(send), 0};
  wire::Payload payload = bytes_at(send, 0, first);
  if (!lane.send(header_by(send, lane, kRtsEager, sizeof prefix), &prefix, payload)) return Pushed::kBlocked;
  send.pushed = first;  // and stays so: from there on cts may ask for it
  send.mine = {first, total - first};
  send.push = push_eager_data;
  send.streaming = true;
  return Pushed::kStreams;
}

void on_rts_eager(vci::Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  const match::Key key{packet.header.context, packet.header.source, packet.header.tag};
  vci.count_received();
  auto* receive = static_cast<ReceiveRequest*>(vci.matching().arrive(key));
  if (receive == nullptr) {
    wire::Packet kept = packet;
    kept.header.portal = kRts;
    return keep_unexpected(vci, key, kept);
  }
  receive->pull = nullptr;
  receive->fetching = nullptr;
  const std::uint64_t sender = packet.prefix_as<RtsPrefix>().sender;
  receive->arriving = vci.arriving().add(name_of(packet.header, sender), *receive);
  receive->marks |= Request::kArriving;
  receive->begin(kRtsEager, key, packet.prefix, packet.payload, packet.payload_bytes);
}

void on_eager_data(vci::Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  const auto prefix = packet.prefix_as<EagerDataPrefix>();
  auto* receive = static_cast<ReceiveRequest*>(
      vci.arriving().find_or_drop(name_of(packet.header, prefix.sender), packet.payload_bytes));
  if (receive == nullptr) return;
  receive->take(prefix.at, packet.payload, packet.payload_bytes);
  if (receive->arrived != receive->expected) return;
  const FinPrefix fin{prefix.sender, 0};
  answer(*receive, kFin, &fin, sizeof fin);
  finish(*receive);
}

}  // namespace heddle::p2p
