// An engine by source: the four-dimensional queue of Zounmevo and Afsahi.
//
// Problem: in a job of many processes most of a long queue belongs to other sources than the one that is looked for.
// Method:  the source's number is written in base `radix` with four digits, which are its coordinates in a cube of four
//          dimensions. Three levels of tables and a row of leaves lead to the queue of the one source; where a table is
//          absent no entry of that part of the cube exists, and the search is over.
//
//     source 0x1234:   root[1] --> table[2] --> table[3] --> leaf[4]: oldest <-> ... <-> newest
//
//          A leaf holds all contexts and tags of its source, ANY_TAG too, in order of age; the whole key is compared.
//          Receives with ANY_SOURCE stand in a queue of their own, `anywhere`, and a search goes through leaf and
//          `anywhere` in order of age. Messages stand also in one queue in order of arrival, for ANY_SOURCE.
//          Four digits of 4 bits are 65,536 sources. Larger numbers are folded (the upper bits are left out): a leaf
//          then has a few sources, evenly, where a last queue for the rest would be the list engine for most of the job.
// Memory:  tables appear when their part of the cube is first used and stay; each of the two queues takes 640 bytes for
//          the first source and 17 a source when all are used. Where memory is refused the entry stands in `anywhere`,
//          which every search goes through by the whole key: nothing is lost, it costs more.
// When:    many sources, few entries of each. Not when many tags of one source wait: a leaf is a list.
// Cost:    four dependent loads to a leaf, then the entries of one source. `purge` looks at every leaf that exists.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <new>
#include <type_traits>

#include "match/age.hpp"
#include "match/engine_base.hpp"

namespace heddle::match {

// Queues of nodes by source. Grows, never shrinks.
template <class Node, class Tag>
class Cube {
 public:
  using Leaf = Queue<Node, Tag>;
  static constexpr unsigned kDimensions = 4;
  static constexpr unsigned kLeastRadix = 2, kMostRadix = 32;

  explicit Cube(unsigned radix) noexcept
      : bits_(static_cast<unsigned>(std::countr_zero(std::bit_ceil(std::clamp(radix, kLeastRadix, kMostRadix))))) {}
  Cube(const Cube&) = delete;
  Cube& operator=(const Cube&) = delete;
  ~Cube() { destroy(root_); }

  unsigned radix() const noexcept { return 1u << bits_; }

  // The queue of the source, or null: nothing of it was ever added.
  const Leaf* find(std::int32_t source) const noexcept {
    const auto at = coordinates(source);
    if (root_ == nullptr || root_[at[0]] == nullptr || root_[at[0]][at[1]] == nullptr) return nullptr;
    const Leaf* row = root_[at[0]][at[1]][at[2]];
    return row == nullptr ? nullptr : &row[at[3]];
  }

  // The same, made if need be. Null: no memory.
  Leaf* make(std::int32_t source) noexcept {
    const auto at = coordinates(source);
    const bool made =
        grown(root_) && grown(root_[at[0]]) && grown(root_[at[0]][at[1]]) && grown(root_[at[0]][at[1]][at[2]]);
    return made ? &root_[at[0]][at[1]][at[2]][at[3]] : nullptr;
  }

  template <class OnLeaf>
  void for_each_leaf(OnLeaf&& on_leaf) noexcept {
    visit(root_, on_leaf);
  }

 private:
  std::array<std::size_t, kDimensions> coordinates(std::int32_t source) const noexcept {
    const std::uint32_t n = static_cast<std::uint32_t>(source), mask = radix() - 1;
    return {n >> 3 * bits_ & mask, n >> 2 * bits_ & mask, n >> bits_ & mask, n & mask};
  }

  template <class T>
  bool grown(T*& table) const noexcept {
    if (table == nullptr) [[unlikely]]
      table = new (std::nothrow) T[radix()]();
    return table != nullptr;
  }

  template <class T, class OnLeaf>
  void visit(T* table, OnLeaf& on_leaf) noexcept {
    for (unsigned i = 0; table != nullptr && i < radix(); ++i) {
      if constexpr (std::is_pointer_v<T>) {
        visit(table[i], on_leaf);
      } else {
        on_leaf(table[i]);
      }
    }
  }

  template <class T>
  void destroy(T* table) noexcept {
    if constexpr (std::is_pointer_v<T>) {
      for (unsigned i = 0; table != nullptr && i < radix(); ++i) destroy(table[i]);
    }
    delete[] table;
  }

