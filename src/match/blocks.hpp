// A queue of nodes in blocks: the keys of up to N entries side by side, and one bit for each that is still there.
//
// Problem: the nodes of a list lie all over memory, and a search waits for each of them.
// Method:  blocks in order of age, slots in order of age within a block; a search asks a block for all its matching slots
//          and takes the first. What leaves clears its bit. A block without entries goes back to the pool; one that shares
//          its few entries with a neighbour's few is emptied into it, and the newest one closes its gaps before another
//          is begun: so there are never more blocks than 4 × entries / N + 2, however long an old entry stays.
//
//     block   used                      slots 0 … N - 1, oldest first
//            +------+-----------------+-----------------------------+------------------+
//            | live | next, prev      | keys, by field (Lanes)      | pointers to nodes|
//            +------+-----------------+-----------------------------+------------------+
//
//     A node's links hold its block and its slot.
// Memory:  blocks come from the heap and go back to a pool that the queue keeps. Where memory is refused, entries queue in a
//          list behind the blocks, until that is empty: slower, never lost. Hot caching (hot_cache.hpp) keeps them warm.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <type_traits>

#include "match/hot_cache.hpp"
#include "match/lanes.hpp"
#include "match/list.hpp"

namespace heddle::match {

// Keys one after the other, for a scalar search.
template <unsigned N>
class PlainLanes {
 public:
  static constexpr bool kExact = true;

  void set(unsigned i, const Key& key) noexcept { keys_[i] = key; }
  const Key& operator[](unsigned i) const noexcept { return keys_[i]; }

 private:
  Key keys_[N];
};

template <class Node, class Lanes, unsigned N>
class Blocks {
  static_assert(N >= 2 && N <= kLanes);
  using L = typename List<Node>::L;  // of a node: its block and its slot

 public:
  Blocks() noexcept = default;
  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;
  ~Blocks() {
    free_all(first_);
    free_all(pool_);
  }

  void push_back(Node& node) noexcept {
    if (last_ == nullptr || last_->used == N || !refused_.empty()) [[unlikely]] {
      if (!make_room()) return refused_.push_back(node);
    }
    place(*last_, node);
  }

  // REQUIRES: the node is here.
  void remove(Node& node) noexcept {
    Block* block = block_of(node);
    if (block == nullptr) return List<Node>::remove(node);
    block->live &= ~bit(slot_of(node));
    unlink(node);
    if (std::popcount(block->live) <= kFew) [[unlikely]]
      tidy(block);
  }

  // The oldest entry that matches `key`: of receives when that is a message's, of messages when it is a receive's.
  // Adds to `inspected` the entries up to it.
  Node* first(const Key& key, std::uint64_t& inspected) const noexcept {
    for (const Block* block = first_; block != nullptr; block = block->next) {
      if (Node* node = first_in(*block, key, inspected)) return node;
    }
    return refused_.first(key, inspected);
  }

  // Takes out what `wanted` says, oldest first. `take` gets a node that is unlinked. What stays is put together anew.
  template <class Wanted, class Take>
  void take_if(Wanted wanted, Take take) noexcept {
    List<Node> all, taken;
    while (Block* block = first_) {
      for (; block->live != 0; block->live &= block->live - 1) {
        all.push_back(*block->nodes[std::countr_zero(block->live)]);
      }
      give_back(block);
    }
    all.append(refused_);
    while (Node* node = all.pop_front()) wanted(node->key) ? taken.push_back(*node) : push_back(*node);
    while (Node* node = taken.pop_front()) take(*node);
  }

  std::size_t count() const noexcept {
    std::size_t blocks = 0;
    for (const Block* block = first_; block != nullptr; block = block->next) ++blocks;
    return blocks;
  }

 private:
  struct Block {
    std::uint64_t live = 0;
    Block* next = nullptr;
    Block* prev = nullptr;
    unsigned used = 0;
    Lanes lanes;
    Node* nodes[N];
  };
  static constexpr int kFew = static_cast<int>(N / 4);
  static constexpr std::uint64_t kInBlock = 1;  // set in a link that holds a slot: no node lies at an odd address

