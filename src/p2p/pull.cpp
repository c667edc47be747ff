// All under the VCI's lock, but for the read.
#include "p2p/pull.hpp"

#include <algorithm>
#include <utility>

#include "p2p/receive.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {

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
  bool at_once;          // or after rounds in vain
  bool alone;            // the sender has not been asked for anything
  bool claimed = false;  // anything
  bool failed = false;
  bool reading = false;  // with no lock held
};

std::uint32_t most_at_once(const vci::Domain& domain, std::size_t unit) noexcept {
  return static_cast<std::uint32_t>(std::max<std::size_t>(domain.profile().pull_bytes / unit, 1));
}

namespace {

// For the sender. Where its cells are emptied while it fills the next ones, the slower of the two counts.
std::uint64_t what_costs_less(const Pull& pull) noexcept {
  if (pull.failed || pull.memory->way() == wire::PeerMemory::Way::kRefused) return kSaysWhich;
  const bool overlap =
      !may_be_written(pull.receive->args.channel, pull.receive->expected) && pull.vci->domain().ranks_on_a_core() == 1;
  return kSaysWhich | (pull.memory->all().costs().means().reading_is_cheaper(overlap) ? kReadsNext : 0);
}

// The receive needs its pull no more.
void let_go(ReceiveRequest& receive) noexcept {
  Pull& pull = *std::exchange(receive.pull, nullptr);
  const FinPrefix fin{pull.sender, what_costs_less(pull)};
  if (pull.claimed) answer(receive, kFin, &fin, sizeof fin);
  pull.receive = nullptr;
}

void complete(ReceiveRequest& receive) noexcept {
  if (receive.pull != nullptr) let_go(receive);
  finish(receive);
}

// Asks the sender for what this one does not read. `to`: where it may be written, 0: nowhere; and what_costs_less().
void ask(ReceiveRequest& receive, std::uint64_t sender, std::uint64_t to) noexcept {
  const CtsPrefix cts{sender, reinterpret_cast<std::uint64_t>(&receive), to};
  answer(receive, kCts, &cts, sizeof cts);
}

// Reading stops, so the sender has to push the rest.
void ask_for_rest(Pull& pull) noexcept {
  if (std::exchange(pull.alone, false)) ask(*pull.receive, pull.sender, kSaysWhich);  // it is not to be tried again
}

// Claims units and reads them. REQUIRES: the VCI's lock, which is let go meanwhile. True: something moved.
bool read_some(Pull& pull) noexcept NO_THREAD_SAFETY_ANALYSIS {
  ReceiveRequest& receive = *pull.receive;
  if (!pull.plain && pull.memory->way() == wire::PeerMemory::Way::kRefused) {  // since another message failed
    ask_for_rest(pull);
    return false;
  }
  const std::uint32_t most = most_at_once(receive.vci->domain(), pull.unit);
  const wire::Units got = pull.claims.claim(pull.at_once && !pull.alone ? pull.claims.fair(most) : most);
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
    ask_for_rest(pull);
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
    if (pull.receive != nullptr && !pull.at_once && pull.seen != pull.receive->arrived) {
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

// Whether this side is to copy all of a message that is copied at once: the sender may not write, or has no core, or, as in an
// exchange, is likely to copy another itself.
bool goes_alone(const ReceiveRequest& receive, std::uint64_t bytes, const wire::SingleCopy& all) noexcept {
  if (!may_be_written(receive.args.channel, bytes) || all.sides() == wire::Sides::kAlone) return true;
  if (all.sides() == wire::Sides::kBoth) return false;
  return receive.vci->domain().ranks_on_a_core() > 1 || all.has_offers_at_once();
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
  pull->at_once = pull->plain || offer.is_at_once();
  pull->alone = pull->plain || (offer.is_at_once() && goes_alone(receive, rts.total, memory->all()));
  pull->patience = pull->at_once ? 0 : receive.vci->domain().profile().pull_after;
  return pull;
}

}  // namespace

bool sender_knows(const ReceiveRequest& receive) noexcept { return receive.pull == nullptr || !receive.pull->alone; }

bool detach_pull(ReceiveRequest& receive) noexcept {
  if (receive.pull == nullptr) return true;
  if (receive.pull->reading) return false;
  let_go(receive);
  return true;
}

void answer_announcement(ReceiveRequest& receive, const RtsPrefix& rts) noexcept {
  Pull* pull = make_pull(receive, rts);
  receive.pull = pull;
  receive.fetching = nullptr;
  vci::Vci& vci = *receive.vci;
  // A process that sends to itself would only help itself by way of cells.
  if (pull == nullptr) {
    ask(receive, rts.sender, wire::Offer(rts.offer).is_at_once() ? kSaysWhich : 0);
  } else if (!pull->alone) {
    const std::byte* to = pull->at_once ? pull->to : nullptr;
    ask(receive, rts.sender, reinterpret_cast<std::uint64_t>(to) | what_costs_less(*pull));
  }
  if (pull != nullptr) vci.add_idle_task(*pull);  // not before the answer: a fin may not pass it
}

void on_data(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<DataPrefix>();
  auto& receive = *reinterpret_cast<ReceiveRequest*>(prefix.receiver);
  const auto take = [&] {
    receive.take(prefix.at, packet.payload, packet.payload_bytes);
    return prefix.at + packet.payload_bytes <= receive.cursor.total() ? packet.payload_bytes : 0;
  };
  wire::CopyCosts* costs = receive.vci->domain().copy_costs();
  if (costs != nullptr && receive.cursor.contiguous()) {
    costs->time(wire::Copy::kEmpty, packet.payload_bytes, take);
  } else {
    take();
  }
  if (receive.arrived == receive.expected) complete(receive);
}

void on_written(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<WrittenPrefix>();
  auto& receive = *reinterpret_cast<ReceiveRequest*>(prefix.receiver);
  receive.arrived += prefix.bytes;
  if (receive.arrived == receive.expected) complete(receive);
}

}  // namespace heddle::p2p
