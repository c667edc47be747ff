// The default engine: a list while searches are short, bins while they are deep.
//
// Problem: programs that match in order want a list, whose first entry is the right one; programs that do not want a hash.
//          Most are the first kind most of the time, and nobody should have to say which.
// Method:  receives are queued in a list until a search has passed kScan of them; then all move to the bins of a hash, in
//          order, and later ones go there at once. When kCalm matches in a row came in the order of posting and the bins are
//          empty, the list is back; or kFew are left, and as many matches were in order as there are bins to look through for
//          them: one receive that waits for ever keeps nobody in the bins. The two borders are far apart, so a program that
//          alternates pays for a move of an entry, some ns, and not for one at every turn.
//          Messages always stand in a list in order of arrival, and in up to four tables of bins, one for each class of
//          receives: the table of a class is filled when a receive of it searches deep, and given up like the bins of the
//          receives. So a receive with wildcards finds its message in one step too, and nobody else pays for that. But each
//          table costs each message: one for a class with wildcards is there only while the searches that it saves would cost
//          more, by kPatience entries a message (Demand).
// Cost:    docs/decisions/match-default.md: within 2 ns + 15 % of the better one of list and hash at each depth.
#pragma once

#include <algorithm>
#include <array>

#include "match/bins.hpp"
#include "match/engine_base.hpp"

namespace heddle::match {

// Whether matches come in the order of the queue: how many of them in a row did.
class OrderWatch {
 public:
  void matched(std::uint64_t sequence) noexcept {
    run_ = (run_ + 1) & (0u - static_cast<unsigned>(sequence > last_));  // no branch: nobody could predict it
    last_ = sequence;
  }
  bool calm(std::size_t enough) const noexcept { return run_ >= enough; }

 private:
  std::uint64_t last_ = 0;
  unsigned run_ = 0;
};

// How many entries are compared, or would be, for each one that is queued: of late, by the searches of one class.
class Demand {
 public:
  // REQUIRES: `now`, how many were queued so far, does not fall.
  void note(std::uint64_t entries, std::uint64_t now) noexcept {
    age(now);
    entries_ += entries;
  }
  // How many are left until it is more than so many for each.
  std::uint64_t left(std::uint64_t each, std::uint64_t now) noexcept {
    age(now);
    const std::uint64_t most = each * (now - since_);
    return most - std::min(most, entries_);
  }

 private:
  // What is older than a window counts half, and half as much with each more.
  void age(std::uint64_t now) noexcept {
    const std::uint64_t windows = (now - since_) / kWindow;
    if (windows < 2) return;
    entries_ >>= std::min<std::uint64_t>(windows - 1, 63);
    since_ = now - kWindow;
  }

  static constexpr std::uint64_t kWindow = 1024;
  std::uint64_t since_ = 0, entries_ = 0;
};

// A search of a list that has passed kScan entries goes on in bins; one with wildcards only when kPatience is at its end too.
template <unsigned kScan, unsigned kCalm, unsigned kPatience>
class Adaptive : public EngineBase<Adaptive<kScan, kCalm, kPatience>> {
 public:
  ReceiveNode* arrive(const Key& message_key) noexcept {
    if (binned_) return arrive_in_bins(message_key, 0);
    std::uint64_t inspected = 0;
    ReceiveNode* receive = list_.front();
    for (; receive != nullptr; receive = list_.after(*receive)) {
      if (inspected == kScan) [[unlikely]] {
        move_to_bins();
        return arrive_in_bins(message_key, inspected);
      }
      ++inspected;
      if (matches(receive->key, message_key)) [[likely]] {
        unlink(*receive);
        break;
      }
    }
    stats_.posted.searched(inspected);
    return receive;
  }

