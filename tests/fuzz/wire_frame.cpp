// Frames from the network: the first byte says whether the length and the hash are put right, to get behind them.
#include <cstdlib>
#include <cstring>
#include <vector>

#include "wire/frame.hpp"

using namespace heddle::wire;

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  constexpr heddle::SipKey kKey{1, 2};
  constexpr std::uint32_t kSelf = 7;
  if (size == 0) return 0;
  std::vector<std::byte> frame(size - 1);  // of exactly its size: the sanitizer guards its end
  if (size > 1) std::memcpy(frame.data(), data + 1, size - 1);
  FrameHeader header;
  if ((data[0] & 1) != 0 && frame.size() >= sizeof header) {
    std::memcpy(&header, frame.data(), sizeof header);
    header.target = kSelf;
    header.version = kFrameVersion;
    header.bytes = static_cast<std::uint32_t>(frame.size() - sizeof header);
    header.mac = header.mac_under(kKey);
    std::memcpy(frame.data(), &header, sizeof header);
  }
  if (!read_frame_header(frame.data(), frame.size(), kKey, kSelf, &header)) return 0;
  const std::byte* at = frame.data() + sizeof header;
  const std::byte* const end = frame.data() + frame.size();
  Packet packet;
  volatile unsigned char sum = 0;
  for (std::uint32_t i = 0; i < header.packets && read_packet(&at, end, &packet); ++i) {
    if (packet.prefix < frame.data() || packet.payload + packet.payload_bytes > end) std::abort();
    if (at > end || packet.header.prefix_bytes > kMaxPrefix) std::abort();
    for (const std::byte* b = packet.prefix; b < packet.payload + packet.payload_bytes; ++b) {
      sum = static_cast<unsigned char>(sum + std::to_integer<unsigned>(*b));
    }
  }
  return 0;
}
