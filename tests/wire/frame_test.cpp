#include "wire/frame.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace heddle::wire {
namespace {

constexpr SipKey kKey{0x1234, 0x5678};
constexpr std::uint32_t kSelf = 7;

// A frame as a lane writes it, in a block of exactly its size, so that the address sanitizer guards its end.
class Writer {
 public:
  Writer() : bytes_(sizeof(FrameHeader)) { header.source = 3, header.target = kSelf, header.sequence = 9; }

  Writer& packet(const Header& packet, const std::string& prefix, const std::string& payload) {
    PacketHeader head{packet, static_cast<std::uint32_t>(payload.size()), 0};
    head.header.prefix_bytes = static_cast<std::uint8_t>(prefix.size());
    const std::size_t at = bytes_.size();
    bytes_.resize(at + framed_bytes(prefix.size(), payload.size()));
    std::memcpy(&bytes_[at], &head, sizeof head);
    std::memcpy(&bytes_[at + sizeof head], prefix.data(), prefix.size());
    if (!payload.empty()) std::memcpy(&bytes_[at + sizeof head + prefix.size()], payload.data(), payload.size());
    ++header.packets;
    return *this;
  }
  // Signed, with the length that it has if none was set.
  std::vector<std::byte> finish() {
    if (header.bytes == 0) header.bytes = static_cast<std::uint32_t>(bytes_.size() - sizeof header);
    header.mac = header.mac_under(kKey);
    std::memcpy(bytes_.data(), &header, sizeof header);
    return {bytes_.begin(), bytes_.end()};
  }

  FrameHeader header;

