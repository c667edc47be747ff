#include "p2p/cancel.hpp"

#include "p2p/protocol.hpp"
#include "p2p/rendezvous.hpp"
#include "p2p/send.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

// The request that an unexpected message names; 0: none.
std::uint64_t sender_of(const portals::UnexpectedHeader& message) noexcept {
  if (message.portal == kEagerSync) return message.prefix_as<SyncPrefix>().sender;
  const bool can_go = message.portal == kRts || message.portal == kRtsFetch;
  return can_go ? message.prefix_as<RtsPrefix>().sender : 0;
}

// Takes the sender's message off the list. All others keep their order, which receives from anybody see.
bool remove_message(portals::MatchList& list, const match::Key& key, std::uint64_t sender) noexcept {
  match::Queue<match::MessageNode, match::InOrder> others;
  bool found = false;
  while (portals::UnexpectedHeader* message = list.extract({key.context, match::kAnySource, match::kAnyTag})) {
    if (message->key == key && sender_of(*message) == sender) {
      list.give_back(message);
      found = true;
    } else {
      others.push_back(*message);
    }
  }
  while (match::MessageNode* message = others.pop_front()) {
    list.put_back(static_cast<portals::UnexpectedHeader&>(*message));
  }
  return found;
}

}  // namespace

void end_cancelled(SendRequest& send) noexcept {
  withdraw_offer(send);
  send.cancelled = true;
  finish(send);
}

void take_back(const SendRequest& send, vci::Lane& lane) noexcept {
  const TakeBackPrefix prefix{name_of(send), lane.owner().domain().self(), lane.owner().index()};
  lane.post_control(header_of(send, kTakeBack, sizeof prefix), &prefix);
}

void cancel_send(Request& request) {
  auto& send = static_cast<SendRequest&>(request);
  if (send.lane == nullptr) return;  // there was nothing to wait for
  if (send.lane->cancel(send)) return end_cancelled(send);
  const auto end = [](vci::MessageOp& op) { end_cancelled(static_cast<SendRequest&>(op)); };
  if (!send.lane->recall(send, end)) take_back(send, *send.lane);
}

void on_take_back(vci::Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  const auto prefix = packet.prefix_as<TakeBackPrefix>();
  const match::Key key{packet.header.context, packet.header.source, packet.header.tag};
  vci::Lane* lane = nullptr;
  if (!remove_message(vci.matching(), key, prefix.sender)) return;
  if (!vci.lane_to(prefix.process, prefix.vci, &lane)) return;
  const TakenBackPrefix taken{prefix.sender};
  lane->post_control({kTakenBack, sizeof taken, 0, 0, 0, 0}, &taken);
}

void on_taken_back(vci::Vci& vci, const wire::Packet& packet) {
  auto& send = *reinterpret_cast<SendRequest*>(packet.prefix_as<TakenBackPrefix>().sender);
  {
    LockGuard guard(send.lane->lock());  // orders this after the announcement, which another thread may have pushed
    if (send.revoked) {
      send.everything_there = true;
      return vci.wake_waiters();
    }
    note_pushed(send, false);
    send.taken_back = is_in_use(send);
    if (send.taken_back) return;  // the end of that ends it, too
  }
  end_cancelled(send);
}

}  // namespace heddle::p2p
