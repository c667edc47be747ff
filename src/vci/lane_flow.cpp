// A lane's messages and their credit: what goes, what is held, and what the receiver says of it.
#include <new>

#include "vci/domain.hpp"
#include "vci/lane.hpp"
#include "vci/vci.hpp"

namespace heddle::vci {

using portals::Credit;

// Makes messages ready, as far as there is credit and nothing that they must not pass.
bool Lane::refill() noexcept {
  if (!queue_.empty() || has_held()) return false;
  if (credit_.open()) return true;
  if (credit_.must_ask_for_headers()) ask();
  return false;
}

// Takes the credit of a message. False: there is none, and the receiver is asked. True: it is asked after the message, if it has to be,
// as over a network what comes second may wait for company.
bool Lane::admit(MessageOp& op, std::uint64_t total) noexcept {
  if (closed_) return true;
  const std::size_t bytes = std::min<std::size_t>(total, max_packet());
  const bool wants_bytes = bytes > LaneCredit::kFree;
  const bool has_bytes = bytes <= credit_.bytes();
  if (credit_.headers() == 0) {
    if (credit_.must_ask_for_headers()) ask();
    return false;
  }
  if (wants_bytes && !has_bytes && !credit_.has_no_bytes()) {
    if (!credit_.is_asked()) ask();
    return false;
  }
  op.stays = wants_bytes && !has_bytes;
  credit_.take_header();
  if (wants_bytes && has_bytes) credit_.take_bytes(bytes);
  return true;
}

void Lane::ask_if_short() noexcept {
  if (credit_.is_short() && !closed_) ask();
}

void Lane::queue_message(MessageOp& op, const Envelope& envelope) noexcept {
  lock_.lock();
  bool blocked = false, is_short = false;
  if (has_held() || !admit(op, envelope.total)) {
    hold(op, envelope);
    answer_searches();
    blocked = set_busy();
    lock_.unlock();
  } else {
    is_short = credit_.is_short();
    lock_.unlock();
    queue(op);
  }
  if (is_short) {
    LockGuard guard(lock_);
    ask_if_short();
  }
  if (blocked) owner_.wake_waiters();
}

HeldMessages* Lane::held() noexcept {
  if (held_ == nullptr) held_.reset(new (std::nothrow) HeldMessages);
  return held_.get();
}

void Lane::hold(MessageOp& op, const Envelope& envelope) noexcept {
  if (held() == nullptr || !held_->hold(op, envelope)) owner_.domain().fatal("no memory to hold a message back");
  op.whole = false;  // its receiver would drop it
  credit_.close();   // nothing may pass it
}

// Sends what is held as far as there is credit; all of it where nobody is at the other end.
void Lane::release_held() noexcept {
  if (held_ == nullptr) return;
  const bool all = closed_ || tx_.is_away();
  if (all && !closed_ && held_->has_recalled()) return;  // progress() ends those first
  if (all) held_->close();
  while (const HeldMessage* oldest = held_->front()) {
    MessageOp& op = *oldest->op;
    if (!all && !admit(op, oldest->total)) break;
    held_->pop_front();
    queue_.push_back(op);
  }
  if (!queue_.empty()) credit_.close();
}

portals::AskFrom Lane::self() const noexcept {
  return {owner_.domain().self(), static_cast<std::uint16_t>(owner_.index()), credit_.grants()};
}

void Lane::ask() noexcept {
  portals::AskPrefix prefix{reinterpret_cast<std::uint64_t>(this), {}, {}};
  credit_.ask(&prefix.used, &prefix.left);
  const portals::AskFrom from = self();
  post_control_locked({portals::kFlowPortal, sizeof prefix, portals::kAsk, 0, 0, 0}, &prefix, &from, sizeof from);
}

void Lane::answer_searches() noexcept {
  Answer answer;
  while (held_ != nullptr && held_->next_answer(&answer)) {
    const HeldMessage& message = *answer.message;
    const portals::OfferPrefix prefix{answer.search, message.name, message.total};
    const std::uint8_t portal = answer.is_offer ? portals::kOfferPortal : portals::kFoundPortal;
    post_control_locked(
        {portal, sizeof prefix, held_->takes(), message.key.context, message.key.source, message.key.tag}, &prefix,
        nullptr, 0);
  }
}

// The receiver has taken a message. Its cts may have come before that, by another lane.
void Lane::taken(MessageOp* op) noexcept {
  if (op != nullptr && op->answered) streams_.push_back(*op);
  after_decision();
}

void Lane::after_decision() noexcept {
  release_held();  // a grant may have come meanwhile
  answer_searches();
  push_all();
  ask_if_short();
  set_busy();
}

void Lane::on_flow(const wire::Packet& packet) noexcept {
  bool wake = false;
  HeldMessages::Recalled recalled;
  {
    LockGuard guard(lock_);
    if (closed_) return;
    switch (packet.header.code) {
      case portals::kGrant: {
        const auto grant = packet.prefix_as<portals::GrantPrefix>();
        credit_.grant(grant);
        if (held_ != nullptr && grant.credit.headers != 0) held_->forget_searches();
        release_held();
        push_all();
        ask_if_short();
        set_busy();
        wake = true;  // who waits may keep its message at home now
        break;
      }
      case portals::kSearch:
      case portals::kPeek: {
        if (held() == nullptr) owner_.domain().fatal("no memory to search for a message");
        held_->search({packet.header.context, packet.header.source, packet.header.tag},
                      packet.prefix_as<portals::SearchPrefix>().search, packet.header.code == portals::kSearch);
        answer_searches();
        break;
      }
      case portals::kEnd:
        if (held_ == nullptr) break;
        held_->end_search(packet.prefix_as<portals::SearchPrefix>().search);
        answer_searches();
        break;
      case portals::kAccept:
        if (held_->is_on_offer(packet.prefix_as<portals::DecisionPrefix>().sender)) taken(held_->accept());
        break;
      case portals::kLeave:
        if (held_->is_on_offer(packet.prefix_as<portals::DecisionPrefix>().sender)) held_->leave();
        after_decision();
        break;
      case portals::kTake:
        taken(held_->take(packet.prefix_as<portals::DecisionPrefix>().sender));
        break;
      case portals::kRecalled:
        if (held_ == nullptr) break;
        recalled = held_->recalled(packet.prefix_as<portals::DecisionPrefix>().sender);
        after_decision();
        break;
      default:
        owner_.domain().fatal("a packet of flow control came that no peer of this version sends");
    }
  }
  if (recalled.op != nullptr) recalled.end(*recalled.op);
  if (wake) owner_.wake_waiters();
}

LaneCounts Lane::counts() noexcept {
  LockGuard guard(lock_);
  LaneCounts counts{credit_.taken(), 0, 0};
  if (held_ != nullptr) {
    counts.held = held_->held();
    counts.offers = held_->offers();
  }
  return counts;
}

}  // namespace heddle::vci
