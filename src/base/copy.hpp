// A copy of a few bytes without a call.
#pragma once

#include <cstddef>
#include <cstring>

namespace heddle {

inline constexpr std::size_t kShortCopy = 48;

// REQUIRES: n <= kShortCopy; the two do not overlap.
inline void copy_short(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  if (n >= 16) {  // two or three pieces of 16, the last one ending at the end
    std::memcpy(to, from, 16);
    if (n > 32) std::memcpy(to + 16, from + 16, 16);
    std::memcpy(to + n - 16, from + n - 16, 16);
  } else if (n >= 8) {
    std::memcpy(to, from, 8);
    std::memcpy(to + n - 8, from + n - 8, 8);
  } else if (n >= 4) {
    std::memcpy(to, from, 4);
    std::memcpy(to + n - 4, from + n - 4, 4);
  } else if (n > 0) {
    to[0] = from[0];
    to[n / 2] = from[n / 2];
    to[n - 1] = from[n - 1];
  }
}

inline void copy_bytes(std::byte* to, const std::byte* from, std::size_t n) noexcept {
  n <= kShortCopy ? copy_short(to, from, n) : static_cast<void>(std::memcpy(to, from, n));
}

}  // namespace heddle
