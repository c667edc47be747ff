// The part of a receive request and of an unexpected message that the matching engines own.
//
// Problem: to queue a receive or a message must not allocate, and to cancel one must not search.
// Method:  intrusive links. A receive request of p2p derives from ReceiveNode, the header of an unexpected message from
//          MessageNode; both are engine-neutral, so a queue can move from one engine to another.
//          Queues are rings with a sentinel: to unlink takes no branch. An unlinked node has null links, which is how
//          `cancel` knows that a receive was matched before (cancel and match exclude each other).
// Memory:  40 bytes a receive, 104 a message. A search reads `key`, `sequence` and one link: place a node so that it
//          does not straddle cache lines.
// Threads: as the engine that a node is in: none but the holder of the VCI's lock.
#pragma once

#include <cstdint>

#include "match/key.hpp"

namespace heddle::match {

template <class Tag>
struct Link {
  Link* next = nullptr;
  Link* prev = nullptr;

  bool linked() const noexcept { return next != nullptr; }
};

struct InBin {};    // of receives: the links of one bin, or of the only list
struct InOrder {};  // of messages: the links of all, in the order of their arrival
template <unsigned kClass>
struct InClass {};  // of messages: those of a bin, of a table for one class of receives

struct ReceiveNode : Link<InBin> {
  Key key;
  std::uint64_t sequence;  // set by the engine: the order of posting

  bool queued() const noexcept { return linked(); }
};
static_assert(sizeof(ReceiveNode) <= 40);

struct Message {
  Key key{};
  std::uint32_t bytes = 0;     // of the payload that is kept with it
  std::uint64_t sequence = 0;  // set by the engine: the order of arrival
};
// First what nearly every message needs: one cache line.
struct MessageNode : Link<InOrder>, Link<InClass<0>>, Message, Link<InClass<1>>, Link<InClass<2>>, Link<InClass<3>> {
  bool queued() const noexcept { return Link<InOrder>::linked(); }
};
static_assert(sizeof(MessageNode) <= 104);

// A ring of nodes through their Link<Tag>, oldest first. Owns nothing; cannot move, for its nodes point at it.
template <class Node, class Tag>
class Queue {
 public:
  using L = Link<Tag>;

  Queue() noexcept { clear(); }
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  bool empty() const noexcept { return head_.next == &head_; }
  Node* front() const noexcept { return empty() ? nullptr : static_cast<Node*>(head_.next); }
  Node* after(const Node& node) const noexcept {
    L* next = static_cast<const L&>(node).next;
    return next == &head_ ? nullptr : static_cast<Node*>(next);
  }

  // REQUIRES: the node is in no queue of this Tag.
  void push_back(Node& node) noexcept {
    L& link = node;
    link.prev = head_.prev;
    link.next = &head_;
    head_.prev->next = &link;
    head_.prev = &link;
  }

  // REQUIRES: the node is in some queue of this Tag.
  static void remove(Node& node) noexcept {
    L& link = node;
    link.prev->next = link.next;
    link.next->prev = link.prev;
    link.next = link.prev = nullptr;
  }

  // Moves all of `other` behind what is here.
  void append(Queue& other) noexcept {
    if (other.empty()) return;
    other.head_.next->prev = head_.prev;
    other.head_.prev->next = &head_;
    head_.prev->next = other.head_.next;
    head_.prev = other.head_.prev;
    other.clear();
  }

  Node* pop_front() noexcept {
    Node* node = front();
    if (node != nullptr) remove(*node);
    return node;
  }

 private:
  void clear() noexcept { head_.next = head_.prev = &head_; }

  L head_;
};

}  // namespace heddle::match
