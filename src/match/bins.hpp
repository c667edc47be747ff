// A hash table whose bins are rings of nodes in order of age; what the engines that use one share.
//
// Method:  a node lies in the bin of its key. Receives lie in one table under their own keys, wildcards included, and a
//          message looks into the bins of the up to four keys that could admit it. A table of messages is of one class of
//          receives: it keeps a message under the key that a receive of that class would have.
// Memory:  one bin inside; then the table is 2^k bins from the heap, which double, in a cold path, when it holds more nodes
//          than bins, up to kMostBins. Where memory is refused the bins just get longer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>

#include "match/age.hpp"

namespace heddle::match {

// The four classes of receives: by source and tag, with any source, with any tag, with both.
inline constexpr unsigned kAnySourceBit = 1;
inline constexpr unsigned kAnyTagBit = 2;
inline constexpr unsigned kClasses = 4;

constexpr unsigned class_of(const Key& key) noexcept {
  return (key.source == kAnySource ? kAnySourceBit : 0) | (key.tag == kAnyTag ? kAnyTagBit : 0);
}

// The key of a receive of class `c` that admits the message.
constexpr Key widened(Key key, unsigned c) noexcept {
  if (c & kAnySourceBit) key.source = kAnySource;
  if (c & kAnyTagBit) key.tag = kAnyTag;
  return key;
}

// All bits of the result depend on all bits of the key: one 64 × 64 bit product, folded. The constants have bits set
// that no source and no context has, so neither factor is ever zero.
inline std::uint64_t mix(const Key& key) noexcept {
  const std::uint64_t who =
      std::uint64_t{static_cast<std::uint32_t>(key.source)} << 32 | static_cast<std::uint32_t>(key.tag);
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{who ^ 0xa0761d6478bd642fu} * (key.context ^ 0xe7037ed1a0b428dbu);
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// The oldest message of a bin or of a list that the receive admits.
template <class Messages>
MessageNode* first_match(const Messages& messages, const Key& receive_key, std::uint64_t& inspected) noexcept {
  MessageNode* message = messages.front();
  for (; message != nullptr; message = messages.after(*message)) {
    ++inspected;
    if (matches(receive_key, message->key)) break;
  }
  return message;
}

template <class Node, class Tag, unsigned kClass = 0>
class Bins {
 public:
  using Bin = Queue<Node, Tag>;
  static constexpr std::size_t kFirstBins = 16;
  static constexpr std::size_t kMostBins = std::size_t{1} << 16;

  Bins() noexcept = default;
  // A table of `bins` for ever, rounded up to a power of two.
  explicit Bins(std::size_t bins) noexcept {
    std::size_t count = 1;
    while (count < bins && count < kMostBins) count *= 2;
    if (count > 1) resize(count);
    grow_at_ = SIZE_MAX;
  }
  Bins(const Bins&) = delete;
  Bins& operator=(const Bins&) = delete;
  ~Bins() {
    if (bins_ != &one_) delete[] bins_;
  }

  bool empty() const noexcept { return size_ == 0; }
  // `mixed` is mix() of what is looked for or added.
  const Bin& of(std::uint64_t mixed) const noexcept { return bins_[mixed & mask_]; }

  void add(Node& node, std::uint64_t mixed) noexcept {
    if (size_ == grow_at_) grow();
    ++size_;
    bins_[mixed & mask_].push_back(node);
  }
  void add(Node& node) noexcept { add(node, mix(widened(node.key, kClass))); }
  void remove(Node& node) noexcept {
    --size_;
    Bin::remove(node);
  }

  std::size_t size() const noexcept { return size_; }
  std::size_t bins() const noexcept { return mask_ + 1; }
  Bin& bin(std::size_t i) noexcept { return bins_[i]; }

 private:
  [[gnu::cold, gnu::noinline]] void grow() noexcept {
    grow_at_ = grow_at_ == 1 ? kFirstBins : 2 * grow_at_;
    if (bins() < kMostBins) resize(bins() == 1 ? kFirstBins : 2 * bins());
  }
  // Nodes leave the old bins in order, and two nodes of a new bin were in one old bin: the order of age survives.
  void resize(std::size_t count) noexcept {
    Bin* larger = new (std::nothrow) Bin[count];
    if (larger == nullptr) return;
    for (std::size_t i = 0; i < bins(); ++i) {
      while (Node* node = bins_[i].pop_front()) {
        larger[mix(widened(node->key, kClass)) & (count - 1)].push_back(*node);
      }
    }
    if (bins_ != &one_) delete[] bins_;
    bins_ = larger;
    mask_ = count - 1;
  }

  Bin one_;
  Bin* bins_ = &one_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  std::size_t grow_at_ = 1;
};

// The receives of a table, and what a message finds there.
class ReceiveBins {
 public:
  using Receives = Queue<ReceiveNode, InBin>;

  ReceiveBins() noexcept = default;
  explicit ReceiveBins(std::size_t bins) noexcept : table_(bins) {}

  bool empty() const noexcept { return table_.empty(); }
  std::size_t size() const noexcept { return table_.size(); }
  std::size_t bins() const noexcept { return table_.bins(); }

  // The oldest receive that admits the message.
  ReceiveNode* find(const Key& message_key, std::uint64_t& inspected) const noexcept {
    ReceiveNode* oldest = nullptr;
    if (in_class_[0] != 0) oldest = older_in_bin(message_key, nullptr, inspected);
    if (with_wildcard_ != 0) [[unlikely]]
      return older_with_wildcard(message_key, oldest, inspected);
    return oldest;
  }
  void add(ReceiveNode& receive) noexcept { add(receive, mix(receive.key)); }
  void add(ReceiveNode& receive, std::uint64_t mixed) noexcept {
    table_.add(receive, mixed);
    const unsigned c = class_of(receive.key);
    ++in_class_[c];
    with_wildcard_ += c != 0;
  }
  void remove(ReceiveNode& receive) noexcept {
    table_.remove(receive);
    const unsigned c = class_of(receive.key);
    --in_class_[c];
    with_wildcard_ -= c != 0;
  }
  // Takes out what `wanted` says, in order of age.
  template <class Wanted>
  void take_if(Wanted wanted, Receives& taken) noexcept {
    if (table_.empty()) return;  // communicators are freed more often than a table is used
    for (std::size_t i = 0; i < table_.bins(); ++i) {
      Receives& bin = table_.bin(i);
      for (ReceiveNode* next = bin.front(); ReceiveNode* receive = next;) {
        next = bin.after(*receive);
        if (!wanted(receive->key)) continue;
        remove(*receive);
        taken.push_back(*receive);
      }
    }
    sort_by_age(taken);
  }

 private:
  // The oldest receive of exactly this key, if older than `best`; else `best`. Bins are in order of age, so a search ends
  // at the first entry that is equal, or younger than what another class gave.
  ReceiveNode* older_in_bin(const Key& key, ReceiveNode* best, std::uint64_t& inspected) const noexcept {
    const Receives& bin = table_.of(mix(key));
    for (ReceiveNode* receive = bin.front(); receive != nullptr; receive = bin.after(*receive)) {
      if (best != nullptr && best->sequence < receive->sequence) return best;
      ++inspected;
      if (receive->key == key) return receive;
    }
    return best;
  }

  [[gnu::noinline]] ReceiveNode* older_with_wildcard(const Key& message_key, ReceiveNode* best,
                                                     std::uint64_t& inspected) const noexcept {
    for (unsigned c = 1; c < kClasses; ++c) {
      if (in_class_[c] != 0) best = older_in_bin(widened(message_key, c), best, inspected);
    }
    return best;
  }

  Bins<ReceiveNode, InBin> table_;
  std::array<std::size_t, kClasses> in_class_{};
  std::size_t with_wildcard_ = 0;  // in the classes above the first
};

}  // namespace heddle::match
