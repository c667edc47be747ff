// The matching of one VCI: an engine chosen at run time.
//
// Method:  both engines are members and one byte says which is in use; an operation is a predicted branch and then the
//          engine, inlined. `use` moves everything queued to another engine, in order, at any time. `auto` is the list
//          until a search is long, and from then on the hash.
// Threads: the holder of the VCI's lock.
#pragma once

#include "match/hash.hpp"
#include "match/list.hpp"

namespace heddle::match {

enum class EngineKind : unsigned char { kAuto, kList, kHash };

inline constexpr EngineKind kDefaultEngine = EngineKind::kAuto;  // docs/decisions/match-default.md

// The values of the control variable HEDDLE_MATCHING.
constexpr const char* name_of(EngineKind kind) noexcept {
  return kind == EngineKind::kAuto ? "auto" : kind == EngineKind::kHash ? "hash" : "list";
}

class Matcher {
 public:
  explicit Matcher(EngineKind kind = kDefaultEngine) noexcept
      : kind_(kind == EngineKind::kHash ? kind : EngineKind::kList),
        long_search_(kind == EngineKind::kAuto ? kLongSearch : UINT64_MAX) {}

  // A search of the list that compared more entries than this makes `auto` go over to the hash.
  static constexpr std::uint64_t kLongSearch = 64;

  // The engine in use: kList or kHash.
  EngineKind engine() const noexcept { return kind_; }

  // Goes on with the other engine. Receives and messages keep their order; each engine keeps its own statistics.
  [[gnu::cold]] void use(EngineKind kind) noexcept {
    if (kind == kind_) return;
    kind == EngineKind::kHash ? migrate(list_, hash_) : migrate(hash_, list_);
    kind_ = kind;
  }

  MessageNode* post(ReceiveNode& receive) noexcept {
    if (in_hash()) return hash_.post(receive);
    return after_search(list_.post(receive));
  }
  ReceiveNode* arrive(const Key& message_key) noexcept {
    if (in_hash()) return hash_.arrive(message_key);
    return after_search(list_.arrive(message_key));
  }
  // Short cuts for the usual case, of the list alone; null or false: nothing happened, ask arrive() or post().
  ReceiveNode* arrive_at_front(const Key& message_key) noexcept {
    return in_hash() ? nullptr : list_.arrive_at_front(message_key);
  }
  bool post_to_empty(ReceiveNode& receive) noexcept { return !in_hash() && list_.post_to_empty(receive); }

  void add_unexpected(MessageNode& message) noexcept {
    in_hash() ? hash_.add_unexpected(message) : list_.add_unexpected(message);
  }
  void add_posted(ReceiveNode& receive) noexcept { in_hash() ? hash_.add_posted(receive) : list_.add_posted(receive); }
  bool cancel(ReceiveNode& receive) noexcept { return in_hash() ? hash_.cancel(receive) : list_.cancel(receive); }
  MessageNode* probe(const Key& receive_key) const noexcept {
    return in_hash() ? hash_.probe(receive_key) : list_.probe(receive_key);
  }
  MessageNode* extract(const Key& receive_key) noexcept {
    if (in_hash()) return hash_.extract(receive_key);
    return after_search(list_.extract(receive_key));
  }
  void remove(MessageNode& message) noexcept { in_hash() ? hash_.remove(message) : list_.remove(message); }
  template <class OnReceive, class OnMessage>
  void purge(std::uint32_t context, OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    in_hash() ? hash_.purge(context, on_receive, on_message) : list_.purge(context, on_receive, on_message);
  }
  template <class OnReceive, class OnMessage>
  void drain_in_order(OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    in_hash() ? hash_.drain_in_order(on_receive, on_message) : list_.drain_in_order(on_receive, on_message);
  }
  const Stats& stats() const noexcept { return in_hash() ? hash_.stats() : list_.stats(); }
  // Of both engines, whichever held the queues when.
  Stats totals() const noexcept {
    return {list_.stats().posted + hash_.stats().posted, list_.stats().unexpected + hash_.stats().unexpected};
  }

 private:
  bool in_hash() const noexcept { return kind_ == EngineKind::kHash; }

  template <class Node>
  Node* after_search(Node* found) noexcept {
    if (list_.last_search() > long_search_) [[unlikely]]
      use(EngineKind::kHash);
    return found;
  }

  template <class From, class To>
  static void migrate(From& from, To& to) noexcept {
    from.drain_in_order([&](ReceiveNode& receive) { to.add_posted(receive); },
                        [&](MessageNode& message) { to.add_unexpected(message); });
  }

  EngineKind kind_;
  const std::uint64_t long_search_;
  ListEngine list_;
  HashEngine hash_;
};
static_assert(Engine<Matcher>);

}  // namespace heddle::match
