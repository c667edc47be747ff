// The matching part of a portal table entry: priority list, overflow list, unexpected headers (Portals 4, 3.12).
//
// Problem: a message must find the oldest receive that matches, and a receive the oldest message, in one atomic step;
//          what nobody waits for yet must be kept, payload and all.
// Method:  receives are match entries on the priority list. A message without one becomes an unexpected header; its
//          payload is copied to overflow memory that the entry owns: inside the header where it fits, or else on the
//          heap. Appending a match entry searches the unexpected headers first, so a match is never missed.
// Threads: the caller holds the lock of the VCI.
// Cost:    an expected message allocates nothing; an unexpected one takes a header from a slab.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "base/copy.hpp"
#include "base/slab.hpp"
#include "match/matcher.hpp"
#include "wire/packet.hpp"

namespace heddle::portals {

using MatchEntry = match::ReceiveNode;
using match::Key;

// A message that arrived before its receive: its node, its prefix, and behind that its payload where there is room.
//
//   0        16       32    44      48         56      104       112      113      114                192
//   +--------+--------+-----+-------+----------+-------+---------+--------+--------+------------------+
//   | links  | links  | key | bytes | sequence | other | payload | portal | beside | prefix, payload  |
//   | of all | of bin |     |       |          | links |         |        |        |                  |
//   +--------+--------+-----+-------+----------+-------+---------+--------+--------+------------------+
//
// A receive that takes an eager message of up to 14 bytes touches two cache lines of it.
struct alignas(64) UnexpectedHeader : match::MessageNode {
  static constexpr std::size_t kInlineBytes = 78;  // of prefix and payload

  UnexpectedHeader() noexcept {}  // leaves the bytes as they are

  std::byte* payload = prefix;  // `bytes` of them
  std::uint8_t portal = 0;
  bool beside = false;  // the payload is from malloc
  std::byte prefix[kInlineBytes];

  // Of its payload, what takes memory of its own.
  std::size_t bytes_beside() const noexcept { return beside ? bytes : 0; }

  template <class T>
  T prefix_as() const noexcept {
    static_assert(sizeof(T) <= wire::kMaxPrefix);
    T value;
    std::memcpy(&value, prefix, sizeof value);
    return value;
  }
};

static_assert(sizeof(UnexpectedHeader) == 192);

// Who is told what is kept: a header, and bytes of payload beside it.
class Keeper {
 public:
  virtual void keep(std::size_t bytes) noexcept = 0;
  virtual void release(std::size_t bytes) noexcept = 0;

 protected:
  ~Keeper() = default;
};

class MatchList {
 public:
  explicit MatchList(Keeper& keeper) noexcept : keeper_(keeper) {}

  // Puts the entry on the priority list, unless a message is already there that matches: then that message, which the
  // caller owns from now on (give_back).
  UnexpectedHeader* append(MatchEntry& entry) noexcept { return static_cast<UnexpectedHeader*>(matcher_.post(entry)); }
  // The oldest entry that matches, off the list; null when there is none.
  MatchEntry* arrive(const Key& key) noexcept { return matcher_.arrive(key); }
  // Short cuts for the usual case: append() while nothing is unexpected, or of what matches the message that is looked at
  // first; arrive() of what the oldest entry admits. False or null: nothing happened, ask the other one.
  bool append_to_empty(MatchEntry& entry) noexcept { return matcher_.post_to_empty(entry); }
  UnexpectedHeader* extract_at_front(const Key& key) noexcept {
    return static_cast<UnexpectedHeader*>(matcher_.extract_at_front(key));
  }
  MatchEntry* arrive_at_front(const Key& key) noexcept { return matcher_.arrive_at_front(key); }
  // Keeps a packet that nobody waits for. Null when there is no memory for it.
  UnexpectedHeader* keep(const Key& key, const wire::Packet& packet) noexcept {
    UnexpectedHeader* header = headers_.take();
    if (header == nullptr) return nullptr;
    if (packet.header.prefix_bytes + packet.payload_bytes > UnexpectedHeader::kInlineBytes) {
      header->payload = static_cast<std::byte*>(std::malloc(packet.payload_bytes));
      if (header->payload == nullptr) {
        headers_.give_back(header);
        return nullptr;
      }
      header->beside = true;
    } else {
      header->payload += packet.header.prefix_bytes;
    }
    header->key = key;
    header->portal = packet.header.portal;
    std::copy_n(packet.prefix, packet.header.prefix_bytes, header->prefix);
    header->bytes = static_cast<std::uint32_t>(packet.payload_bytes);  // of a packet, which is shorter than that
    keeper_.keep(header->bytes_beside());
    if (packet.payload_bytes != 0) copy_bytes(header->payload, packet.payload, packet.payload_bytes);
    matcher_.add_unexpected(*header);
    return header;
  }
  // A header that is on no list, the caller's (give_back): of a message that was matched before it came. Null: no memory.
  UnexpectedHeader* make_header() noexcept {
    UnexpectedHeader* header = headers_.take();
    if (header != nullptr) keeper_.keep(0);
    return header;
  }
  // True: the entry was on the list and no message can match it any more.
  bool unlink(MatchEntry& entry) noexcept { return matcher_.cancel(entry); }
  // PtlMESearch: the oldest message that matches; `extract` also takes it off the list for the caller (give_back).
  const UnexpectedHeader* search(const Key& key) noexcept {
    return static_cast<const UnexpectedHeader*>(matcher_.probe(key));
  }
  UnexpectedHeader* extract(const Key& key) noexcept { return static_cast<UnexpectedHeader*>(matcher_.extract(key)); }
  // One that was extracted, behind all others. REQUIRES: no entry matches it.
  void put_back(UnexpectedHeader& header) noexcept { matcher_.add_unexpected(header); }
  void give_back(UnexpectedHeader* header) noexcept {
    const std::size_t beside = header->bytes_beside();
    if (header->beside) [[unlikely]]
      std::free(header->payload);
    headers_.give_back(header);
    keeper_.release(beside);
  }
  // Visits the entries, the oldest first in each context. REQUIRES: `visit` does not touch the list.
  template <class Visit>
  void each_entry(Visit visit) {
    match::Queue<MatchEntry, match::InBin> entries;
    match::Queue<match::MessageNode, match::InOrder> messages;
    matcher_.drain_in_order([&](MatchEntry& entry) noexcept { entries.push_back(entry); },
                            [&](match::MessageNode& message) noexcept { messages.push_back(message); });
    while (match::MessageNode* message = messages.pop_front()) matcher_.add_unexpected(*message);
    while (MatchEntry* entry = entries.pop_front()) {
      matcher_.add_posted(*entry);
      visit(*entry);
    }
  }
  // Drops every unexpected message of a context that no longer exists.
  void purge(std::uint32_t context) noexcept {
    matcher_.purge(
        context, [](match::ReceiveNode&) noexcept {},
        [this](match::MessageNode& node) noexcept { give_back(static_cast<UnexpectedHeader*>(&node)); });
  }
  // The engine behind it, and what it counts.
  match::Matcher& matcher() noexcept { return matcher_; }

 private:
  Keeper& keeper_;
  match::Matcher matcher_;
  Slab<UnexpectedHeader> headers_;
};

}  // namespace heddle::portals
