// An engine for long queues: bins by the mixed key.
//
// Problem: with hundreds of receives outstanding a list inspects hundreds of entries for one message.
// Method:  every receive lies in the bin of its key (bins.hpp); a message looks into the bins of the up to four keys that
//          could admit it, only for classes that have receives, and the smallest sequence wins. Unexpected messages lie in
//          the bin of their key and in one list in order of arrival; an exact receive asks its bin, a wildcard walks the
//          list.
// Not when: wildcard receives meet many unexpected messages: that costs as in a list.
// Cost:    docs/decisions/match-default.md.
#pragma once

#include "match/bins.hpp"
#include "match/engine_base.hpp"

namespace heddle::match {

class HashEngine : public EngineBase<HashEngine> {
 public:
  HashEngine() noexcept = default;  // tables that grow
  // REQUIRES: bins > 0. Tables of that many bins, rounded up to a power of two.
  explicit HashEngine(std::size_t bins) noexcept : posted_(bins), unexpected_(bins) {}

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
    ReceiveNode* oldest = posted_.find(message_key, inspected);
    stats_.posted.searched(inspected);
    if (oldest != nullptr) unlink(*oldest);
    return oldest;
  }

  void add_unexpected(MessageNode& message) noexcept {
    stamp(message);
    unexpected_.add(message);
    order_.push_back(message);
  }

  void add_posted(ReceiveNode& receive) noexcept { add_posted(receive, mix(receive.key)); }

  MessageNode* probe(const Key& receive_key) const noexcept { return find(receive_key, mix(receive_key)); }

  void remove(MessageNode& message) noexcept {
    unexpected_.remove(message);
    order_.remove(message);
    stats_.unexpected.removed(message.bytes);
  }

 private:
  friend EngineBase<HashEngine>;

  MessageNode* find(const Key& key, std::uint64_t mixed) const noexcept {
    std::uint64_t inspected = 0;
    MessageNode* message = nullptr;
    if (stats_.unexpected.length != 0) {
      message =
          has_wildcard(key) ? first_match(order_, key, inspected) : first_match(unexpected_.of(mixed), key, inspected);
    }
    stats_.unexpected.searched(inspected);
    return message;
  }

  void add_posted(ReceiveNode& receive, std::uint64_t mixed) noexcept {
    stamp(receive);
    posted_.add(receive, mixed);
  }

  void unlink(ReceiveNode& receive) noexcept {
    posted_.remove(receive);
    stats_.posted.removed();
  }

  template <class Wanted, class OnReceive, class OnMessage>
  void take_if(Wanted wanted, OnReceive& on_receive, OnMessage& on_message) noexcept {
    ReceiveBins::Receives taken;
    posted_.take_if(wanted, taken);
    while (ReceiveNode* receive = taken.pop_front()) {
      stats_.posted.removed();
      on_receive(*receive);
    }
    take_messages_if(order_, wanted, on_message);
  }

  ReceiveBins posted_;
  Bins<MessageNode, InClass<0>> unexpected_;
  Queue<MessageNode, InOrder> order_;
};
static_assert(Engine<HashEngine>);

}  // namespace heddle::match
