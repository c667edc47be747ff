// A ring from one sender to one receiver, in shared memory.
//
// Problem: an 8-byte message must cross in about two transfers of a cache line; anything more is our own doing.
// Method:  64-byte slots, each with its own sequence word, so that the payload and "it is there" travel in one line. A
//          packet that does not fit one slot takes two; the first is published last. The slot that continues a packet
//          carries a sequence word that no reader waits for. The receiver returns credit once per quarter ring, so the
//          sender rarely reads a line that the receiver writes.
//
//     first slot         0         4         6       7       8                        24                            64
//                        +---------+---------+-------+-------+------------------------+------------------------------+
//                        | seq 32  | bytes16 | slots | kind  | Header                 | prefix, then payload: 40     |
//                        +---------+---------+-------+-------+------------------------+------------------------------+
//     continuing slot    0         4         8                                                                      64
//                        +---------+---------+----------------------------------------------------------------------+
//                        | 2^31^seq| unused  | payload: 56                                                          |
//                        +---------+---------+----------------------------------------------------------------------+
//
// Threads: one producer and one consumer, in different processes or not. Both sides are wait-free.
// Order:   `sequence` is published with release and read with acquire; `consumed` likewise, the other way.
// Cost:    one cache line each way for what fits one slot (docs/decisions/rings.md has the figures).
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/atomics.hpp"
#include "base/cpu.hpp"
#include "wire/packet.hpp"

namespace heddle::wire {

// How the bytes of a packet lie.
enum class SlotKind : std::uint8_t {
  kInline = 0,  // prefix and payload in the slots
  kCell = 1,    // prefix in the slot, then a CellRef; the payload lies in that cell
};

template <class Atomics>
struct alignas(kCacheLine) Slot {
  static constexpr std::size_t kFirstBytes = 40;
  static constexpr std::size_t kNextBytes = 56;

  struct First {
    std::uint16_t bytes;  // prefix and inline payload
    std::uint8_t slots;
    SlotKind kind;
    Header header;
    std::byte data[kFirstBytes];

    // One slot, inline, for portal 0, no prefix: four bytes in a row, which are compared at once.
    bool is_short() const noexcept {
      static_assert(offsetof(First, kind) == offsetof(First, slots) + 1 && offsetof(Header, portal) == 0 &&
                    offsetof(First, header) == offsetof(First, slots) + 2 && offsetof(Header, prefix_bytes) == 1);
      constexpr std::uint8_t kShort[] = {1, static_cast<std::uint8_t>(SlotKind::kInline), 0, 0};
      return std::memcmp(&slots, kShort, sizeof kShort) == 0;
    }
  };
  struct Next {
    std::uint32_t unused;
    std::byte data[kNextBytes];
  };

  typename Atomics::template atomic<std::uint32_t> sequence{0};
  union {
    First first;
    Next next;
  };

  Slot() noexcept {}
};

// The words that the receiver writes, on a line of their own.
template <class Atomics>
struct alignas(kCacheLine) Credit {
  typename Atomics::template atomic<std::uint32_t> slots{0};  // consumed since the beginning
  typename Atomics::template atomic<std::uint32_t> cells{0};  // given back since the beginning
};

// A model test takes fewer, so that a full ring is within its bounds.
template <class Atomics>
inline constexpr std::uint32_t kRingSlots = 256;

template <class Atomics = StdAtomics>
struct RingMemory {
  static constexpr std::uint32_t kSlots = kRingSlots<Atomics>;
  static_assert(std::has_single_bit(kSlots));

  Credit<Atomics> credit;
  Slot<Atomics> slots[kSlots];

  Slot<Atomics>& at(std::uint32_t index) noexcept { return slots[index & (kSlots - 1)]; }
};

// The most that a packet carries in one slot, and in two.
inline constexpr std::size_t kMaxShort = 40;
static_assert(kMaxShort <= kShortCopy);
inline constexpr std::size_t kMaxInline = kMaxShort + 56;

template <class Atomics = StdAtomics>
class RingProducer {
 public:
  explicit RingProducer(RingMemory<Atomics>& memory) noexcept : memory_(&memory) {}

