// What travels between two interfaces.
//
// A message is a header and its data, cut into packets of the lane, which keeps them together and in order: the first
// packet begins with the header, the others are data alone. The interfaces of one kind talk by the VCI of that number.
//
//     0      1     2      3      4       5      6       8          12    16              24
//     +------+-----+------+------+-------+------+-------+----------+-----+---------------+
//     | kind | ack | fail | list | op    | type | quiet | pt_index | uid | token 64      |
//     +------+-----+------+------+-------+------+-------+----------+-----+---------------+
//     | match_bits 64   | remote_offset 64 | length 64 | hdr_data 64 |                       24 to 56
//     +-----------------+------------------+-----------+-------------+
//     | operand, 32 bytes                                            |                       56 to 88
//     +--------------------------------------------------------------+
//
// An answer (acknowledgment, reply) has the token of what it answers, which no other operation of that process ever had: an
// answer may come when the interface was closed and opened again. `length` is then what was done, and `remote_offset`
// the offset that was used. In wire::Header, `source` is the sender's process and `tag` 0 for a first packet.
#pragma once

#include <cstddef>
#include <cstdint>

#include "portals4.h"

namespace heddle::portals4 {

inline constexpr std::uint8_t kPortal = 1;  // of the VCI (portals/table.hpp)

enum class MessageKind : std::uint8_t { kPut, kGet, kAtomic, kFetchAtomic, kSwap, kAck, kReply };

inline constexpr std::size_t kMaxElement = 32;  // PTL_LONG_DOUBLE_COMPLEX

struct MessageHeader {
  MessageKind kind = MessageKind::kPut;
  std::uint8_t ack = 0;  // ptl_ack_req_t
  std::uint8_t fail = 0;
  std::uint8_t list = 0;
  std::uint8_t operation = 0;
  std::uint8_t datatype = 0;
  std::uint8_t quiet = 0;  // of an acknowledgment that the entry disables: the operation is over, and that is all
  std::uint8_t unused = 0;
  std::uint32_t pt_index = 0;
  std::uint32_t uid = 0;
  std::uint64_t token = 0;
  std::uint64_t match_bits = 0;
  std::uint64_t remote_offset = 0;
  std::uint64_t length = 0;
  std::uint64_t hdr_data = 0;
  std::byte operand[kMaxElement] = {};

  bool is_answer() const { return kind == MessageKind::kAck || kind == MessageKind::kReply; }
  bool wants_reply() const {
    return kind == MessageKind::kGet || kind == MessageKind::kFetchAtomic || kind == MessageKind::kSwap;
  }
  bool is_atomic() const {
    return kind == MessageKind::kAtomic || kind == MessageKind::kFetchAtomic || kind == MessageKind::kSwap;
  }
  std::uint64_t data_bytes() const { return kind == MessageKind::kGet || kind == MessageKind::kAck ? 0 : length; }
};
static_assert(offsetof(MessageHeader, pt_index) == 8 && offsetof(MessageHeader, token) == 16 &&
              offsetof(MessageHeader, match_bits) == 24 && offsetof(MessageHeader, operand) == 56 &&
              sizeof(MessageHeader) == 88);

}  // namespace heddle::portals4
