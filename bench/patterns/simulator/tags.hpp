// The tags of the messages to one rank, and how often two of them look alike when they are cut.
//
// Threads: none.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>

#include "simulator/queues.hpp"

namespace heddle::patterns {

class TagCounts {
 public:
  void add(const match::Key& message) {
    ++tags_[std::uint64_t{message.context} << 32 | static_cast<std::uint32_t>(message.tag)];
    ++messages_;
  }
  std::uint64_t messages() const noexcept { return messages_; }

  // Of two messages, drawn at random, the chance that one communicator's different tags are alike in their low b bits.
  std::array<double, kMostBits + 1> alike() const {
    std::array<double, kMostBits + 1> chances{};
    if (messages_ == 0) return chances;
    const double pairs = static_cast<double>(messages_) * static_cast<double>(messages_), same = pairs_alike(kMostBits);
    for (int bits = 0; bits <= kMostBits; ++bits) {
      chances[static_cast<std::size_t>(bits)] = (pairs_alike(bits) - same) / pairs;
    }
    return chances;
  }

 private:
  // Ordered pairs of messages whose communicators are the same and whose tags are alike in so many bits.
  double pairs_alike(int bits) const {
    const std::uint64_t kept = ~std::uint64_t{0} << 32 | ((std::uint64_t{1} << bits) - 1);
    std::unordered_map<std::uint64_t, double> classes;
    for (const auto& [tag, count] : tags_) classes[tag & kept] += static_cast<double>(count);
    double pairs = 0;
    for (const auto& [tag, count] : classes) pairs += count * count;
    return pairs;
  }

  std::unordered_map<std::uint64_t, std::uint64_t> tags_;  // communicator and tag
  std::uint64_t messages_ = 0;
};

}  // namespace heddle::patterns