  bool has_room(std::uint32_t slots) noexcept {
    if (tail_ - consumed_ + slots <= RingMemory<Atomics>::kSlots) [[likely]]
      return true;
    return has_new_room(slots);
  }
  [[gnu::noinline]] bool has_new_room(std::uint32_t slots) noexcept {
    consumed_ = memory_->credit.slots.load(std::memory_order_acquire);
    return tail_ - consumed_ + slots <= RingMemory<Atomics>::kSlots;
  }

  // A whole packet of at most kMaxInline bytes. False when the ring is full; then nothing was taken.
  bool try_push(const Header& header, const void* prefix, Payload& payload) noexcept {
    const std::size_t bytes = header.prefix_bytes + payload.bytes;
    if (bytes > Slot<Atomics>::kFirstBytes) return push_two(header, prefix, payload, bytes);
    if (!has_room(1)) return false;
    publish(fill_first(header, prefix, payload, payload.bytes), header, bytes, 1, SlotKind::kInline);
    return true;
  }

  // A packet of at most kMaxShort bytes without a prefix: nothing of it has to lie in memory. False when the ring was full
  // when try_push() last looked.
  [[gnu::always_inline]] bool push_short(const Header header, const void* data, std::size_t bytes) noexcept {
    const std::uint32_t tail = tail_;
    if (tail - consumed_ == RingMemory<Atomics>::kSlots) [[unlikely]]
      return false;
    Slot<Atomics>* slot = &memory_->at(tail);
    tail_ = tail + 1;
    Atomics::writes(&slot->first, sizeof slot->first);
    slot->first.header = header;
    slot->first.bytes = static_cast<std::uint16_t>(bytes);
    slot->first.slots = 1;
    slot->first.kind = SlotKind::kInline;
    copy_short(slot->first.data, static_cast<const std::byte*>(data), bytes);
    slot->sequence.store(tail + 1, std::memory_order_release);
    return true;
  }

  // A packet whose payload lies in a cell: `body` follows the prefix. REQUIRES: has_room(1).
  template <class Ref>
  void push_cell(const Header& header, const void* prefix, const Ref& ref) noexcept {
    static_assert(kMaxPrefix + sizeof(Ref) <= Slot<Atomics>::kFirstBytes);
    Payload body{&ref, sizeof ref};
    publish(fill_first(header, prefix, body, sizeof ref), header, header.prefix_bytes + sizeof ref, 1, SlotKind::kCell);
  }

  std::uint32_t cells_given_back() const noexcept { return memory_->credit.cells.load(std::memory_order_acquire); }

 private:
  // Prefix and the first bytes of the payload into the next slot.
  Slot<Atomics>& fill_first(const Header& header, const void* prefix, Payload& payload, std::size_t bytes) noexcept {
    Slot<Atomics>& slot = memory_->at(tail_);
    Atomics::writes(&slot.first, sizeof slot.first);
    if (prefix != nullptr) std::memcpy(slot.first.data, prefix, header.prefix_bytes);
    payload.take(slot.first.data + header.prefix_bytes, bytes);
    return slot;
  }

  [[gnu::noinline]] bool push_two(const Header& header, const void* prefix, Payload& payload,
                                  std::size_t bytes) noexcept {
    if (!has_room(2)) return false;
    // (The compiler does not know that a prefix is short.)
    const std::size_t here = Slot<Atomics>::kFirstBytes - std::min<std::size_t>(header.prefix_bytes, kMaxPrefix);
    Slot<Atomics>& slot = fill_first(header, prefix, payload, here);
    const std::size_t left = bytes - Slot<Atomics>::kFirstBytes;
    Slot<Atomics>& more = memory_->at(tail_ + 1);
    Atomics::writes(more.next.data, left);
    payload.take(more.next.data, left);
    // A value that at(tail_ + 1) can only be waited for after 2^31 more slots, long overwritten by then.
    more.sequence.store((tail_ + 2) ^ 0x80000000u, std::memory_order_relaxed);
    publish(slot, header, bytes, 2, SlotKind::kInline);
    return true;
  }