  // arrive() of a message that the oldest receive admits; null: ask arrive(). Costs less when it is inlined.
  ReceiveNode* arrive_at_front(const Key& message_key) noexcept {
    ReceiveNode* receive = list_.front();  // null while they are in the bins
    if (receive == nullptr || !matches(receive->key, message_key)) return nullptr;
    List::remove(*receive);
    stats_.posted.removed();
    stats_.posted.searched_one();
    return receive;
  }
  // extract() of the message that is looked at first; null: ask extract(). Costs less when it is inlined.
  MessageNode* extract_at_front(const Key& receive_key) noexcept {
    const bool in_table = tables_in_use_ != 0;
    if (tables_in_use_ > kExactInUse || (in_table && has_wildcard(receive_key))) [[unlikely]]
      return nullptr;
    MessageNode* message = in_table ? exact_.of(mix(receive_key)).front() : order_.front();
    if (message == nullptr || !matches(receive_key, message->key)) return nullptr;
    stats_.unexpected.searched_one();
    order_.remove(*message);
    stats_.unexpected.removed(message->bytes);
    if (in_table) {
      exact_.remove(*message);
      note_taken(*message);
    }
    return message;
  }
  // post() while no message is queued; false: ask post().
  bool post_to_empty(ReceiveNode& receive) noexcept {
    if (!order_.empty()) return false;
    stats_.unexpected.searched_none();
    add_posted(receive);
    return true;
  }

  void add_unexpected(MessageNode& message) noexcept {
    this->stamp(message);
    order_.push_back(message);
    if (tables_in_use_ != 0) [[unlikely]]
      each_table([&](auto& table) { table.add(message); });
  }

  void add_posted(ReceiveNode& receive) noexcept {
    this->stamp(receive);
    binned_ ? bins_.add(receive) : list_.push_back(receive);
  }

  MessageNode* probe(const Key& receive_key) noexcept {
    MessageNode* message = order_.front();
    if (message != nullptr && tables_in_use_ == 0 && matches(receive_key, message->key)) [[likely]] {
      stats_.unexpected.searched_one();
      return message;
    }
    std::uint64_t inspected = 0;
    if (message != nullptr) {
      const unsigned c = class_of(receive_key);
      const bool in_table = (tables_in_use_ & 1u << c) != 0;
      message = in_table ? find_in_table(c, receive_key, inspected) : find_in_list(c, receive_key, inspected);
    }
    stats_.unexpected.searched(inspected);
    return message;
  }

  void remove(MessageNode& message) noexcept {
    order_.remove(message);
    stats_.unexpected.removed(message.bytes);
    if (tables_in_use_ != 0) [[unlikely]]
      remove_from_tables(message);
  }

 private:
  using Base = EngineBase<Adaptive<kScan, kCalm, kPatience>>;
  friend Base;
  using List = Queue<ReceiveNode, InBin>;
  using Base::next_sequence_;
  using Base::stats_;

  [[gnu::noinline]] ReceiveNode* arrive_in_bins(const Key& message_key, std::uint64_t inspected) noexcept {
    ReceiveNode* receive = bins_.find(message_key, inspected);
    stats_.posted.searched(inspected);
    if (receive != nullptr) remove_from_bins(*receive);
    return receive;
  }
  void unlink(ReceiveNode& receive) noexcept {
    if (binned_) return remove_from_bins(receive);
    List::remove(receive);
    stats_.posted.removed();
  }
  void remove_from_bins(ReceiveNode& receive) noexcept {
    stats_.posted.removed();
    bins_.remove(receive);
    posted_order_.matched(receive.sequence);
    if (bins_.size() <= kFew && posted_order_.calm(kCalm)) [[unlikely]]
      move_to_list();
  }
  [[gnu::noinline]] void move_to_bins() noexcept {
    while (ReceiveNode* receive = list_.pop_front()) bins_.add(*receive);
    binned_ = true;
  }
  // When as many matches were in order as there are bins to look through.
  [[gnu::noinline]] void move_to_list() noexcept {
    if (!bins_.empty()) {
      if (!posted_order_.calm(bins_.bins())) return;
      bins_.take_if([](const Key&) { return true; }, list_);
      posted_order_ = {};  // the next look through the bins is to be earned, too
    }
    binned_ = false;
  }

