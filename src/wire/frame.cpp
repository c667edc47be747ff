#include "wire/frame.hpp"

#include <cstring>

namespace heddle::wire {

bool read_frame_header(const std::byte* frame, std::size_t bytes, const SipKey& key, std::uint32_t self,
                       FrameHeader* out) noexcept {
  if (bytes < sizeof *out) return false;
  std::memcpy(out, frame, sizeof *out);
  return out->mac == out->mac_under(key) && out->version == kFrameVersion && out->target == self &&
         out->bytes == bytes - sizeof *out;
}

bool read_packet(const std::byte** at, const std::byte* end, Packet* out, std::uint32_t* behind) noexcept {
  PacketHeader head;
  const auto left = static_cast<std::size_t>(end - *at);
  if (left < sizeof head) return false;
  std::memcpy(&head, *at, sizeof head);
  const std::size_t prefix = head.header.prefix_bytes;
  if (prefix > kMaxPrefix || head.payload_bytes > left || framed_bytes(prefix, head.payload_bytes) > left) return false;
  const std::byte* body = *at + sizeof head;
  *out = {head.header, body, body + prefix, head.payload_bytes};
  if (behind != nullptr) *behind = head.behind;
  *at += framed_bytes(prefix, head.payload_bytes);
  return true;
}

}  // namespace heddle::wire
