// What the operations of every engine have in common that owns its queues alone.
//
// Method:  an engine derives from EngineBase<itself> and gives what differs: `arrive`, `add_unexpected`, `add_posted`, `probe`,
//          `remove`, and, as a friend or for all, `unlink` (takes out a receive that is queued) and `take_if` (takes out what a
//          predicate of keys says, oldest first per queue). All is resolved when it is compiled.
#pragma once

#include "match/engine.hpp"

namespace heddle::match {

template <class Self>
class EngineBase {
 public:
  MessageNode* post(ReceiveNode& receive) noexcept {
    if (MessageNode* message = extract(receive.key)) return message;
    self().add_posted(receive);
    return nullptr;
  }

  bool cancel(ReceiveNode& receive) noexcept {
    if (!receive.queued()) return false;
    self().unlink(receive);
    return true;
  }

  MessageNode* extract(const Key& receive_key) noexcept {
    MessageNode* message = self().probe(receive_key);
    if (message != nullptr) self().remove(*message);
    return message;
  }

  template <class OnReceive, class OnMessage>
  void purge(std::uint32_t context, OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    self().take_if([context](const Key& key) { return key.context == context; }, on_receive, on_message);
  }

  template <class OnReceive, class OnMessage>
  void drain_in_order(OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    self().take_if([](const Key&) { return true; }, on_receive, on_message);
  }

  const Stats& stats() const noexcept { return stats_; }

 protected:
  // Hands over messages of a queue that `wanted` says, one by one.
  template <class Messages, class Wanted, class OnMessage>
  void take_messages_if(Messages& messages, Wanted wanted, OnMessage& on_message) noexcept {
    for (MessageNode* next = messages.front(); MessageNode* message = next;) {
      next = messages.after(*message);
      if (!wanted(message->key)) continue;
      self().remove(*message);
      on_message(*message);
    }
  }

  // Gives an entry its place in the order, and counts it.
  void stamp(ReceiveNode& receive) noexcept {
    receive.sequence = next_sequence_++;
    stats_.posted.added();
  }
  void stamp(MessageNode& message) noexcept {
    message.sequence = next_sequence_++;
    stats_.unexpected.added(message.bytes);
  }

  std::uint64_t next_sequence_ = 0;
  mutable Stats stats_;

 private:
  Self& self() noexcept { return static_cast<Self&>(*this); }
};

// Moves what `wanted` says to the end of `taken`.
template <class Node, class Tag, class Wanted>
void move_if(Queue<Node, Tag>& from, Wanted wanted, Queue<Node, Tag>& taken) noexcept {
  for (Node* next = from.front(); Node* node = next;) {
    next = from.after(*node);
    if (!wanted(node->key)) continue;
    Queue<Node, Tag>::remove(*node);
    taken.push_back(*node);
  }
}

}  // namespace heddle::match
