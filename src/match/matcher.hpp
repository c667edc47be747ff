// The matching of one VCI: the default engine, inlined, or whatever was asked for (detour.hpp).
//
// Method:  one pointer, null in most programs, decides. What is queued moves along in its order whenever that changes, at
//          any time; counts go on.
// Threads: the holder of the VCI's lock.
#pragma once

#include <memory>

#include "match/adaptive.hpp"
#include "match/detour.hpp"

namespace heddle::match {

class Matcher {
 public:
  Matcher() noexcept = default;

  // Each is false when there is no memory: all stays as it was.
  // The engine of all contexts that have none of their own.
  bool use(const Choice& choice) noexcept;
  // An engine for one context, or another one than it has. Its counts begin with it.
  bool use(std::uint32_t context, const Choice& choice) noexcept;
  // The same engine as before, but the context's own. Its counts are read from now on.
  bool watch(std::uint32_t context) noexcept;
  // The context has no engine of its own any more.
  void share(std::uint32_t context) noexcept;
  // Whether the time that matching takes is counted.
  bool take_time(bool on) noexcept;

  Choice choice() const noexcept { return detour_ == nullptr ? kDefaultEngine : detour_->common().choice; }
  // Of a context with an engine of its own; null where it has none.
  const Detour::Part* own(std::uint32_t context) const noexcept {
    return detour_ == nullptr ? nullptr : detour_->own(context);
  }

  MessageNode* post(ReceiveNode& receive) noexcept {
    if (detour_ == nullptr) [[likely]]
      return direct_.post(receive);
    return detour_->at(receive.key.context, [&](AnyEngine& engine) { return engine.post(receive); });
  }
  ReceiveNode* arrive(const Key& message_key) noexcept {
    if (detour_ == nullptr) [[likely]]
      return direct_.arrive(message_key);
    return detour_->at(message_key.context, [&](AnyEngine& engine) { return engine.arrive(message_key); });
  }
  // Short cuts for the usual case, of the default engine alone; null or false: nothing happened, ask arrive(), extract() or
  // post().
  ReceiveNode* arrive_at_front(const Key& message_key) noexcept { return direct_.arrive_at_front(message_key); }
  MessageNode* extract_at_front(const Key& receive_key) noexcept { return direct_.extract_at_front(receive_key); }
  bool post_to_empty(ReceiveNode& receive) noexcept { return detour_ == nullptr && direct_.post_to_empty(receive); }

  void add_unexpected(MessageNode& message) noexcept {
    if (detour_ == nullptr) [[likely]]
      return direct_.add_unexpected(message);
    detour_->at(message.key.context, [&](AnyEngine& engine) { engine.add_unexpected(message); });
  }
  void add_posted(ReceiveNode& receive) noexcept {
    if (detour_ == nullptr) [[likely]]
      return direct_.add_posted(receive);
    detour_->at(receive.key.context, [&](AnyEngine& engine) { engine.add_posted(receive); });
  }
  bool cancel(ReceiveNode& receive) noexcept {
    if (detour_ == nullptr) [[likely]]
      return direct_.cancel(receive);
    return detour_->at(receive.key.context, [&](AnyEngine& engine) { return engine.cancel(receive); });
  }
  MessageNode* probe(const Key& receive_key) noexcept {
    if (detour_ == nullptr) [[likely]]
      return direct_.probe(receive_key);
    return detour_->at(receive_key.context, [&](AnyEngine& engine) { return engine.probe(receive_key); });
  }
  MessageNode* extract(const Key& receive_key) noexcept {
    if (detour_ == nullptr) [[likely]]
      return direct_.extract(receive_key);
    return detour_->at(receive_key.context, [&](AnyEngine& engine) { return engine.extract(receive_key); });
  }
  void remove(MessageNode& message) noexcept {
    if (detour_ == nullptr) [[likely]]
      return direct_.remove(message);
    detour_->at(message.key.context, [&](AnyEngine& engine) { engine.remove(message); });
  }
  template <class OnReceive, class OnMessage>
  void purge(std::uint32_t context, OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    if (detour_ == nullptr) return direct_.purge(context, on_receive, on_message);
    Giver giver(on_receive, on_message);
    detour_->of(context).engine->purge(context, giver);
  }
  // Oldest first in each context.
  template <class OnReceive, class OnMessage>
  void drain_in_order(OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    if (detour_ == nullptr) return direct_.drain_in_order(on_receive, on_message);
    Giver giver(on_receive, on_message);
    detour_->drain_in_order(giver);
  }

  // Of all engines, also of those that were in use before.
  Stats stats() const noexcept { return detour_ == nullptr ? plain_stats() : plain_stats() + detour_->stats(); }
  // Without engines that are there now because of a detour: plain numbers, which another thread may read a little late.
  Stats plain_stats() const noexcept { return before_ + direct_.stats(); }
  std::uint64_t ns() const noexcept { return ns_before_ + (detour_ == nullptr ? 0 : detour_->ns()); }

 private:
  template <class OnReceive, class OnMessage>
  struct Giver final : Taker {
    Giver(OnReceive& r, OnMessage& m) noexcept : on_receive(r), on_message(m) {}
    void take(ReceiveNode& receive) noexcept override { on_receive(receive); }
    void take(MessageNode& message) noexcept override { on_message(message); }
    OnReceive& on_receive;
    OnMessage& on_message;
  };

  // Makes way for what is about to change, and goes back when nothing of it is left.
  bool leave_direct() noexcept;
  void return_if_plain() noexcept;

  AdaptiveEngine direct_;  // empty while there is a detour
  std::unique_ptr<Detour> detour_;
  Stats before_;  // of detours that ended
  std::uint64_t ns_before_ = 0;
};
static_assert(Engine<Matcher>);

}  // namespace heddle::match
