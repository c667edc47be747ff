// What travels over a fabric: packets of one lane, one or several at a time, behind a header that only a process of the
// same job can have written.
//
//     FrameHeader 0          8          12         16          20          24     25     26        28          32
//                 +----------+----------+----------+-----------+-----------+------+------+---------+-----------+
//                 | mac 64   | source   | target   | sequence  | bytes     | from | to   | version | packets   |
//                 +----------+----------+----------+-----------+-----------+------+------+---------+-----------+
//                 | PacketHeader 24 | prefix | payload | pad to 8 | PacketHeader ...
//
// `source` and `target` are processes, `from` and `to` their VCIs, `bytes` is what follows the header; `sequence` counts
// the frames of a lane from 0.
//
// Problem: on many networks anybody can connect to a process and send it anything, while what Heddle's processes tell each
//          other is trusted: it contains addresses of requests.
// Method:  the header carries a hash of itself under the job's secret, and the lane's next sequence number. A frame with a
//          wrong hash, an old number or a wrong length is dropped and counted; nothing in it is looked at. What follows the
//          header is not hashed: this keeps out who can connect, not who can read or change what is on its way.
// Threads: pure functions.
// Cost:    20 ns at each side.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/siphash.hpp"
#include "wire/packet.hpp"

namespace heddle::wire {

inline constexpr std::uint16_t kFrameVersion = 1;

struct FrameHeader {
  std::uint64_t mac = 0;
  std::uint32_t source = 0;
  std::uint32_t target = 0;
  std::uint32_t sequence = 0;
  std::uint32_t bytes = 0;
  std::uint8_t from = 0;
  std::uint8_t to = 0;
  std::uint16_t version = kFrameVersion;
  std::uint32_t packets = 0;

  // Of all but itself.
  std::uint64_t mac_under(const SipKey& key) const noexcept {
    return SipHash(key)(&source, sizeof *this - offsetof(FrameHeader, source));
  }
};
static_assert(sizeof(FrameHeader) == 32 && offsetof(FrameHeader, source) == 8 && offsetof(FrameHeader, packets) == 28);

struct PacketHeader {
  Header header;
  std::uint32_t payload_bytes = 0;
  std::uint32_t behind = 0;  // bytes that come behind the frame, tagged with the first 8 bytes of the payload
};
static_assert(sizeof(PacketHeader) == 24);

constexpr std::size_t framed_bytes(std::size_t prefix_bytes, std::size_t payload_bytes) noexcept {
  return sizeof(PacketHeader) + ((prefix_bytes + payload_bytes + 7) & ~std::size_t{7});
}

// The header of `bytes` bytes that have arrived, if they are a frame of the job with this key for this process: true.
bool read_frame_header(const std::byte* frame, std::size_t bytes, const SipKey& key, std::uint32_t self,
                       FrameHeader* out) noexcept;

// Takes the packet at *at off the rest of a frame, which ends at `end`, and moves *at behind it. False: there is none, or
// it makes no sense. Its payload is not aligned to more than 8 bytes.
bool read_packet(const std::byte** at, const std::byte* end, Packet* out, std::uint32_t* behind = nullptr) noexcept;

}  // namespace heddle::wire
