#include "base/siphash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <numeric>

namespace heddle {
namespace {

// From the authors' reference implementation: key 00 01 .. 0f, message 00 01 .. of length 0 to 15.
constexpr SipKey kKey{0x0706050403020100, 0x0f0e0d0c0b0a0908};
constexpr std::array<std::uint64_t, 16> kVectors{
    0x726fdb47dd0e0e31, 0x74f839c593dc67fd, 0x0d6c8009d9a94f5a, 0x85676696d7fb7e2d,
    0xcf2794e0277187b7, 0x18765564cd99a68d, 0xcbc9466e58fee3ce, 0xab0200f58b01d137,
    0x93f5f5799a932462, 0x9e0082df0ba9e4b0, 0x7a5dbbc594ddb9f3, 0xf4b32f46226bada7,
    0x751e8fbc860ee5fb, 0x14ea5627c0843d90, 0xf723ca908e7af2ee, 0xa129ca6149be45e5};

// Straight from the paper's definition, byte by byte into a padded copy.
std::uint64_t plainly(const SipKey& key, const unsigned char* data, std::size_t bytes) {
  std::array<unsigned char, 80> padded{};
  std::copy_n(data, bytes, padded.begin());
  const std::size_t whole = bytes / 8 * 8 + 8;
  padded[whole - 1] = static_cast<unsigned char>(bytes);
  std::array<std::uint64_t, 4> v{key.low ^ 0x736f6d6570736575, key.high ^ 0x646f72616e646f6d,
                                 key.low ^ 0x6c7967656e657261, key.high ^ 0x7465646279746573};
  const auto rotate = [](std::uint64_t x, int by) { return x << by | x >> (64 - by); };
  const auto rounds = [&](int n) {
    for (int i = 0; i < n; ++i) {
      v[0] += v[1], v[2] += v[3];
      v[1] = rotate(v[1], 13) ^ v[0], v[3] = rotate(v[3], 16) ^ v[2];
      v[0] = rotate(v[0], 32);
      v[2] += v[1], v[0] += v[3];
      v[1] = rotate(v[1], 17) ^ v[2], v[3] = rotate(v[3], 21) ^ v[0];
      v[2] = rotate(v[2], 32);
    }
  };
  for (std::size_t at = 0; at < whole; at += 8) {
    std::uint64_t m = 0;
    for (std::size_t i = 8; i-- > 0;) m = m << 8 | padded[at + i];
    v[3] ^= m;
    rounds(2);
    v[0] ^= m;
  }
  v[2] ^= 0xff;
  rounds(4);
  return v[0] ^ v[1] ^ v[2] ^ v[3];
}

class SipHashTest : public testing::Test {
 protected:
  SipHashTest() { std::iota(message.begin(), message.end(), static_cast<unsigned char>(0)); }
  std::array<unsigned char, 64> message{};
};

TEST_F(SipHashTest, GivesTheReferenceVectors) {
  for (std::size_t bytes = 0; bytes < kVectors.size(); ++bytes) {
    EXPECT_EQ(SipHash(kKey)(message.data(), bytes), kVectors[bytes]) << bytes;
  }
}

TEST_F(SipHashTest, AgreesWithTheDefinitionUpToSixtyThreeBytes) {
  EXPECT_EQ(plainly(kKey, message.data(), 15), kVectors[15]) << "the oracle itself";
  for (const SipKey& key : {kKey, SipKey{}, SipKey{~0ull, 1}}) {
    for (std::size_t bytes = 0; bytes < 64; ++bytes) {
      EXPECT_EQ(SipHash(key)(message.data(), bytes), plainly(key, message.data(), bytes)) << bytes;
    }
  }
}

TEST_F(SipHashTest, DependsOnEveryBitOfTheMessageTheKeyAndTheLength) {
  const std::uint64_t right = SipHash(kKey)(message.data(), 24);
  for (std::size_t bit = 0; bit < 24 * 8; ++bit) {
    auto changed = message;
    changed[bit / 8] = static_cast<unsigned char>(changed[bit / 8] ^ (1u << (bit % 8)));
    EXPECT_NE(SipHash(kKey)(changed.data(), 24), right) << bit;
  }
  for (int bit = 0; bit < 64; ++bit) {
    EXPECT_NE(SipHash({kKey.low ^ (1ull << bit), kKey.high})(message.data(), 24), right) << bit;
    EXPECT_NE(SipHash({kKey.low, kKey.high ^ (1ull << bit)})(message.data(), 24), right) << bit;
  }
  const std::array<unsigned char, 8> zeros{};
  EXPECT_NE(SipHash(kKey)(zeros.data(), 7), SipHash(kKey)(zeros.data(), 8));
}

}  // namespace
}  // namespace heddle