 private:
  std::vector<std::byte> bytes_;
};

bool accepts(const std::vector<std::byte>& frame, const SipKey& key = kKey, std::uint32_t self = kSelf) {
  FrameHeader header;
  return read_frame_header(frame.data(), frame.size(), key, self, &header);
}

std::string text(const std::byte* at, std::size_t bytes) { return {reinterpret_cast<const char*>(at), bytes}; }

TEST(Frame, PacketsOfAllLengthsComeBack) {
  Writer writer;
  for (std::size_t prefix = 0; prefix <= kMaxPrefix; ++prefix) {
    for (std::size_t payload : {0u, 1u, 7u, 8u, 9u, 100u}) {
      const auto tag = static_cast<std::int32_t>(payload);
      writer.packet({static_cast<std::uint8_t>(prefix), 0, 0, 77, -2, tag}, std::string(prefix, 'p'),
                    std::string(payload, 'd'));
    }
  }
  writer.header.from = 5, writer.header.to = 6;
  const auto frame = writer.finish();
  FrameHeader header;
  ASSERT_TRUE(read_frame_header(frame.data(), frame.size(), kKey, kSelf, &header));
  EXPECT_EQ(header.source, 3u);
  EXPECT_EQ(header.sequence, 9u);
  EXPECT_EQ(header.from, 5);
  EXPECT_EQ(header.to, 6);
  EXPECT_EQ(header.packets, (kMaxPrefix + 1) * 6);
  const std::byte* at = frame.data() + sizeof header;
  const std::byte* const end = frame.data() + frame.size();
  Packet packet;
  for (std::size_t prefix = 0; prefix <= kMaxPrefix; ++prefix) {
    for (std::size_t payload : {0u, 1u, 7u, 8u, 9u, 100u}) {
      ASSERT_TRUE(read_packet(&at, end, &packet)) << prefix << ' ' << payload;
      EXPECT_EQ(packet.header.portal, prefix);
      EXPECT_EQ(packet.header.context, 77u);
      EXPECT_EQ(packet.header.source, -2);
      EXPECT_EQ(packet.header.tag, static_cast<std::int32_t>(payload));
      EXPECT_EQ(text(packet.prefix, packet.header.prefix_bytes), std::string(prefix, 'p'));
      EXPECT_EQ(text(packet.payload, packet.payload_bytes), std::string(payload, 'd'));
    }
  }
  EXPECT_EQ(at, end);
  EXPECT_FALSE(read_packet(&at, end, &packet)) << "there is no other";
  EXPECT_EQ(at, end) << "and nothing moves";
}

TEST(Frame, EveryChangedBitOfTheHeaderIsRefused) {
  const auto frame = Writer().packet({}, "pre", "payload").finish();
  ASSERT_TRUE(accepts(frame));
  for (std::size_t bit = 0; bit < sizeof(FrameHeader) * 8; ++bit) {
    auto changed = frame;
    changed[bit / 8] ^= std::byte{1} << (bit % 8);
    EXPECT_FALSE(accepts(changed)) << bit;
  }
}

TEST(Frame, OthersFramesAreRefused) {
  const auto frame = Writer().packet({}, "pre", "payload").finish();
  EXPECT_FALSE(accepts(frame, {kKey.low ^ 1, kKey.high}));
  EXPECT_FALSE(accepts(frame, {kKey.low, kKey.high ^ 1}));
  EXPECT_FALSE(accepts(frame, kKey, kSelf + 1)) << "meant for another process";
  Writer newer;
  newer.header.version = kFrameVersion + 1;
  EXPECT_FALSE(accepts(newer.finish())) << "rightly signed, but another version";
}

TEST(Frame, WrongLengthsAreRefused) {
  const auto frame = Writer().packet({}, "pre", "payload").finish();
  for (std::size_t bytes = 0; bytes < frame.size(); ++bytes) {
    EXPECT_FALSE(accepts({frame.begin(), frame.begin() + static_cast<std::ptrdiff_t>(bytes)})) << bytes;
  }
  auto longer = frame;
  longer.resize(frame.size() + 8);
  EXPECT_FALSE(accepts(longer));
  for (const std::uint32_t lie : {1u, 31u, 0x7fffffffu, 0xffffffe0u, 0xffffffffu}) {
    Writer writer;
    writer.packet({}, "", "payload").header.bytes = lie;
    EXPECT_FALSE(accepts(writer.finish())) << lie;
  }
}

// One packet whose header says this, with `room` bytes behind the header.
bool reads(std::uint8_t prefix, std::uint32_t payload, std::size_t room) {
  PacketHeader head{{}, payload, 0};
  head.header.prefix_bytes = prefix;
  std::vector<std::byte> bytes(sizeof head + room);
  std::memcpy(bytes.data(), &head, sizeof head);
  const std::byte* at = bytes.data();
  Packet packet;
  const bool read = read_packet(&at, bytes.data() + bytes.size(), &packet);
  EXPECT_EQ(at, bytes.data() + (read ? framed_bytes(prefix, payload) : 0));
  return read;
}

TEST(Frame, PacketsMayEndWithTheFrameAndNotBehindIt) {
  EXPECT_TRUE(reads(0, 0, 0));
  EXPECT_TRUE(reads(3, 5, 8));
  EXPECT_TRUE(reads(3, 6, 16));
  EXPECT_FALSE(reads(3, 6, 15)) << "its filling counts";
  EXPECT_FALSE(reads(3, 6, 8));
  EXPECT_FALSE(reads(0, 1, 0));
  EXPECT_FALSE(reads(0, 9, 8));
  EXPECT_TRUE(reads(kMaxPrefix, 0, kMaxPrefix));
}

TEST(Frame, LengthsThatLieAreRefused) {
  for (int prefix = kMaxPrefix + 1; prefix <= 255; ++prefix) {
    EXPECT_FALSE(reads(static_cast<std::uint8_t>(prefix), 0, 512)) << prefix;
  }
  for (const std::uint32_t payload : {513u, 0x7fffffffu, 0xffffffe0u, 0xfffffff8u, 0xffffffffu}) {
    EXPECT_FALSE(reads(0, payload, 512)) << payload;
    EXPECT_FALSE(reads(kMaxPrefix, payload, 512)) << payload;
  }
}

TEST(Frame, LessThanAPacketHeaderIsNone) {
  const std::vector<std::byte> zeros(sizeof(PacketHeader));
  for (std::size_t bytes = 0; bytes <= zeros.size(); ++bytes) {
    const std::vector<std::byte> exact(bytes);
    const std::byte* at = exact.data();
    Packet packet;
    EXPECT_EQ(read_packet(&at, exact.data() + bytes, &packet), bytes == zeros.size());
  }
}

}  // namespace
}  // namespace heddle::wire
