#include "vci/held.hpp"

#include <algorithm>
#include <utility>

namespace heddle::vci {

HeldMessages::~HeldMessages() {
  close();
  while (!order_.empty()) pop_front();
}

bool HeldMessages::hold(MessageOp& message, const Envelope& envelope) noexcept {
  HeldMessage* held = messages_.take(message, envelope);
  if (held == nullptr) return false;
  message.held = held;
  held->number = ++held_;
  call_search(*held);
  engine_.add_unexpected(*held);
  order_.push_back(*held);
  return true;
}

void HeldMessages::call_search(HeldMessage& message) noexcept {
  if (message.end != nullptr) return;
  auto* search = static_cast<Search*>(engine_.arrive(message.key));
  if (search == nullptr) return;
  search->caller = &message;
  search->caller_number = message.number;
  pending_.insert(standing_.extract(search->order));
}

void HeldMessages::search(const match::Key& key, std::uint64_t name, bool is_receive) {
  const std::uint64_t order = next_order_++;
  Search* search = searches_.take(key, name, order, is_receive);
  pending_.emplace(order, search);
  if (is_receive) by_name_.insert_or_assign(name, search);
}

void HeldMessages::give_back(Search& search) noexcept {
  const auto named = by_name_.find(search.name);
  if (named != by_name_.end() && named->second == &search) by_name_.erase(named);
  searches_.give_back(&search);
}

// One that is on offer is answered by the receiver.
void HeldMessages::end_search(std::uint64_t name) noexcept {
  const auto named = by_name_.find(name);
  if (named == by_name_.end()) return;
  Search& search = *named->second;
  if (standing_.erase(search.order) != 0) {
    engine_.cancel(search);
  } else if (pending_.erase(search.order) == 0) {
    return;
  }
  HeldMessage* caller = search.caller;  // what it was to have may be for another
  const bool calls = caller != nullptr && caller->number == search.caller_number;
  give_back(search);
  if (calls) call_search(*caller);
}

// In the order of arrival, also if it has stood before and was called by a message that is gone.
void HeldMessages::stand(Search& search) noexcept {
  const auto younger = standing_.upper_bound(search.order);
  for (auto at = younger; at != standing_.end(); ++at) engine_.cancel(*at->second);
  engine_.add_posted(search);
  for (auto at = younger; at != standing_.end(); ++at) engine_.add_posted(*at->second);
  standing_.emplace(search.order, &search);
}

bool HeldMessages::next_answer(Answer* answer) noexcept {
  while (on_offer_ == nullptr && !pending_.empty()) {
    Search& search = *pending_.begin()->second;
    pending_.erase(pending_.begin());
    auto* message = static_cast<HeldMessage*>(engine_.probe(search.key));
    if (message == nullptr) {
      stand(search);
      continue;
    }
    message->shown = true;
    if (search.is_receive) {
      on_offer_ = message;
      ++offers_;
    } else if (std::ranges::find(found_, message) == found_.end()) {
      found_.push_back(message);
    }
    *answer = {search.name, message, search.is_receive};
    HeldMessage* caller = search.caller;  // the memory of one that is gone is still one's (base/slab.hpp)
    const bool called_by_another = caller != nullptr && caller != message && caller->number == search.caller_number;
    search.caller = nullptr;
    if (search.is_receive) {
      offered_to_ = &search;
    } else {
      searches_.give_back(&search);
      call_search(*message);
    }
    if (called_by_another) call_search(*caller);
    return true;
  }
  return false;
}

// The receive may have been searched for once more, after searches were forgotten.
MessageOp* HeldMessages::accept() noexcept {
  ++takes_;
  const std::uint64_t name = give_back_offered();
  MessageOp* op = remove(*std::exchange(on_offer_, nullptr));
  end_search(name);
  return op;
}

void HeldMessages::leave() noexcept {
  const std::uint64_t name = give_back_offered();
  HeldMessage& message = *std::exchange(on_offer_, nullptr);
  end_search(name);
  message.end != nullptr ? hide(message) : call_search(message);
}

std::uint64_t HeldMessages::give_back_offered() noexcept {
  const std::uint64_t name = offered_to_->name;
  give_back(*offered_to_);
  return name;
}

// The search keeps its place: later ones must not get what it is due. When it ends without it, the message calls another.
void HeldMessages::withdraw_offer() noexcept {
  if (on_offer_ == nullptr) return;
  offered_to_->caller = on_offer_;
  offered_to_->caller_number = on_offer_->number;
  if (on_offer_->end != nullptr) hide(*on_offer_);
  on_offer_ = nullptr;
  pending_.emplace(offered_to_->order, offered_to_);
}

MessageOp* HeldMessages::take(std::uint64_t name) noexcept {
  ++takes_;
  withdraw_offer();
  const auto found = std::ranges::find(found_, name, &HeldMessage::name);
  return found != found_.end() ? remove(**found) : nullptr;
}

const HeldMessage* HeldMessages::front() const noexcept {
  const HeldMessage* oldest = order_.front();
  return oldest == on_offer_ || (oldest != nullptr && oldest->end != nullptr) ? nullptr : oldest;
}

void HeldMessages::forget_searches() noexcept {
  for (const auto& [order, search] : pending_) give_back(*search);
  for (const auto& [order, search] : standing_) {
    engine_.cancel(*search);
    give_back(*search);
  }
  pending_.clear();
  standing_.clear();
  found_.clear();
}

void HeldMessages::close() noexcept {
  withdraw_offer();
  forget_searches();
  for (HeldMessage* message : recalled_) message->end = nullptr;
  recalled_.clear();
}

bool HeldMessages::cancel(MessageOp& message) noexcept {
  if (message.held == nullptr || message.held->shown) return false;
  remove(*message.held);
  return true;
}

std::uint64_t HeldMessages::recall(MessageOp& message, EndRecalled end) noexcept {
  HeldMessage& held = *message.held;
  if (held.end != nullptr) return 0;
  held.end = end;
  recalled_.push_back(&held);
  if (&held != on_offer_) hide(held);
  return held.number;
}

// What the receiver has said of an offer came before this.
HeldMessages::Recalled HeldMessages::recalled(std::uint64_t number) noexcept {
  const auto at = std::ranges::find(recalled_, number, &HeldMessage::number);
  if (at == recalled_.end()) return {};
  const EndRecalled end = (*at)->end;
  return {remove(**at), end};
}

HeldMessages::Recalled HeldMessages::take_recalled() noexcept {
  if (recalled_.empty()) return {};
  withdraw_offer();
  return recalled(recalled_.front()->number);
}

void HeldMessages::hide(HeldMessage& message) noexcept {
  engine_.remove(message);
  message.is_hidden = true;
}

// REQUIRES: it is not on offer.
MessageOp* HeldMessages::remove(HeldMessage& message) noexcept {
  MessageOp* op = message.op;
  std::erase(found_, &message);
  std::erase(recalled_, &message);
  if (!message.is_hidden) engine_.remove(message);
  order_.remove(message);
  op->held = nullptr;
  message.number = 0;
  messages_.give_back(&message);
  return op;
}

}  // namespace heddle::vci
