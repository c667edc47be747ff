// Which of two ways to do a thing is the faster one, found out by taking both.
//
// Problem: what is best depends on where two cores are and on what the processor does with the caches of both; a virtual machine
//          is moved. No table knows that, and what is measured once is soon wrong.
// Method:  now and then two in a row go each its way and are timed. The other way is taken from where the first costs `factor` times
//          as much, to where it costs less than 3/4 of that. While the answer stays the same the next look is put off, ever longer.
// Threads: the caller's, who holds the lane's lock.
// Cost:    two readings of the clock, 20 ns each, of 16 or more; else a decrement and a branch.
#pragma once

#include <algorithm>
#include <cstdint>

namespace heddle::wire {

class FasterWay {
 public:
  static constexpr std::uint32_t kLeastApart = 16, kMostApart = 256;  // from one look to the next
  // Whether the next one is to be timed, and took() told of it.
  bool is_timed() const noexcept { return until_look_ == 0; }
  // Whether the next one goes the other way.
  bool next() noexcept {
    if (until_look_ == 0) [[unlikely]]
      return second_;
    --until_look_;
    return other_;
  }
  bool is_other() const noexcept { return other_; }

  // What one took that was timed, in ns a byte. REQUIRES: is_timed(), and it went as next() said.
  void took(float cost, float factor) noexcept {
    float& mean = cost_[second_];
    // Nothing makes one too fast; one that lost its core in the middle does not count for more than four times.
    mean = mean == 0 || cost < mean ? cost : (mean + std::min(cost, 4 * mean)) / 2;
    second_ = !second_;
    if (second_) return;
    const bool now = cost_[0] > cost_[1] * (other_ ? 0.75f * factor : factor);
    apart_ = now == other_ ? std::min(2 * apart_, kMostApart) : kLeastApart;
    other_ = now;
    until_look_ = apart_ - 2;
  }

 private:
  std::uint32_t until_look_ = 0;
  std::uint32_t apart_ = kLeastApart;
  float cost_[2] = {};
  bool other_ = false;
  bool second_ = false;  // the next one that is timed goes the other way
};

}  // namespace heddle::wire
