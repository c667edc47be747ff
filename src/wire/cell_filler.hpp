// How a cell is filled: through the caches, or past them.
//
// Problem: what is best depends on where the two cores are. To fill 16 KiB that the receiver has just read takes 7 us between cores
//          that are far apart, and past the caches 0.4 to 0.7 us; but then the receiver's loads come from memory, which loses
//          where a fast cache is shared. A machine has pairs of each kind, and a virtual one is moved.
// Method:  a lane measures. Now and then two fills in a row go each its way and are timed; past the caches it is from when that
//          takes half the time, to when it takes two thirds; of a short one, whose emptying counts more, a quarter and a third. While the answer stays the same the next look is put off, up to kMostApart
//          fills. Long and short fills are two cases.
// Threads: the sender's, who holds the lane's lock.
// Cost:    two timed fills of 16 to 256, 20 ns for a reading of the clock. docs/decisions/large-messages.md has what it gains.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/clock.hpp"
#include "base/stream_copy.hpp"

namespace heddle::wire {

// The two copies and the clock; a test has others.
struct RealCopies {
  static void through(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    std::memcpy(to, from, bytes);
  }
  static void past(std::byte* to, const std::byte* from, std::size_t bytes) noexcept { stream_copy(to, from, bytes); }
  static std::int64_t now() noexcept { return now_ns(); }
};

template <class Copies = RealCopies>
class BasicCellFiller {
 public:
  static constexpr std::size_t kLong = 8 << 10;
  static constexpr std::uint32_t kLeastApart = 16, kMostApart = 256;
  static constexpr std::uint32_t kAnotherWay = 64;  // messages, of which one is filled into cells

  // REQUIRES: `to` lies on a cache line; the two do not overlap.
  void fill(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    Case& c = cases_[bytes >= kLong];
    if (c.until_look == 0) [[unlikely]]
      return look(c, to, from, bytes);
    --c.until_look;
    copy(c.past, to, from, bytes);
  }
  bool goes_past(std::size_t bytes) const noexcept { return cases_[bytes >= kLong].past; }
  // For a long message that goes another way where its fills would go past the caches: whether it does. Now and then it does not, so
  // that there are fills to look at.
  bool next_goes_another_way() noexcept { return cases_[true].past && ++other_ways_ % kAnotherWay != 0; }

 private:
  struct Case {
    std::uint32_t until_look = 0;
    std::uint32_t apart = kLeastApart;
    float cost[2] = {};  // ns a byte: through, past
    bool past = false;
    bool second = false;  // the next fill that is timed goes past the caches
  };

  static void copy(bool past, std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    past ? Copies::past(to, from, bytes) : Copies::through(to, from, bytes);
  }

  [[gnu::noinline]] static void look(Case& c, std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    const std::int64_t start = Copies::now();
    copy(c.second, to, from, bytes);
    const float cost = static_cast<float>(Copies::now() - start) / static_cast<float>(bytes);
    float& mean = c.cost[c.second];
    // Nothing makes a fill too fast; one that lost its core in the middle does not count for more than four times.
    mean = mean == 0 || cost < mean ? cost : (mean + std::min(cost, 4 * mean)) / 2;
    c.second = !c.second;
    if (c.second) return;
    const float factor = bytes >= kLong ? 2 : 4;
    const bool past = c.cost[0] > c.cost[1] * (c.past ? 0.75f * factor : factor);
    c.apart = past == c.past ? std::min(2 * c.apart, kMostApart) : kLeastApart;
    c.past = past;
    c.until_look = c.apart - 2;
  }

  Case cases_[2];
  std::uint32_t other_ways_ = 0;
};

using CellFiller = BasicCellFiller<>;

}  // namespace heddle::wire
