// SipHash-2-4 (Aumasson and Bernstein, 2012): a keyed hash of few bytes, which nobody computes without the key.
//
// When to use: to tell one's own short messages from a stranger's. Not for files, nor to hide anything.
// Threads: any. Cost: 20 ns for 24 bytes; half a nanosecond for each byte of many.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace heddle {

struct SipKey {
  std::uint64_t low = 0, high = 0;
};

class SipHash {
 public:
  explicit SipHash(const SipKey& key) noexcept
      : v0_(key.low ^ 0x736f6d6570736575),
        v1_(key.high ^ 0x646f72616e646f6d),
        v2_(key.low ^ 0x6c7967656e657261),
        v3_(key.high ^ 0x7465646279746573) {}

  std::uint64_t operator()(const void* data, std::size_t bytes) noexcept {
    const auto* at = static_cast<const unsigned char*>(data);
    for (std::size_t left = bytes; left >= 8; left -= 8, at += 8) take(word(at, 8));
    take(word(at, bytes % 8) | static_cast<std::uint64_t>(bytes) << 56);
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  static std::uint64_t word(const unsigned char* at, std::size_t bytes) noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value |= static_cast<std::uint64_t>(at[i]) << (8 * i);
    return value;
  }
  void take(std::uint64_t m) noexcept {
    v3_ ^= m;
    round();
    round();
    v0_ ^= m;
  }
  void round() noexcept {
    v0_ += v1_;
    v1_ = std::rotl(v1_, 13) ^ v0_;
    v0_ = std::rotl(v0_, 32);
    v2_ += v3_;
    v3_ = std::rotl(v3_, 16) ^ v2_;
    v0_ += v3_;
    v3_ = std::rotl(v3_, 21) ^ v0_;
    v2_ += v1_;
    v1_ = std::rotl(v1_, 17) ^ v2_;
    v2_ = std::rotl(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
};

}  // namespace heddle