  const unsigned bits_;  // of a coordinate
  Leaf**** root_ = nullptr;
};

class GridEngine : public EngineBase<GridEngine> {
 public:
  // Rounded up to a power of two, within 2 and 32.
  static constexpr unsigned kDefaultRadix = 16;

  explicit GridEngine(unsigned radix = kDefaultRadix) noexcept : posted_(radix), unexpected_(radix) {}

  unsigned radix() const noexcept { return posted_.radix(); }

  ReceiveNode* arrive(const Key& message_key) noexcept {
    std::uint64_t inspected = 0;
    ReceiveNode* receive = nullptr;
    if (stats_.posted.length != 0) {
      receive = oldest(posted_.find(message_key.source), posted_anywhere_, inspected,
                       [&](const Key& key) { return matches(key, message_key); });
    }
    stats_.posted.searched(inspected);
    if (receive != nullptr) unlink(*receive);
    return receive;
  }

  void add_unexpected(MessageNode& message) noexcept {
    stamp(message);
    Messages* leaf = unexpected_.make(message.key.source);
    (leaf != nullptr ? *leaf : unexpected_anywhere_).push_back(message);
    order_.push_back(message);
  }

  void add_posted(ReceiveNode& receive) noexcept {
    stamp(receive);
    Receives* leaf = receive.key.source == kAnySource ? nullptr : posted_.make(receive.key.source);
    (leaf != nullptr ? *leaf : posted_anywhere_).push_back(receive);
  }

  MessageNode* probe(const Key& receive_key) const noexcept {
    std::uint64_t inspected = 0;
    MessageNode* message = nullptr;
    if (stats_.unexpected.length != 0) {
      const auto admits = [&](const Key& key) { return matches(receive_key, key); };
      message = receive_key.source == kAnySource
                    ? oldest(static_cast<const Messages*>(nullptr), order_, inspected, admits)
                    : oldest(unexpected_.find(receive_key.source), unexpected_anywhere_, inspected, admits);
    }
    stats_.unexpected.searched(inspected);
    return message;
  }

  void remove(MessageNode& message) noexcept {
    Messages::remove(message);
    order_.remove(message);
    stats_.unexpected.removed(message.bytes);
  }

 private:
  friend EngineBase<GridEngine>;
  using ReceiveCube = Cube<ReceiveNode, InBin>;
  using MessageCube = Cube<MessageNode, InClass<0>>;
  using Receives = ReceiveCube::Leaf;
  using Messages = MessageCube::Leaf;

  // The oldest node that `admits`, of a leaf (or null) and of `rest`, looked at in order of age.
  template <class Node, class LeafTag, class Tag, class Admits>
  static Node* oldest(const Queue<Node, LeafTag>* leaf, const Queue<Node, Tag>& rest, std::uint64_t& inspected,
                      Admits admits) noexcept {
    Node* in_leaf = leaf != nullptr ? leaf->front() : nullptr;
    Node* in_rest = rest.front();
    for (;;) {
      const bool leaf_is_next = in_leaf != nullptr && (in_rest == nullptr || in_leaf->sequence < in_rest->sequence);
      Node* node = leaf_is_next ? in_leaf : in_rest;
      if (node == nullptr) return nullptr;
      ++inspected;
      if (admits(node->key)) return node;
      leaf_is_next ? in_leaf = leaf->after(*node) : in_rest = rest.after(*node);
    }
  }

  void unlink(ReceiveNode& receive) noexcept {
    Receives::remove(receive);
    stats_.posted.removed();
  }

  template <class Wanted, class OnReceive, class OnMessage>
  void take_if(Wanted wanted, OnReceive& on_receive, OnMessage& on_message) noexcept {
    Receives taken;
    const auto take_from = [&](Receives& receives) { move_if(receives, wanted, taken); };
    if (stats_.posted.length != 0) {
      take_from(posted_anywhere_);
      posted_.for_each_leaf(take_from);
    }
    sort_by_age(taken);
    while (ReceiveNode* receive = taken.pop_front()) {
      stats_.posted.removed();
      on_receive(*receive);
    }

    take_messages_if(order_, wanted, on_message);
  }

  ReceiveCube posted_;
  Receives posted_anywhere_;  // ANY_SOURCE, and what no memory was left for
  MessageCube unexpected_;
  Messages unexpected_anywhere_;  // what no memory was left for
  Queue<MessageNode, InOrder> order_;
};
static_assert(Engine<GridEngine>);

}  // namespace heddle::match
