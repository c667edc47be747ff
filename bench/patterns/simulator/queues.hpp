// The two queues of MPI's matching in their plainest form, and all that is asked of their searches.
//
// Method:  one array, searched from the oldest: the baseline that depths are defined by. It is written apart from src/match,
//          whose list it must count alike (tests/patterns), because each entry that a search passes is looked at here once more: as an
//          engine that keeps only the low bits of tags would see it.
// False positives: a search meets one at b bits when it passes, before its match (before the end, without one), an entry of
//          the same communicator whose tag is another one and has the same low b bits. Wildcard tags never count. What is
//          met at b bits is met at fewer, so a search needs to keep one number: the most bits.
// Threads: none.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "match/key.hpp"

namespace heddle::patterns {

inline constexpr int kMostBits = 32;

struct QueueCounts {
  std::uint64_t searches = 0;
  std::uint64_t inspected = 0;  // entries compared, the match itself included
  std::uint64_t deepest = 0;
  std::uint64_t longest = 0;                     // entries in the queue
  std::array<std::uint64_t, kMostBits> alike{};  // searches by the most bits that a wrong entry's tag had in common

  // Searches that meet a false positive where tags have so many bits.
  std::uint64_t false_positives(int bits) const noexcept {
    std::uint64_t sum = 0;
    for (int b = bits; b < kMostBits; ++b) sum += alike[static_cast<std::size_t>(b)];
    return sum;
  }
};

// How many low bits two different tags have in common; -1 of tags that are equal, or where one is a wildcard.
inline int bits_alike(const match::Key& a, const match::Key& b) noexcept {
  if (a.context != b.context || a.tag == b.tag || a.tag == match::kAnyTag || b.tag == match::kAnyTag) return -1;
  return std::countr_zero(static_cast<std::uint32_t>(a.tag) ^ static_cast<std::uint32_t>(b.tag));
}

template <class Item>
class PlainQueue {
 public:
  void add(const match::Key& key, Item item) {
    entries_.push_back({key, item});
    counts_.longest = std::max<std::uint64_t>(counts_.longest, entries_.size());
  }

  // The oldest entry for which `admits(its key)`, taken out. `key` is what is searched for.
  template <class Admits>
  std::optional<Item> take(const match::Key& key, Admits admits) {
    const std::size_t at = search(key, admits);
    if (at == entries_.size()) return std::nullopt;
    const Item item = entries_[at].item;
    remove(at);
    return item;
  }

  // Whether there is one. A look that finds none is not counted.
  template <class Admits>
  bool probe(const match::Key& key, Admits admits) {
    if (std::ranges::none_of(entries_, [&](const Entry& entry) { return admits(entry.key); })) return false;
    search(key, admits);
    return true;
  }

  // Takes out an entry without a search. False: it is not there.
  bool cancel(const Item& item) {
    const auto at = std::ranges::find(entries_, item, &Entry::item);
    if (at == entries_.end()) return false;
    remove(static_cast<std::size_t>(at - entries_.begin()));
    return true;
  }

  const QueueCounts& counts() const noexcept { return counts_; }

 private:
  struct Entry {
    match::Key key;
    Item item;
  };

  // The place of what was found, or the end.
  template <class Admits>
  std::size_t search(const match::Key& key, Admits admits) {
    int most_alike = -1;
    std::size_t at = 0;
    for (; at < entries_.size() && !admits(entries_[at].key); ++at) {
      most_alike = std::max(most_alike, bits_alike(entries_[at].key, key));
    }
    const std::uint64_t inspected = at + (at < entries_.size() ? 1 : 0);
    ++counts_.searches;
    counts_.inspected += inspected;
    counts_.deepest = std::max(counts_.deepest, inspected);
    if (most_alike >= 0) ++counts_.alike[static_cast<std::size_t>(most_alike)];
    return at;
  }
  void remove(std::size_t at) { entries_.erase(entries_.begin() + static_cast<std::ptrdiff_t>(at)); }

  std::vector<Entry> entries_;
  QueueCounts counts_;
};

template <class Receive, class Message>
struct Queues {
  PlainQueue<Receive> posted;
  PlainQueue<Message> unexpected;

  std::optional<Message> post(const match::Key& receive_key, Receive receive) {
    auto message = unexpected.take(receive_key, [&](const match::Key& key) { return matches(receive_key, key); });
    if (!message) posted.add(receive_key, receive);
    return message;
  }
  bool probe(const match::Key& receive_key) {
    return unexpected.probe(receive_key, [&](const match::Key& key) { return matches(receive_key, key); });
  }
  std::optional<Receive> arrive(const match::Key& message_key, Message message) {
    auto receive = posted.take(message_key, [&](const match::Key& key) { return matches(key, message_key); });
    if (!receive) unexpected.add(message_key, message);
    return receive;
  }
};

}  // namespace heddle::patterns
