#include "p2p/fetch.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "p2p/cancel.hpp"
#include "p2p/receive.hpp"
#include "p2p/rendezvous.hpp"
#include "p2p/send.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {

struct FetchOp : wire::RemoteAccess {
  ReceiveRequest* receive = nullptr;
  std::uint64_t sender = 0;  // its name at the peer
};

namespace {

// Of a message that is sent behind its announcement. Lives until the network has it.
struct PushOp : wire::RemoteAccess {
  SendRequest* send = nullptr;
};

void say_fin(ReceiveRequest& receive, std::uint64_t sender, bool landed) noexcept {
  const FinPrefix fin{sender, landed};
  answer(receive, kFin, &fin, sizeof fin);
  finish(receive);
}

void ask_for_push(ReceiveRequest& receive, std::uint64_t sender) noexcept {
  receive.arrived = 0;
  const CtsPrefix cts{sender, reinterpret_cast<std::uint64_t>(&receive), 0};
  answer(receive, kCts, &cts, sizeof cts);
}

void on_fetched(wire::RemoteAccess& access, bool complete) NO_THREAD_SAFETY_ANALYSIS {
  auto& op = static_cast<FetchOp&>(access);
  ReceiveRequest& receive = *op.receive;
  const std::uint64_t sender = op.sender;
  const bool landed = op.kind == wire::RemoteAccess::Kind::kLand;
  receive.vci->pool().destroy(&op);
  receive.fetching = nullptr;
  complete ? say_fin(receive, sender, landed) : ask_for_push(receive, sender);
}

void on_pushed(wire::RemoteAccess& access, bool) {
  auto& op = static_cast<PushOp&>(access);
  SendRequest& send = *op.send;
  delete &op;
  {
    LockGuard guard(send.lane->lock());
    send.behind = SendRequest::Behind::kGone;
    if (send.streaming || !(send.everything_there || send.taken_back)) return;
  }
  send.taken_back ? end_cancelled(send) : finish_send(send);
}

}  // namespace

bool expose(SendRequest& send, vci::Lane& lane) noexcept {
  if (send.exposure.registration != nullptr) return true;  // an announcement that found no room before
  // In a spread communicator the lane may be another VCI's than the one that the receiver answers and fetches from.
  if (!send.cursor.contiguous() || &lane.owner() != send.vci) return false;
  send.cursor.seek(0);
  if (!lane.tx().expose(send.cursor.data(), send.cursor.total(), false, &send.exposure)) return false;
  const bool is_pushed = lane.tx().begin_message(send.cursor.total());
  send.behind = is_pushed && !send.stays ? SendRequest::Behind::kWanted : SendRequest::Behind::kNot;
  return true;
}

void fetch_message(ReceiveRequest& receive, const RtsPrefix& rts, const std::byte* payload,
                   std::size_t payload_bytes) noexcept NO_THREAD_SAFETY_ANALYSIS {
  receive.pull = nullptr;
  receive.fetching = nullptr;
  vci::Lane* lane = nullptr;
  // In a spread communicator the lane may be another VCI's, whose lock is not held here.
  if (payload_bytes != sizeof(FetchFrom) || !receive.cursor.contiguous() ||
      !find_lane(*receive.comm, receive.args.channel, receive.source, receive.tag, &lane) ||
      &lane->owner() != receive.vci) {
    return ask_for_push(receive, rts.sender);
  }
  auto* op = receive.vci->pool().make<FetchOp>();
  if (op == nullptr) return ask_for_push(receive, rts.sender);
  FetchFrom from;
  std::memcpy(&from, payload, sizeof from);
  op->receive = &receive;
  op->sender = rts.sender;
  op->key = from.key;
  op->address = from.address;
  receive.cursor.seek(0);
  op->local = receive.cursor.data();
  op->bytes = std::min<std::uint64_t>(rts.total, receive.cursor.total());
  op->done = on_fetched;
  receive.arrived = receive.expected;
  if (op->bytes == 0) return on_fetched(*op, true);
  receive.fetching = op;
  using Kind = wire::RemoteAccess::Kind;
  op->kind = Kind::kLand;
  if (op->bytes == rts.total && lane->tx().start(*op)) return;
  op->kind = Kind::kRead;
  op->failed = false;
  if (!lane->tx().start(*op)) on_fetched(*op, false);
}

bool push_behind(SendRequest& send, vci::Lane& lane, const RtsPrefix& rts, wire::Payload& payload) noexcept {
  auto* op = new (std::nothrow) PushOp;
  if (op == nullptr) {
    send.behind = SendRequest::Behind::kNot;  // it is only announced, next time
    return false;
  }
  op->kind = wire::RemoteAccess::Kind::kPush;
  op->send = &send;
  send.cursor.seek(0);
  op->key = send.exposure.key;
  op->local = send.cursor.data();
  op->bytes = rts.total;
  op->done = on_pushed;
  const bool has_gone = lane.tx().try_send_before(*op, header_of(send, kRtsFetch, sizeof rts), &rts, payload);
  if (has_gone) {
    send.behind = SendRequest::Behind::kUnderWay;
  } else {
    delete op;
  }
  return has_gone;
}

}  // namespace heddle::p2p
