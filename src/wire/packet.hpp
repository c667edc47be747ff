// What a wire carries: a header, a short prefix that a protocol writes, and a payload.
//
//     Header   0        1        2              4            8            12           16
//              +--------+--------+--------------+------------+------------+------------+
//              | portal | prefix | code         | context 32 | source 32  | tag 32     |
//              +--------+--------+--------------+------------+------------+------------+
//
// `portal` selects the handler at the receiver (portals/table.hpp); a wire looks at none of it but `prefix`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/copy.hpp"

namespace heddle::wire {

struct Header {
  std::uint8_t portal = 0;
  std::uint8_t prefix_bytes = 0;
  std::uint16_t code = 0;  // of the protocol's own, where it needs one
  std::uint32_t context = 0;
  std::int32_t source = 0;
  std::int32_t tag = 0;
};
static_assert(sizeof(Header) == 16);

inline constexpr std::size_t kMaxPrefix = 24;

// A packet that has arrived. It is valid only while its handler runs.
struct Packet {
  Header header;
  const std::byte* prefix;
  const std::byte* payload;
  std::size_t payload_bytes;

  // The prefix as the protocol's own struct.
  template <class T>
  T prefix_as() const noexcept {
    static_assert(sizeof(T) <= kMaxPrefix);
    T value;
    std::memcpy(&value, prefix, sizeof value);
    return value;
  }
};

// When a packet is to go, for a wire that gathers packets.
enum class When : std::uint8_t {
  kSoon,      // at once, unless others went just before
  kWithMore,  // with what comes behind it: the sender has no use of it before
  kNow,       // at once, with what was gathered: the sender waits for what comes of it
};

// Bytes to send: either one contiguous piece, or a function that writes the next n bytes wherever it is told.
struct Payload {
  using Fill = void (*)(void* state, std::byte* to, std::size_t bytes);

  const void* data = nullptr;
  std::size_t bytes = 0;
  Fill fill = nullptr;  // null: `data` is contiguous
  void* state = nullptr;
  When when = When::kSoon;

  // Writes the next n bytes; the calls come in order and cover the payload once.
  void take(std::byte* to, std::size_t n) noexcept {
    if (n == 0) return;
    if (fill == nullptr) {
      copy_bytes(to, static_cast<const std::byte*>(data), n);
      data = static_cast<const std::byte*>(data) + n;
    } else {
      fill(state, to, n);
    }
  }
};

}  // namespace heddle::wire
