// How a cell is filled: through the caches, or past them.
//
// Problem: what is best depends on where the two cores are. To fill 16 KiB that the receiver has just read takes 7 us between cores
//          that are far apart, and past the caches 0.4 to 0.7 us; but then the receiver's loads come from memory, which loses
//          where a fast cache is shared. A machine has pairs of each kind, and a virtual one is moved.
// Method:  a lane measures (faster_way.hpp). Past the caches it is from when that takes half the time, to when it takes two
//          thirds; of a short one, whose emptying counts more, a quarter and a third. Long and short fills are two cases.
// Threads: the sender's, who holds the lane's lock.
// Cost:    docs/decisions/large-messages.md has what it gains.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/clock.hpp"
#include "base/stream_copy.hpp"
#include "wire/faster_way.hpp"

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

  // REQUIRES: `to` lies on a cache line; the two do not overlap.
  void fill(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    FasterWay& past = past_[bytes >= kLong];
    if (past.is_timed()) [[unlikely]]
      return fill_and_look(past, to, from, bytes);
    copy(past.next(), to, from, bytes);
  }
  bool goes_past(std::size_t bytes) const noexcept { return past_[bytes >= kLong].is_other(); }

 private:
  static void copy(bool past, std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    past ? Copies::past(to, from, bytes) : Copies::through(to, from, bytes);
  }

  [[gnu::noinline]] static void fill_and_look(FasterWay& past, std::byte* to, const std::byte* from,
                                              std::size_t bytes) noexcept {
    const bool goes = past.next();
    const std::int64_t start = Copies::now();
    copy(goes, to, from, bytes);
    past.took(static_cast<float>(Copies::now() - start) / static_cast<float>(bytes), bytes >= kLong ? 2 : 4);
  }

  FasterWay past_[2];  // instead of through the caches
};

using CellFiller = BasicCellFiller<>;

}  // namespace heddle::wire