  void publish(Slot<Atomics>& slot, const Header& header, std::size_t bytes, std::uint32_t slots,
               SlotKind kind) noexcept {
    slot.first.header = header;
    slot.first.bytes = static_cast<std::uint16_t>(bytes);
    slot.first.slots = static_cast<std::uint8_t>(slots);
    slot.first.kind = kind;
    slot.sequence.store(tail_ + 1, std::memory_order_release);
    tail_ += slots;
  }

  RingMemory<Atomics>* memory_;
  std::uint32_t tail_ = 0;      // slots written since the beginning
  std::uint32_t consumed_ = 0;  // the newest credit seen
};

template <class Atomics = StdAtomics>
class RingConsumer {
 public:
  explicit RingConsumer(RingMemory<Atomics>& memory) noexcept : memory_(&memory) {}

  bool empty() const noexcept { return memory_->at(head_).sequence.load(std::memory_order_acquire) != head_ + 1; }

  // The first slot of the next packet; null when there is none. It stays until pop_front().
  Slot<Atomics>* front() noexcept {
    const std::uint32_t head = head_;
    Slot<Atomics>* slot = &memory_->at(head);
    if (slot->sequence.load(std::memory_order_acquire) != head + 1) return nullptr;
    Atomics::reads(&slot->first, sizeof slot->first);
    return slot;
  }
  // Gives the `slots` of the next packet back to the producer. Of a burst the lines to come are fetched meanwhile.
  void pop_front(std::uint32_t slots) noexcept {
    head_ += slots;
    __builtin_prefetch(&memory_->at(head_ + kAhead));
    if (head_ - returned_ >= RingMemory<Atomics>::kSlots / 4) return_credit();
  }
  // The prefix and inline payload of a packet of two slots, in one piece.
  void gather(const Slot<Atomics>& slot, std::byte* to) const noexcept {
    const std::size_t left = slot.first.bytes - Slot<Atomics>::kFirstBytes;
    const Slot<Atomics>& more = memory_->at(head_ + 1);
    Atomics::reads(more.next.data, left);
    std::memcpy(to, slot.first.data, Slot<Atomics>::kFirstBytes);
    std::memcpy(to + Slot<Atomics>::kFirstBytes, more.next.data, left);
  }

  // Hands the next packet to take(slot.first, bytes): `bytes` is its prefix and inline payload in one piece.
  // False when there is none. The packet's memory is the producer's again when take() returns.
  template <class Take>
  bool pop(Take&& take) noexcept {
    Slot<Atomics>* slot = front();
    if (slot == nullptr) return false;
    const std::uint32_t slots = slot->first.slots;
    if (slots == 1) {
      take(slot->first, slot->first.data);
    } else {
      std::byte whole[kMaxInline];
      gather(*slot, whole);
      take(slot->first, whole);
    }
    pop_front(slots);
    return true;
  }

  // Tells the producer of everything consumed so far, ahead of the quarter ring.
  void return_credit() noexcept {
    returned_ = head_;
    memory_->credit.slots.store(head_, std::memory_order_release);
  }

  void give_cell_back() noexcept { memory_->credit.cells.store(++cells_, std::memory_order_release); }

 private:
  static constexpr std::uint32_t kAhead = 4;  // slots

  RingMemory<Atomics>* memory_;
  std::uint32_t head_ = 0;      // slots consumed since the beginning
  std::uint32_t returned_ = 0;  // the credit that the producer was told
  std::uint32_t cells_ = 0;
};

using PlainSlot = Slot<StdAtomics>;
static_assert(sizeof(PlainSlot) == 64);
static_assert(offsetof(PlainSlot, first) == 4);
static_assert(offsetof(PlainSlot::First, header) == 4 && offsetof(PlainSlot::First, data) == 20);
static_assert(offsetof(PlainSlot::Next, data) == 4);

}  // namespace heddle::wire
