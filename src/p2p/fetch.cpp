#include "p2p/fetch.hpp"

#include <algorithm>
#include <cstring>

#include "p2p/receive.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {

struct FetchOp : wire::RemoteAccess {
  ReceiveRequest* receive = nullptr;
  std::uint64_t sender = 0;  // its name at the peer
};

namespace {

void say_fin(ReceiveRequest& receive, std::uint64_t sender) noexcept {
  const FinPrefix fin{sender};
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
  receive.vci->pool().destroy(&op);
  receive.fetching = nullptr;
  complete ? say_fin(receive, sender) : ask_for_push(receive, sender);
}

}  // namespace

bool expose(SendRequest& send, vci::Lane& lane) noexcept {
  if (send.exposure.registration != nullptr) return true;  // an announcement that found no room before
  // In a spread communicator the lane may be another VCI's than the one that the receiver answers and fetches from.
  if (!send.cursor.contiguous() || &lane.owner() != send.vci) return false;
  send.cursor.seek(0);
  return lane.tx().expose(send.cursor.data(), send.cursor.total(), false, &send.exposure);
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
  if (!lane->tx().start(*op)) on_fetched(*op, false);
}

}  // namespace heddle::p2p
