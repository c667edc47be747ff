// An engine for long queues: bins by the mixed key.
//
// Problem: with hundreds of receives outstanding a list inspects hundreds of entries for one message.
// Method:  a receive lies in the bin of its own key, wildcards included: one table holds all four classes (exact, any
//          source, any tag, both). A message looks into the bins of the up to four keys that could admit it, only for
//          classes that have receives, and the smallest sequence wins. Unexpected messages lie in the bin of their key
//          and in one list in order of arrival; an exact receive asks its bin, a wildcard walks the list.
//          Bins are in order of age, so a search of a bin ends at the first entry that equals, or is younger than a
//          match from another class.
//
//     table    bins: 2^k rings          order (messages only)
//            +-----+
//            |  0  |--> node <-> node
//            |  1  |                      oldest <-> ... <-> newest
//            | ... |
//            +-----+
//
// Memory:  kFirstBins bins inside each table; the table doubles, in a cold path, when it holds more nodes than bins, up
//          to kMostBins. Where memory is refused the bins just get longer.
// Cost:    docs/decisions/match-default.md. A wildcard receive that meets many unexpected messages costs as in a list.
#pragma once

#include <array>
#include <cstddef>
#include <new>

#include "match/age.hpp"
#include "match/engine.hpp"

namespace heddle::match {

// All bits of the result depend on all bits of the key: one 64 × 64 bit product, folded. The constants have bits set
// that no source and no context has, so neither factor is ever zero.
inline std::uint64_t mix(const Key& key) noexcept {
  const std::uint64_t who =
      std::uint64_t{static_cast<std::uint32_t>(key.source)} << 32 | static_cast<std::uint32_t>(key.tag);
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{who ^ 0xa0761d6478bd642fu} * (key.context ^ 0xe7037ed1a0b428dbu);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// Bins of nodes, each in order of age. Grows, never shrinks.
template <class Node>
class BinTable {
 public:
  using Bin = Queue<Node, InBin>;
  static constexpr std::size_t kFirstBins = 16;
  static constexpr std::size_t kMostBins = std::size_t{1} << 16;

  BinTable() noexcept = default;
  BinTable(const BinTable&) = delete;
  BinTable& operator=(const BinTable&) = delete;
  ~BinTable() {
    if (bins_ != first_.data()) delete[] bins_;
  }

  // `mixed` is mix(key) of what is looked for or added.
  const Bin& of(std::uint64_t mixed) const noexcept { return bins_[mixed & mask_]; }

  void add(Node& node, std::uint64_t mixed) noexcept {
    if (size_ == grow_at_) grow();
    ++size_;
    bins_[mixed & mask_].push_back(node);
  }
  void remove(Node& node) noexcept {
    --size_;
    Bin::remove(node);
  }

  std::size_t bins() const noexcept { return mask_ + 1; }
  Bin& bin(std::size_t i) noexcept { return bins_[i]; }

 private:
  // Nodes leave the old bins in order, and two nodes of a new bin were in one old bin: the order of age survives.
  [[gnu::cold, gnu::noinline]] void grow() noexcept {
    grow_at_ *= 2;
    if (bins() == kMostBins) return;
    const std::size_t count = 2 * bins();
    Bin* larger = new (std::nothrow) Bin[count];
    if (larger == nullptr) return;
    for (std::size_t i = 0; i < bins(); ++i) {
      while (Node* node = bins_[i].pop_front()) larger[mix(node->key) & (count - 1)].push_back(*node);
    }
    if (bins_ != first_.data()) delete[] bins_;
    bins_ = larger;
    mask_ = count - 1;
  }

  std::array<Bin, kFirstBins> first_;
  Bin* bins_ = first_.data();
  std::size_t mask_ = kFirstBins - 1;
  std::size_t size_ = 0;
  std::size_t grow_at_ = kFirstBins;
};

class HashEngine {
 public:
  MessageNode* post(ReceiveNode& receive) noexcept {
    const std::uint64_t mixed = mix(receive.key);
    if (MessageNode* message = find(receive.key, mixed)) {
      remove(*message);
      return message;
    }
    add_posted(receive, mixed);
    return nullptr;
  }

  ReceiveNode* arrive(const Key& message_key) noexcept {
    std::uint64_t inspected = 0;
    ReceiveNode* oldest = nullptr;
    if (in_class_[0] != 0) oldest = older_in_bin(message_key, nullptr, inspected);
    if (with_wildcard_ != 0) [[unlikely]] {
      for (unsigned c = 1; c < kClasses; ++c) {
        if (in_class_[c] != 0) oldest = older_in_bin(widened(message_key, c), oldest, inspected);
      }
    }
    stats_.posted.searched(inspected);
    if (oldest != nullptr) unlink(*oldest);
    return oldest;
  }

  void add_unexpected(MessageNode& message) noexcept {
    message.sequence = next_sequence_++;
    unexpected_.add(message, mix(message.key));
    order_.push_back(message);
    stats_.unexpected.added();
  }

  void add_posted(ReceiveNode& receive) noexcept { add_posted(receive, mix(receive.key)); }

  bool cancel(ReceiveNode& receive) noexcept {
    if (!receive.queued()) return false;
    unlink(receive);
    return true;
  }

  MessageNode* probe(const Key& receive_key) const noexcept { return find(receive_key, mix(receive_key)); }

  MessageNode* extract(const Key& receive_key) noexcept {
    MessageNode* message = probe(receive_key);
    if (message != nullptr) remove(*message);
    return message;
  }

  void remove(MessageNode& message) noexcept {
    unexpected_.remove(message);
    order_.remove(message);
    stats_.unexpected.removed();
  }

  template <class OnReceive, class OnMessage>
  void purge(std::uint32_t context, OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    take_if([context](const Key& key) { return key.context == context; }, on_receive, on_message);
  }

  template <class OnReceive, class OnMessage>
  void drain_in_order(OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    take_if([](const Key&) { return true; }, on_receive, on_message);
  }

  const Stats& stats() const noexcept { return stats_; }

 private:
  static constexpr unsigned kAnySourceBit = 1;
  static constexpr unsigned kAnyTagBit = 2;
  static constexpr unsigned kClasses = 4;
  using Receives = Queue<ReceiveNode, InBin>;

  static unsigned class_of(const Key& key) noexcept {
    return (key.source == kAnySource ? kAnySourceBit : 0) | (key.tag == kAnyTag ? kAnyTagBit : 0);
  }

  // The key under which a receive of class `c` that admits the message is kept.
  static Key widened(Key key, unsigned c) noexcept {
    if (c & kAnySourceBit) key.source = kAnySource;
    if (c & kAnyTagBit) key.tag = kAnyTag;
    return key;
  }

  // The oldest receive of exactly this key, if older than `best`; else `best`.
  ReceiveNode* older_in_bin(const Key& key, ReceiveNode* best, std::uint64_t& inspected) noexcept {
    const Receives& bin = posted_.of(mix(key));
    for (ReceiveNode* receive = bin.front(); receive != nullptr; receive = bin.after(*receive)) {
      if (best != nullptr && best->sequence < receive->sequence) return best;
      ++inspected;
      if (receive->key == key) return receive;
    }
    return best;
  }

  MessageNode* find(const Key& key, std::uint64_t mixed) const noexcept {
    std::uint64_t inspected = 0;
    MessageNode* message = nullptr;
    if (stats_.unexpected.length != 0) {
      message = has_wildcard(key)
                    ? first(order_, inspected, [&](const Key& other) { return matches(key, other); })
                    : first(unexpected_.of(mixed), inspected, [&](const Key& other) { return other == key; });
    }
    stats_.unexpected.searched(inspected);
    return message;
  }

  template <class Messages, class Admits>
  static MessageNode* first(const Messages& messages, std::uint64_t& inspected, Admits admits) noexcept {
    MessageNode* message = messages.front();
    for (; message != nullptr; message = messages.after(*message)) {
      ++inspected;
      if (admits(message->key)) break;
    }
    return message;
  }

  void add_posted(ReceiveNode& receive, std::uint64_t mixed) noexcept {
    receive.sequence = next_sequence_++;
    posted_.add(receive, mixed);
    const unsigned c = class_of(receive.key);
    ++in_class_[c];
    with_wildcard_ += c != 0;
    stats_.posted.added();
  }

  void unlink(ReceiveNode& receive) noexcept {
    posted_.remove(receive);
    const unsigned c = class_of(receive.key);
    --in_class_[c];
    with_wildcard_ -= c != 0;
    stats_.posted.removed();
  }

  template <class Wanted, class OnReceive, class OnMessage>
  void take_if(Wanted wanted, OnReceive& on_receive, OnMessage& on_message) noexcept {
    Receives taken;
    for (std::size_t i = 0; i < posted_.bins(); ++i) {
      Receives& bin = posted_.bin(i);
      for (ReceiveNode* next = bin.front(); ReceiveNode* receive = next;) {
        next = bin.after(*receive);
        if (!wanted(receive->key)) continue;
        unlink(*receive);
        taken.push_back(*receive);
      }
    }
    sort_by_age(taken);
    while (ReceiveNode* receive = taken.pop_front()) on_receive(*receive);

    for (MessageNode* next = order_.front(); MessageNode* message = next;) {
      next = order_.after(*message);
      if (!wanted(message->key)) continue;
      remove(*message);
      on_message(*message);
    }
  }

  BinTable<ReceiveNode> posted_;
  std::array<std::size_t, kClasses> in_class_{};
  std::size_t with_wildcard_ = 0;  // in the classes above the first
  BinTable<MessageNode> unexpected_;
  Queue<MessageNode, InOrder> order_;
  std::uint64_t next_sequence_ = 0;
  mutable Stats stats_;
};
static_assert(Engine<HashEngine>);

}  // namespace heddle::match
