// Engines whose queues are blocks of keys: the list of arrays, and its two forms for vector instructions.
//
//   ArrayListEngine<n>   n keys to an array, compared one by one: what a search reads lies together
//   VectorEngine         the same for 64 keys, 16 (AVX-512) or 8 of them at once
//   FuzzyEngine<T>       8- or 16-bit fingerprints, up to 64 at once; what they let through is compared in full
//
// When:    queues of tens to some hundreds, in any order and with any wildcards: the cost does not depend on them.
// Not when: messages come in the order of the receives (a list), or thousands wait (a hash).
// Cost:    docs/decisions/match-default.md.
#pragma once

#include "match/blocks.hpp"
#include "match/engine.hpp"

namespace heddle::match {

template <class Lanes, unsigned N>
class BlockEngine {
 public:
  MessageNode* post(ReceiveNode& receive) noexcept {
    if (MessageNode* message = extract(receive.key)) return message;
    add_posted(receive);
    return nullptr;
  }

  ReceiveNode* arrive(const Key& message_key) noexcept {
    std::uint64_t inspected = 0;
    ReceiveNode* receive = posted_.first(message_key, inspected);
    stats_.posted.searched(inspected);
    if (receive != nullptr) unlink(*receive);
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
    MessageNode* message = unexpected_.first(receive_key, inspected);
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
    take_if([context](const Key& key) { return key.context == context; }, on_receive, on_message);
  }

  template <class OnReceive, class OnMessage>
  void drain_in_order(OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    take_if([](const Key&) { return true; }, on_receive, on_message);
  }

  const Stats& stats() const noexcept { return stats_; }
  std::size_t posted_blocks() const noexcept { return posted_.count(); }

 private:
  void unlink(ReceiveNode& receive) noexcept {
    posted_.remove(receive);
    stats_.posted.removed();
  }

  template <class Wanted, class OnReceive, class OnMessage>
  void take_if(Wanted wanted, OnReceive& on_receive, OnMessage& on_message) noexcept {
    posted_.take_if(wanted, [&](ReceiveNode& receive) {
      stats_.posted.removed();
      on_receive(receive);
    });
    unexpected_.take_if(wanted, [&](MessageNode& message) {
      stats_.unexpected.removed(message.bytes);
      on_message(message);
    });
  }

  Blocks<ReceiveNode, Lanes, N> posted_;
  Blocks<MessageNode, Lanes, N> unexpected_;
  std::uint64_t next_sequence_ = 0;
  mutable Stats stats_;
};

template <unsigned N>
using ArrayListEngine = BlockEngine<PlainLanes<N>, N>;
using VectorEngine = BlockEngine<WideLanes, kLanes>;
template <class T>
using FuzzyEngine = BlockEngine<FuzzyLanes<T>, kLanes>;

static_assert(Engine<ArrayListEngine<32>> && Engine<VectorEngine> && Engine<FuzzyEngine<std::uint8_t>>);

}  // namespace heddle::match
