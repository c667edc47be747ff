// Rows of bytes in a target's memory: what most of a datatype with gaps consists of.
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::rma {

// That one call of the kernel moves; of one that it refuses none.
inline constexpr std::size_t kMostRows = 512;

// All as long, and as far from each other.
struct Rows {
  // Of the first, in bytes from the beginning of the target's memory; an address, in a dynamic window.
  std::uint64_t at = 0;
  std::size_t bytes = 0;  // of each
  std::size_t count = 1;
  std::int64_t stride = 0;  // bytes

  std::uint64_t at_of(std::size_t i) const noexcept { return at + i * static_cast<std::uint64_t>(stride); }
  std::size_t all_bytes() const noexcept { return count * bytes; }
  Rows part(std::size_t first, std::size_t n) const noexcept { return {at_of(first), bytes, n, stride}; }
};

}  // namespace heddle::rma
