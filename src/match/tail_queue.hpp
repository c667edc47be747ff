// An engine that two threads search at the same time: tail queues, after Dosanjh, Grant, Schonbein and Bridges.
//
// Problem: under one lock an arriving message waits while a receive searches the unexpected messages, though the two
//          look at different queues. With a lock for each queue both may search in vain and then stand in the two queues
//          for ever.
// Method:  what a search that failed adds goes to neither queue but to an inbox, with a part for each and a lock of its own:
//
//                            posted.lock          inbox.lock         unexpected.lock
//              arrive -->  posted queue  <-----  new receives  <--            |
//                                |       append,               \              v
//                                 ----> keep in  new messages  ----->  unexpected queue  <-- post
//
//          A side's lock is held from the search of its queue to the end. Where that queue has no match, the inbox is locked
//          for a moment: its new entries of the same kind are looked at, the own entry is left in the other part if none
//          of them matches, and all of them are appended to the queue, where later searches find them without the inbox.
//          So an entry is inspected at most once while the inbox is held.
//
// Invariants of engine.hpp, when threads call at the same time:
//   (1) oldest first. An entry is added under the inbox's lock, at the end of its part; only the holder of a side's lock appends
//       a part to the queue. So queue and then part is the order of age, and while a side is locked nothing older appears.
//       What the search of the queue finds is the oldest at any moment of that search; what is found in the part, or not
//       found, is so while the inbox is held. Each call thus takes effect at one moment, and calls on different
//       queues are as if one came after the other.
//   (2) no pair stays. Of a receive and a message that match and were both added, one was added second, under the inbox's lock,
//       by a thread that held the lock of the side of the first since before its search. In that time nobody but it can
//       append to that queue: the first stood in the queue during the search or in the part during the look at it,
//       and then nothing is added.
//   (3) cancel and match exclude each other. A match unlinks under the posted side's lock, and the inbox's where it is
//       in the inbox; cancel holds both when it asks whether the receive is linked.
//   (4) whole keys are compared.
//
// Threads: `post`, `arrive_or_keep`, `cancel`, `probe`, `extract` by any thread at any time. After elide(), and for
//          the two calls `arrive` and `add_unexpected` as a pair, `add_posted`, `remove` and `stats`: the caller
//          holds a lock of its own, as with every other engine. Locks are taken in the order posted, unexpected, inbox.
//          A node may be matched, and freed, by another thread before the call that queued it returns.
// When:    threads post while others receive messages, and queues are long. At most two threads search at a time.
// Cost:    a search that finds takes one lock, one that fails two. A list's search otherwise.
#pragma once

#include <tuple>
#include <type_traits>

#include "base/cpu.hpp"
#include "base/lock.hpp"
#include "match/engine.hpp"

namespace heddle::match {

template <class Atomics = StdAtomics, class Mutex = Lock>
class BasicTailQueueEngine {
 public:
  // For callers that hold a lock of their own in all calls: no lock is taken in here.
  // REQUIRES: no other thread uses the engine yet.
  void elide() noexcept {
    posted_.lock.elide();
    unexpected_.lock.elide();
    inbox_.lock.elide();
  }

  MessageNode* post(ReceiveNode& receive) noexcept {
    LockGuard searching(unexpected_.lock);
    return take(
        unexpected_, [&](const Key& key) { return matches(receive.key, key); }, &receive);
  }

  // The oldest receive that admits the message, taken out of the queue; or null, and the message is queued.
  ReceiveNode* arrive_or_keep(MessageNode& message) noexcept {
    LockGuard searching(posted_.lock);
    return take(
        posted_, [&](const Key& key) { return matches(key, message.key); }, &message);
  }

  ReceiveNode* arrive(const Key& message_key) noexcept {
    LockGuard searching(posted_.lock);
    return take<ReceiveNode, MessageNode>(
        posted_, [&](const Key& key) { return matches(key, message_key); }, nullptr);
  }

  void add_unexpected(MessageNode& message) noexcept {
    LockGuard adding(inbox_.lock);
    add(unexpected_, message);
  }

  void add_posted(ReceiveNode& receive) noexcept {
    LockGuard adding(inbox_.lock);
    add(posted_, receive);
  }

