// Whether long data are cheaper copied twice, through a cell, or once, by the kernel, between the cores that this process and its peers
// run on.
//
// Problem: where cores share a fast cache two copies cost less than the kernel's one; where a line has a long way they cost twice
//          as much; and a virtual machine is moved. How long messages take does not tell: it depends on who else wants the core.
// Method:  now and then a copy of each kind is timed, into cells, out of them and by the kernel, and some messages go the way that is
//          not taken, several in a row, as the first ones pay for what the others find in the caches. Of what is timed there is a
//          mean, in which one that lost its core counts for four times the mean at most.
// Threads: any. Nothing is lost that matters when two write at once.
// Cost:    two readings of the clock, 20 ns each, of each of the kernel's copies and of every eighth cell of 8 KiB or more; docs/decisions/large-messages.md.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/clock.hpp"

namespace heddle::wire {

enum class Copy : std::uint8_t { kFill, kEmpty, kRead };  // a cell; by the kernel

struct RealClock {
  static std::int64_t now() noexcept { return now_ns(); }
};

// ns a byte; 0: not known.
struct CopyMeans {
  float fill = 0, empty = 0, read = 0;
};

template <class Clock = RealClock>
class BasicCopyCosts {
 public:
  static constexpr std::size_t kShortest = 8 << 10;
  static constexpr std::uint32_t kApart = 8;                 // cells, of which one is timed
  static constexpr std::uint32_t kTurn = 512, kOthers = 16;  // messages, of which so many go the other way

  // Does what copies so many bytes.
  template <class Copies>
  void time(Copy kind, std::size_t bytes, Copies&& copies) noexcept {
    Cost& cost = costs_[static_cast<std::size_t>(kind)];
    if (bytes < kShortest) return copies();
    const std::uint32_t left = cost.until_look.load(std::memory_order_relaxed);
    if (left != 0) {
      cost.until_look.store(left - 1, std::memory_order_relaxed);
      return copies();
    }
    const std::int64_t start = Clock::now();
    copies();
    took(cost, static_cast<float>(Clock::now() - start) / static_cast<float>(bytes));
    if (kind != Copy::kRead) cost.until_look.store(kApart - 1, std::memory_order_relaxed);
  }

  CopyMeans means() const noexcept {
    return is_free_ ? CopyMeans{1, 1, 0} : CopyMeans{of(Copy::kFill), of(Copy::kEmpty), of(Copy::kRead)};
  }
  // For tests. REQUIRES: nothing has been asked yet.
  void take_reading_to_be_free() noexcept { is_free_ = true; }
  // As far as is known: until something has been read, as if that cost nothing.
  bool reading_is_cheaper() const noexcept {
    const CopyMeans each = means();
    return each.fill != 0 && each.read < each.fill + (each.empty != 0 ? each.empty : each.fill);
  }
  // Asked once for each long message that may be read: whether it is to be.
  bool next_is_read() noexcept {
    const std::uint32_t n = messages_.load(std::memory_order_relaxed);
    messages_.store(n + 1, std::memory_order_relaxed);
    return is_free_ || reading_is_cheaper() != (n % kTurn / kOthers == 1);
  }

 private:
  struct Cost {
    std::atomic<std::uint32_t> until_look{0};
    std::atomic<float> mean{0};  // ns a byte; 0: not known yet
  };

  float of(Copy kind) const noexcept {
    return costs_[static_cast<std::size_t>(kind)].mean.load(std::memory_order_relaxed);
  }
  static void took(Cost& cost, float each) noexcept {
    const float mean = cost.mean.load(std::memory_order_relaxed);
    cost.mean.store(mean == 0 ? each : mean + (std::min(each, 4 * mean) - mean) / 8, std::memory_order_relaxed);
  }

  Cost costs_[3];
  std::atomic<std::uint32_t> messages_{0};
  bool is_free_ = false;
};

using CopyCosts = BasicCopyCosts<>;

}  // namespace heddle::wire