  // REQUIRES: there are messages; without tables the oldest one does not match.
  [[gnu::noinline]] MessageNode* find_in_list(unsigned c, const Key& key, std::uint64_t& inspected) noexcept {
    const std::uint64_t most = c == 0 ? kScan : kScan + demand_[c].left(kPatience, next_sequence_);
    MessageNode* message = order_.front();
    if (tables_in_use_ == 0) {
      message = order_.after(*message);
      inspected = 1;
    }
    for (; message != nullptr && inspected < most; message = order_.after(*message)) {
      ++inspected;
      if (matches(key, message->key)) {
        if (c != 0) demand_[c].note(inspected, next_sequence_);
        return message;
      }
    }
    if (c != 0) demand_[c].note(inspected, next_sequence_);
    if (message == nullptr) return nullptr;
    tables_in_use_ |= 1u << c;
    in_table(c, [&](auto& table) {
      for (message = order_.front(); message != nullptr; message = order_.after(*message)) table.add(*message);
    });
    return find_in_table(c, key, inspected);
  }
  MessageNode* find_in_table(unsigned c, const Key& key, std::uint64_t& inspected) noexcept {
    if (c == 0) return first_match(exact_.of(mix(key)), key, inspected);
    demand_[c].note(stats_.unexpected.length / kPartSearched, next_sequence_);
    MessageNode* found = nullptr;
    in_table(c, [&](auto& table) { found = first_match(table.of(mix(key)), key, inspected); });
    return found;
  }

  void remove_from_tables(MessageNode& message) noexcept {
    each_table([&](auto& table) { table.remove(message); });
    note_taken(message);
  }
  // REQUIRES: it was in the tables.
  void note_taken(const MessageNode& message) noexcept {
    taken_order_.matched(message.sequence);
    const bool calm = taken_order_.calm(kCalm);
    if (order_.empty() || (calm && stats_.unexpected.length <= kFew)) [[unlikely]]
      give_up_tables(calm);
  }
  [[gnu::noinline]] void give_up_tables(bool all) noexcept {
    for (unsigned c = 0; c < kClasses; ++c) {
      const unsigned bit = 1u << c;
      if ((tables_in_use_ & bit) == 0) continue;
      if (!all && (c == 0 || demand_[c].left(kPatience / 4, next_sequence_) == 0)) continue;
      tables_in_use_ &= ~bit;
      in_table(c, [&](auto& table) {
        for (MessageNode* left = order_.front(); left != nullptr; left = order_.after(*left)) table.remove(*left);
      });
    }
  }

  template <class F>
  void in_table(unsigned c, F&& f) noexcept {
    switch (c) {
      case 0:
        return f(exact_);
      case kAnySourceBit:
        return f(any_source_);
      case kAnyTagBit:
        return f(any_tag_);
      default:
        return f(any_);
    }
  }
  // The tables in use.
  template <class F>
  void each_table(F&& f) noexcept {
    if (tables_in_use_ & 1) f(exact_);
    for (unsigned left = tables_in_use_ & ~1u; left != 0; left &= left - 1) [[unlikely]] {
        in_table(static_cast<unsigned>(std::countr_zero(left)), f);
      }
  }

  template <class Wanted, class OnReceive, class OnMessage>
  void take_if(Wanted wanted, OnReceive& on_receive, OnMessage& on_message) noexcept {
    List taken;
    bins_.take_if(wanted, taken);
    move_if(list_, wanted, taken);
    while (ReceiveNode* receive = taken.pop_front()) {
      stats_.posted.removed();
      on_receive(*receive);
    }
    this->take_messages_if(order_, wanted, on_message);
  }

  List list_;
  ReceiveBins bins_;
  OrderWatch posted_order_;
  bool binned_ = false;  // all receives are in the bins; else all are in the list

  static constexpr std::size_t kFew = (kScan + 1) / 2;
  static constexpr unsigned kExactInUse = 1;
  static constexpr std::size_t kPartSearched = 4;  // of a list that messages leave in random order: a quarter
  unsigned tables_in_use_ = 0;                     // bit c: that of class c holds all messages; else none
  std::array<Demand, kClasses> demand_;            // for tables of classes with wildcards
  Queue<MessageNode, InOrder> order_;
  Bins<MessageNode, InClass<0>, 0> exact_;
  Bins<MessageNode, InClass<1>, kAnySourceBit> any_source_;
  Bins<MessageNode, InClass<2>, kAnyTagBit> any_tag_;
  Bins<MessageNode, InClass<3>, kAnySourceBit | kAnyTagBit> any_;
  OrderWatch taken_order_;
};

// At 8 entries in random order list and bins cost the same.
using AdaptiveEngine = Adaptive<8, 64, 4>;
static_assert(Engine<AdaptiveEngine>);

}  // namespace heddle::match
