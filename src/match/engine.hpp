// What every matching engine offers: the two queues of MPI's matching, and their statistics.
//
// Problem: a message goes to the oldest posted receive that admits it, a receive takes the oldest message that it
//          admits, in every mixture of wildcards; searches of long queues are what makes many threads slow.
// Method:  one concept, several engines, chosen at run time (matcher.hpp). Pure data structures: no I/O, no MPI, no
//          globals (but HotCache::of_pools), no allocation that could lose a receive or a message, noexcept.
//
// Invariants of every engine, between calls:
//   (1) `arrive` gives the *oldest* matching receive, `post`, `probe` and `extract` the oldest matching message, across
//       all classes of wildcards, by a 64-bit sequence that the engine stamps on nodes;
//   (2) a receive and a message that match never stand in the two queues at once;
//   (3) cancel and match exclude each other: `cancel` is true only for a receive that no one was given;
//   (4) a truncated or mixed key never decides a match: the whole key is compared.
//
// Threads: not thread-safe: the caller holds the lock of the VCI that owns the engine, from `arrive` through
//          `add_unexpected` in particular, or (2) breaks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>

#include "match/node.hpp"

namespace heddle::match {

// The depth of a search is the number of entries that it compares.
struct QueueStats {
  static constexpr unsigned kDepths = 20;

  std::size_t length = 0;
  std::size_t max_length = 0;
  std::uint64_t bytes = 0;                      // of the payloads of what is queued
  std::uint64_t inspected = 0;                  // entries compared in all searches
  std::uint64_t deep = 0;                       // the deepest search of more than one entry
  std::array<std::uint64_t, kDepths> depths{};  // searches of 0, 1, 2 … 3, 4 … 7 entries and so on; the last: and more

  std::uint64_t searches() const noexcept { return std::accumulate(depths.begin(), depths.end(), std::uint64_t{0}); }
  std::uint64_t deepest() const noexcept { return std::max<std::uint64_t>(deep, depths[1] != 0); }

  void added(std::uint32_t payload = 0) noexcept {
    if (++length > max_length) max_length = length;
    bytes += payload;
  }
  void removed(std::uint32_t payload = 0) noexcept {
    --length;
    bytes -= payload;
  }
  [[gnu::always_inline]] void searched(std::uint64_t entries) noexcept {
    ++depths[std::min<unsigned>(kDepths - 1, static_cast<unsigned>(std::bit_width(entries)))];
    inspected += entries;
    if (entries > deep && entries > 1) [[unlikely]]
      deep = entries;
  }
  void searched_none() noexcept { ++depths[0]; }
  void searched_one() noexcept {
    ++depths[1];
    ++inspected;
  }
  // Of two engines that had the queue in turn, or have parts of it: then `max_length` is the least that it can have been.
  friend QueueStats operator+(QueueStats a, const QueueStats& b) noexcept {
    a.length += b.length;
    a.bytes += b.bytes;
    a.max_length = std::max({a.max_length, b.max_length, a.length});
    a.inspected += b.inspected;
    a.deep = std::max(a.deep, b.deep);
    std::transform(a.depths.begin(), a.depths.end(), b.depths.begin(), a.depths.begin(), std::plus<>());
    return a;
  }
};

struct Stats {
  QueueStats posted;
  QueueStats unexpected;

  friend Stats operator+(const Stats& a, const Stats& b) noexcept {
    return {a.posted + b.posted, a.unexpected + b.unexpected};
  }
};

// What the operations mean:
//   post(receive)       the oldest message that the receive admits, taken out of the queue; or null, and the receive is
//                       queued
//   arrive(key)         the oldest receive that admits the message, taken out of the queue; or null
//   add_unexpected(m)   queues a message. REQUIRES: arrive(m.key) gave null and nothing was posted since
//   add_posted(r)       queues a receive without a search. REQUIRES: probe(r.key) gives null
//   cancel(receive)     true: it was queued and is not any more. False: it was matched, cancelled or purged before
//   probe(receive_key)  the message that a post of this key would take; it stays
//   extract(key)        the same message, taken out of the queue (matched probe)
//   remove(message)     takes out a message. REQUIRES: it is queued here
//   purge(context, on_receive, on_message)
//                       takes out all of a context, oldest first per queue, and hands each node over
//   drain_in_order(on_receive, on_message)
//                       the same for everything: with the add_* of another engine this is the migration to it
// A callback gets a node that is already unlinked, and may free it; it must not call the engine that hands it over.
template <class E>
concept Engine = requires(E engine, const E& constant, ReceiveNode& receive, MessageNode& message, const Key& key,
                          std::uint32_t context, void (*on_receive)(ReceiveNode&), void (*on_message)(MessageNode&)) {
  { engine.post(receive) }
  noexcept->std::same_as<MessageNode*>;
  { engine.arrive(key) }
  noexcept->std::same_as<ReceiveNode*>;
  { engine.add_unexpected(message) }
  noexcept->std::same_as<void>;
  { engine.add_posted(receive) }
  noexcept->std::same_as<void>;
  { engine.cancel(receive) }
  noexcept->std::same_as<bool>;
  { engine.probe(key) }
  noexcept->std::same_as<MessageNode*>;
  { engine.extract(key) }
  noexcept->std::same_as<MessageNode*>;
  { engine.remove(message) }
  noexcept->std::same_as<void>;
  { engine.purge(context, on_receive, on_message) }
  noexcept->std::same_as<void>;
  { engine.drain_in_order(on_receive, on_message) }
  noexcept->std::same_as<void>;
  { constant.stats() }
  noexcept->std::convertible_to<Stats>;
};

}  // namespace heddle::match
