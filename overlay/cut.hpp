// The internal messages of a partitioned operation: both sides compute the same ones from what they know of each other.
//
// Threads: pure.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "part/mapping.hpp"

namespace heddle::overlay {

struct Piece {
  std::uint64_t at, bytes;
};

inline constexpr std::uint64_t kMostPiece = 1 << 30;  // bytes of one call of the host, whose counts are ints

// How the sender has cut its message, how many partitions the receiver has, and how large a group may be.
struct Shape {
  std::uint32_t partitions;
  std::uint32_t receivers;
  std::uint64_t each;  // bytes of a partition of the sender
  std::uint64_t aggregate;

  part::Grouping groups() const noexcept { return {partitions, receivers, each, aggregate}; }
  // What one completion flag stands for: a partition of the receiver where the sender's fit into it, else one of the sender's. So
  // their number is the greatest common divisor of both where that is one of them; where it is not, it would show arrivals
  // late.
  part::Grouping flags() const noexcept { return {partitions, receivers, each, UINT64_MAX}; }
  Piece range(const part::Grouping& grouping, std::uint32_t group) const noexcept {
    if (partitions == 0) return {0, 0};
    return {grouping.first(group) * each, grouping.count(group) * each};
  }
};

// A message of no partitions is one group, too.
inline std::uint32_t count_groups(const part::Grouping& grouping) noexcept { return std::max(grouping.groups(), 1u); }

// So many messages at most, whatever the receiver is.
inline std::uint64_t most_pieces(std::uint64_t partitions, std::uint64_t total) noexcept {
  return std::max<std::uint64_t>(partitions, 1) + total / kMostPiece;
}

inline void append_pieces(Piece range, std::vector<Piece>& pieces) {
  do {
    const std::uint64_t n = std::min(range.bytes, kMostPiece);
    pieces.push_back({range.at, n});
    range.at += n;
    range.bytes -= n;
  } while (range.bytes != 0);
}

}  // namespace heddle::overlay
