// The baseline engine: two doubly linked lists, searched from the oldest.
//
// When:    queues are short or are matched in order: nothing beats the first entry of a list.
// Not when: many receives are outstanding and messages come in another order: a search of n entries in random order
//          inspects (n + 3) / 4 of them on the way to empty, each perhaps a cache miss.
// Cost:    docs/decisions/match-default.md.
#pragma once

#include "match/engine.hpp"

namespace heddle::match {

class ListEngine {
 public:
  MessageNode* post(ReceiveNode& receive) noexcept {
    if (MessageNode* message = extract(receive.key)) return message;
    add_posted(receive);
    return nullptr;
  }

  ReceiveNode* arrive(const Key& message_key) noexcept {
    std::uint64_t inspected = 0;
    ReceiveNode* receive = posted_.front();
    for (; receive != nullptr; receive = posted_.after(*receive)) {
      ++inspected;
      if (matches(receive->key, message_key)) [[likely]] {
        unlink(*receive);
        break;
      }
    }
    stats_.posted.searched(inspected);
    return receive;
  }

  void add_unexpected(MessageNode& message) noexcept {
    message.sequence = next_sequence_++;
    unexpected_.push_back(message);
    stats_.unexpected.added(message.bytes);
  }

  void add_posted(ReceiveNode& receive) noexcept {
    receive.sequence = next_sequence_++;
    posted_.push_back(receive);
    stats_.posted.added();
  }

  bool cancel(ReceiveNode& receive) noexcept {
    if (!receive.queued()) return false;
    unlink(receive);
    return true;
  }

  MessageNode* probe(const Key& receive_key) const noexcept {
    std::uint64_t inspected = 0;
    MessageNode* message = unexpected_.front();
    for (; message != nullptr; message = unexpected_.after(*message)) {
      ++inspected;
      if (matches(receive_key, message->key)) break;
    }
    stats_.unexpected.searched(inspected);
    return message;
  }

  MessageNode* extract(const Key& receive_key) noexcept {
    MessageNode* message = probe(receive_key);
    if (message != nullptr) remove(*message);
    return message;
  }

  void remove(MessageNode& message) noexcept {
    unexpected_.remove(message);
    stats_.unexpected.removed(message.bytes);
  }

  template <class OnReceive, class OnMessage>
  void purge(std::uint32_t context, OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    for (ReceiveNode* next = posted_.front(); ReceiveNode* receive = next;) {
      next = posted_.after(*receive);
      if (receive->key.context != context) continue;
      unlink(*receive);
      on_receive(*receive);
    }
    for (MessageNode* next = unexpected_.front(); MessageNode* message = next;) {
      next = unexpected_.after(*message);
      if (message->key.context != context) continue;
      remove(*message);
      on_message(*message);
    }
  }

  template <class OnReceive, class OnMessage>
  void drain_in_order(OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    while (ReceiveNode* receive = posted_.front()) {
      unlink(*receive);
      on_receive(*receive);
    }
    while (MessageNode* message = unexpected_.front()) {
      remove(*message);
      on_message(*message);
    }
  }

  const Stats& stats() const noexcept { return stats_; }

 private:
  void unlink(ReceiveNode& receive) noexcept {
    posted_.remove(receive);
    stats_.posted.removed();
  }

  Queue<ReceiveNode, InBin> posted_;
  Queue<MessageNode, InOrder> unexpected_;
  std::uint64_t next_sequence_ = 0;
  mutable Stats stats_;
};
static_assert(Engine<ListEngine>);

}  // namespace heddle::match