  bool cancel(ReceiveNode& receive) noexcept {
    LockGuard searching(posted_.lock);
    LockGuard adding(inbox_.lock);
    if (!receive.queued()) return false;
    unlink(posted_, receive);
    return true;
  }

  MessageNode* probe(const Key& receive_key) const noexcept {
    const auto admits = [&](const Key& key) { return matches(receive_key, key); };
    LockGuard searching(unexpected_.lock);
    std::uint64_t inspected = 0;
    MessageNode* message = first(unexpected_.queue, inspected, admits);
    if (message == nullptr) {
      LockGuard adding(inbox_.lock);
      message = first(inbox_.template part<MessageNode>().queue, inspected, admits);
    }
    unexpected_.searches.searched(inspected);
    return message;
  }

  MessageNode* extract(const Key& receive_key) noexcept {
    LockGuard searching(unexpected_.lock);
    return take<MessageNode, ReceiveNode>(
        unexpected_, [&](const Key& key) { return matches(receive_key, key); }, nullptr);
  }

  void remove(MessageNode& message) noexcept {
    LockGuard searching(unexpected_.lock);
    LockGuard adding(inbox_.lock);
    unlink(unexpected_, message);
  }

  template <class OnReceive, class OnMessage>
  void purge(std::uint32_t context, OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    take_if([context](const Key& key) { return key.context == context; }, on_receive, on_message);
  }

  template <class OnReceive, class OnMessage>
  void drain_in_order(OnReceive&& on_receive, OnMessage&& on_message) noexcept {
    take_if([](const Key&) { return true; }, on_receive, on_message);
  }

  const Stats& stats() const noexcept {
    LockGuard arrivals(posted_.lock);
    LockGuard posts(unexpected_.lock);
    LockGuard adding(inbox_.lock);
    stats_ = {stats_of(posted_), stats_of(unexpected_)};
    return stats_;
  }

 private:
  template <class Node>
  using Nodes = Queue<Node, std::conditional_t<std::is_same_v<Node, ReceiveNode>, InBin, InOrder>>;
  template <class T>
  using Atomic = typename Atomics::template atomic<T>;

  template <class Node>
  struct alignas(kApart) Side {
    mutable Mutex lock;
    Nodes<Node> queue GUARDED_BY(lock);
    mutable QueueStats searches GUARDED_BY(lock);  // these alone: lengths are the parts'
    Atomic<std::size_t> taken{0};  // out of `queue`; written by the lock's holder, read by the inbox's too
  };

  template <class Node>
  struct Part {
    Nodes<Node> queue;
    std::size_t added = 0, taken = 0;  // what was taken out while the inbox was held; the side counts the rest
    std::size_t max_length = 0;        // of the side's queue and this
  };

  struct alignas(kApart) Inbox {
    mutable Mutex lock;
    std::tuple<Part<ReceiveNode>, Part<MessageNode>> parts GUARDED_BY(lock);
    std::uint64_t next_sequence GUARDED_BY(lock) = 0;

    template <class Node>
    Part<Node>& part() noexcept REQUIRES(lock) {
      return std::get<Part<Node>>(parts);
    }
    template <class Node>
    const Part<Node>& part() const noexcept REQUIRES(lock) {
      return std::get<Part<Node>>(parts);
    }
  };

  template <class Node, class Tag, class Admits>
  static Node* first(const Queue<Node, Tag>& queue, std::uint64_t& inspected, Admits admits) noexcept {
    Atomics::reads(&queue, sizeof queue);
    Node* node = queue.front();
    for (; node != nullptr; node = queue.after(*node)) {
      ++inspected;
      if (admits(node->key)) break;
    }
    return node;
  }

