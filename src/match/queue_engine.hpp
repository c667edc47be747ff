// An engine of two queues that are searched from the oldest entry. What a queue is made of is the parameter.
//
// Method:  Of<Node> is a queue with push_back, remove, first (the oldest entry that matches a key, and how many it went
//          through) and take_if (list.hpp, blocks.hpp).
#pragma once

#include "match/engine_base.hpp"

namespace heddle::match {

template <template <class Node> class Of>
class QueueEngine : public EngineBase<QueueEngine<Of>> {
 public:
  ReceiveNode* arrive(const Key& message_key) noexcept {
    std::uint64_t inspected = 0;
    ReceiveNode* receive = posted_.first(message_key, inspected);
    this->stats_.posted.searched(inspected);
    if (receive != nullptr) unlink(*receive);
    return receive;
  }

  void add_unexpected(MessageNode& message) noexcept {
    this->stamp(message);
    unexpected_.push_back(message);
  }

  void add_posted(ReceiveNode& receive) noexcept {
    this->stamp(receive);
    posted_.push_back(receive);
  }

  MessageNode* probe(const Key& receive_key) const noexcept {
    std::uint64_t inspected = 0;
    MessageNode* message = unexpected_.first(receive_key, inspected);
    this->stats_.unexpected.searched(inspected);
    return message;
  }

  void remove(MessageNode& message) noexcept {
    unexpected_.remove(message);
    this->stats_.unexpected.removed(message.bytes);
  }

  const Of<ReceiveNode>& posted() const noexcept { return posted_; }

 private:
  friend EngineBase<QueueEngine>;

  void unlink(ReceiveNode& receive) noexcept {
    posted_.remove(receive);
    this->stats_.posted.removed();
  }

  template <class Wanted, class OnReceive, class OnMessage>
  void take_if(Wanted wanted, OnReceive& on_receive, OnMessage& on_message) noexcept {
    posted_.take_if(wanted, [&](ReceiveNode& receive) {
      this->stats_.posted.removed();
      on_receive(receive);
    });
    unexpected_.take_if(wanted, [&](MessageNode& message) {
      this->stats_.unexpected.removed(message.bytes);
      on_message(message);
    });
  }

  Of<ReceiveNode> posted_;
  Of<MessageNode> unexpected_;
};

}  // namespace heddle::match
