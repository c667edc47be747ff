#include "base/stream_copy.hpp"

#include <cstring>

#include "base/cpu.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace heddle {

void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
  std::size_t at = 0;
#if defined(__x86_64__)
  for (; at + kCacheLine <= bytes; at += kCacheLine) {
    for (std::size_t i = at; i < at + kCacheLine; i += sizeof(__m128i)) {
      const __m128i part = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i));
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + i), part);
    }
  }
  _mm_sfence();  // a release store alone does not wait for them
#endif
  std::memcpy(to + at, from + at, bytes - at);
}

}  // namespace heddle
