// The baseline engine: two doubly linked lists, searched from the oldest.
//
// When:    queues are short or are matched in order: nothing beats the first entry of a list.
// Not when: many receives are outstanding and messages come in another order: a search of n entries in random order
//          inspects (n + 3) / 4 of them on the way to empty, each perhaps a cache miss.
// Cost:    docs/decisions/match-default.md.
#pragma once

#include <type_traits>

#include "match/queue_engine.hpp"

namespace heddle::match {

// In the order of arrival or of posting.
template <class Node>
using List = Queue<Node, std::conditional_t<std::is_same_v<Node, MessageNode>, InOrder, InBin>>;

// The key of an entry of a queue of such nodes, and that of the message or receive which asks.
template <class Node>
bool agree(const Key& queued, const Key& asking) noexcept {
  if constexpr (std::is_same_v<Node, MessageNode>) return matches(asking, queued);
  return matches(queued, asking);
}

template <class Node>
class SearchedList : public List<Node> {
 public:
  // The oldest entry that matches `key`: of receives when that is a message's, of messages when it is a receive's.
  // Adds to `inspected` the entries up to it.
  Node* first(const Key& key, std::uint64_t& inspected) const noexcept {
    Node* node = this->front();
    for (; node != nullptr; node = this->after(*node)) {
      ++inspected;
      if (agree<Node>(node->key, key)) [[likely]]
        break;
    }
    return node;
  }

  // Takes out what `wanted` says, oldest first. `take` gets a node that is unlinked.
  template <class Wanted, class Take>
  void take_if(Wanted wanted, Take take) noexcept {
    List<Node> taken;
    move_if(*this, wanted, taken);
    while (Node* node = taken.pop_front()) take(*node);
  }
};

using ListEngine = QueueEngine<SearchedList>;
static_assert(Engine<ListEngine>);

}  // namespace heddle::match