  Node* first_in(const Block& block, const Key& key, std::uint64_t& inspected) const noexcept {
    std::uint64_t candidates = block.live;
    if constexpr (!std::is_same_v<Lanes, PlainLanes<N>>) candidates &= block.lanes.matching(key);
    for (; candidates != 0; candidates &= candidates - 1) {
      const auto slot = static_cast<unsigned>(std::countr_zero(candidates));
      if constexpr (std::is_same_v<Lanes, PlainLanes<N>>) {
        if (!agree<Node>(block.lanes[slot], key)) continue;
      } else if constexpr (!Lanes::kExact) {
        if (!agree<Node>(block.nodes[slot]->key, key)) continue;
      }
      inspected += static_cast<unsigned>(std::popcount(block.live << (kLanes - 1 - slot)));
      return block.nodes[slot];
    }
    inspected += static_cast<unsigned>(std::popcount(block.live));
    return nullptr;
  }

  static Block* block_of(const Node& node) noexcept {
    const L& link = node;
    const auto slot = reinterpret_cast<std::uintptr_t>(link.prev);
    return slot & kInBlock ? reinterpret_cast<Block*>(link.next) : nullptr;
  }
  static unsigned slot_of(const Node& node) noexcept {
    const L& link = node;
    return static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(link.prev) >> 1);
  }
  static void unlink(Node& node) noexcept {
    L& link = node;
    link.next = link.prev = nullptr;
  }

  static void place(Block& block, Node& node) noexcept {
    const unsigned slot = block.used++;
    block.live |= bit(slot);
    block.lanes.set(slot, node.key);
    block.nodes[slot] = &node;
    L& link = node;
    link.next = reinterpret_cast<L*>(&block);
    link.prev = reinterpret_cast<L*>(std::uintptr_t{slot} << 1 | kInBlock);
  }

  // Whether last_ has room now. Not while anything is refused: that would overtake it.
  [[gnu::noinline]] bool make_room() noexcept {
    if (!refused_.empty()) return false;
    if (last_ != nullptr && std::popcount(last_->live) <= static_cast<int>(N / 2)) {
      close_gaps(*last_);
      return true;
    }
    Block* block = pool_;
    if (block != nullptr) {
      pool_ = block->next;
    } else if ((block = new (std::nothrow) Block) == nullptr) {
      return false;
    } else if (HotCache* cache = HotCache::of_pools()) {
      cache->add(memory_of(*block));  // which stays cold without memory to note it
    }
    block->used = 0;
    block->live = 0;
    block->next = nullptr;
    block->prev = last_;
    (last_ != nullptr ? last_->next : first_) = block;
    last_ = block;
    return true;
  }

  // Moves the entries of a block to its first slots.
  static void close_gaps(Block& block) noexcept {
    std::uint64_t left = block.live;
    block.used = 0;
    block.live = 0;
    for (; left != 0; left &= left - 1) place(block, *block.nodes[std::countr_zero(left)]);
  }

  // After a removal from a block that has few entries.
  [[gnu::noinline]] void tidy(Block* block) noexcept {
    if (block->live == 0) {
      if (block == last_) {
        block->used = 0;
        return;
      }
      return give_back(block);
    }
    if (block->prev != nullptr && std::popcount(block->prev->live) <= kFew) block = block->prev;
    Block* next = block->next;
    if (next == nullptr || std::popcount(next->live) > kFew) return;
    close_gaps(*block);
    for (std::uint64_t left = next->live; left != 0; left &= left - 1) {
      place(*block, *next->nodes[std::countr_zero(left)]);
    }
    give_back(next);
  }

  void give_back(Block* block) noexcept {
    (block->prev != nullptr ? block->prev->next : first_) = block->next;
    (block->next != nullptr ? block->next->prev : last_) = block->prev;
    block->next = pool_;
    pool_ = block;
  }

  static HotCache::Range memory_of(const Block& block) noexcept { return std::as_bytes(std::span(&block, 1)); }

  static void free_all(Block* block) noexcept {
    while (block != nullptr) {
      Block* next = block->next;
      if (HotCache* cache = HotCache::of_pools()) cache->remove(memory_of(*block));
      delete block;
      block = next;
    }
  }

  Block* first_ = nullptr;
  Block* last_ = nullptr;
  Block* pool_ = nullptr;
  SearchedList<Node> refused_;
};

}  // namespace heddle::match