  // The oldest node of a side that `admits`, taken out; or null, and then `own`, if any, is left in its part of the inbox.
  template <class Node, class Own, class Admits>
  Node* take(Side<Node>& side, Admits admits, Own* own) noexcept REQUIRES(side.lock) {
    std::uint64_t inspected = 0;
    Node* node = first(side.queue, inspected, admits);
    if (node != nullptr) {
      Atomics::writes(&side.queue, sizeof side.queue);
      side.queue.remove(*node);
      side.taken.store(side.taken.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    } else {
      LockGuard adding(inbox_.lock);
      node = first(inbox_.template part<Node>().queue, inspected, admits);
      if (node != nullptr) {
        unlink(side, *node);
      } else if (own != nullptr) {
        add(side_of(*own), *own);
      }
      append(side);
    }
    side.searches.searched(inspected);
    return node;
  }

  Side<ReceiveNode>& side_of(const ReceiveNode&) noexcept { return posted_; }
  Side<MessageNode>& side_of(const MessageNode&) noexcept { return unexpected_; }

  template <class Node>
  void add(const Side<Node>& side, Node& node) noexcept REQUIRES(inbox_.lock) {
    Part<Node>& part = inbox_.template part<Node>();
    node.sequence = inbox_.next_sequence++;
    Atomics::writes(&part.queue, sizeof part.queue);
    part.queue.push_back(node);
    ++part.added;
    part.max_length = std::max(part.max_length, length(side));
  }

  template <class Node>
  void append(Side<Node>& side) noexcept REQUIRES(side.lock, inbox_.lock) {
    Part<Node>& part = inbox_.template part<Node>();
    Atomics::writes(&side.queue, sizeof side.queue);
    Atomics::writes(&part.queue, sizeof part.queue);
    side.queue.append(part.queue);
  }

  // Out of the queue or the part, whichever it is in.
  template <class Node>
  void unlink(Side<Node>& side, Node& node) noexcept REQUIRES(side.lock, inbox_.lock) {
    Part<Node>& part = inbox_.template part<Node>();
    Atomics::writes(&side.queue, sizeof side.queue);
    Atomics::writes(&part.queue, sizeof part.queue);
    Nodes<Node>::remove(node);
    ++part.taken;
  }

  // While the side is at rest; else it may count in what is being taken out.
  template <class Node>
  std::size_t length(const Side<Node>& side) const noexcept REQUIRES(inbox_.lock) {
    const Part<Node>& part = inbox_.template part<Node>();
    return part.added - part.taken - side.taken.load(std::memory_order_relaxed);
  }

  template <class Node>
  QueueStats stats_of(const Side<Node>& side) const noexcept REQUIRES(side.lock, inbox_.lock) {
    QueueStats stats = side.searches;
    stats.length = length(side);
    const Part<Node>& part = inbox_.template part<Node>();
    stats.max_length = part.max_length;
    if constexpr (std::is_same_v<Node, MessageNode>) stats.bytes = bytes(side.queue) + bytes(part.queue);
    return stats;
  }

  static std::uint64_t bytes(const Nodes<MessageNode>& messages) noexcept {
    std::uint64_t sum = 0;
    for (const MessageNode* node = messages.front(); node != nullptr; node = messages.after(*node)) sum += node->bytes;
    return sum;
  }

  template <class Wanted, class OnReceive, class OnMessage>
  void take_if(Wanted wanted, OnReceive& on_receive, OnMessage& on_message) noexcept {
    LockGuard arrivals(posted_.lock);
    LockGuard posts(unexpected_.lock);
    LockGuard adding(inbox_.lock);
    take_all(posted_, wanted, on_receive);
    take_all(unexpected_, wanted, on_message);
  }

  template <class Node, class Wanted, class OnNode>
  void take_all(Side<Node>& side, Wanted wanted, OnNode& on_node) noexcept REQUIRES(side.lock, inbox_.lock) {
    append(side);
    for (Node* next = side.queue.front(); Node* node = next;) {
      next = side.queue.after(*node);
      if (!wanted(node->key)) continue;
      unlink(side, *node);
      on_node(*node);
    }
  }

  Side<ReceiveNode> posted_;
  Side<MessageNode> unexpected_;
  Inbox inbox_;
  mutable Stats stats_;
};

using TailQueueEngine = BasicTailQueueEngine<>;
static_assert(Engine<TailQueueEngine>);

// As under the lock of a VCI: it takes none of its own.
struct ElidedTailQueue : TailQueueEngine {
  ElidedTailQueue() noexcept { elide(); }
};

}  // namespace heddle::match
