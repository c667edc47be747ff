// Whether long data are cheaper copied twice, through a cell, or once, by the kernel, between the cores that this process and its peers
// run on.
//
// Problem: where cores share a fast cache two copies cost less than the kernel's one; where a line has a long way they cost twice
//          as much; and a virtual machine is moved. How long messages take does not tell: it depends on who else wants the core.
// Method:  now and then a copy of each kind is timed, into cells, out of them and by the kernel, and some messages go the way that is
//          not taken, several in a row, as the first ones pay for what the others find in the caches. Of what is timed there is a
//          mean, in which one that lost its core counts for four times the mean at most.
// Threads: any. Nothing is lost that matters when two write at once.
// Cost:    two readings of the clock, 20 ns each, of each read by the kernel and of every eighth fill and emptying, of 8 KiB or more;
//          docs/decisions/large-messages.md.
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

  // To read counts as nothing until something has been read, of the others one that is not known as much as the other. `overlap`: one
  // side fills while the other empties.
  bool reading_is_cheaper(bool overlap) const noexcept {
    const float first = fill != 0 ? fill : empty, second = empty != 0 ? empty : fill;
    return first != 0 && read < (overlap ? std::max(first, second) : first + second);
  }
};

// Of what only one of two processes knows, that.
inline CopyMeans mean_of(CopyMeans a, CopyMeans b) noexcept {
  const auto mean = [](float x, float y) { return x == 0 ? y : y == 0 ? x : (x + y) / 2; };
  return {mean(a.fill, b.fill), mean(a.empty, b.empty), mean(a.read, b.read)};
}

// Whether the n-th goes the way that is not taken: of each `many` the second `few`, as before the first ones nothing is known.
constexpr bool goes_other_way(std::uint64_t n, unsigned few, unsigned many) noexcept { return n % many / few == 1; }

template <class Clock = RealClock>
class BasicCopyCosts {
 public:
  static constexpr std::size_t kShortest = 8 << 10;
  static constexpr std::uint32_t kCellsPerLook = 8;
  // So many of so many go the other way: over time to each of those that are sent to in turn.
  static constexpr std::uint32_t kInARow = 16, kMessages = 509;

  // Calls copies(), which copies so many bytes and returns how many it has: only a whole one counts.
  template <class Copies>
  std::size_t time(Copy kind, std::size_t bytes, Copies&& copies) noexcept {
    Cost& cost = costs_[static_cast<std::size_t>(kind)];
    if (bytes < kShortest) return copies();
    const std::uint32_t left = cost.until_look.load(std::memory_order_relaxed);
    if (left != 0) {
      cost.until_look.store(left - 1, std::memory_order_relaxed);
      return copies();
    }
    const std::int64_t start = Clock::now();
    const std::size_t copied = copies();
    if (copied < bytes) return copied;
    took(kind, static_cast<float>(Clock::now() - start) / static_cast<float>(bytes));
    if (kind != Copy::kRead) cost.until_look.store(kCellsPerLook - 1, std::memory_order_relaxed);
    return copied;
  }

  // One took so many ns a byte.
  void took(Copy kind, float each) noexcept {
    std::atomic<float>& of_kind = costs_[static_cast<std::size_t>(kind)].mean;
    const float mean = of_kind.load(std::memory_order_relaxed);
    of_kind.store(mean == 0 ? each : mean + (std::min(each, 4 * mean) - mean) / 8, std::memory_order_relaxed);
  }

  CopyMeans means() const noexcept {
    return is_free_ ? CopyMeans{1, 1, 0} : CopyMeans{of(Copy::kFill), of(Copy::kEmpty), of(Copy::kRead)};
  }
  // For tests. REQUIRES: before other threads use it.
  void take_reading_to_be_free() noexcept { is_free_ = true; }
  // Asked once for each long message that may be read, which is better read, or not: whether it is to be.
  bool next_is_read(bool better) noexcept {
    const std::uint32_t n = messages_.load(std::memory_order_relaxed);
    messages_.store(n + 1, std::memory_order_relaxed);
    return is_free_ || better != goes_other_way(n, kInARow, kMessages);
  }

 private:
  struct Cost {
    std::atomic<std::uint32_t> until_look{0};
    std::atomic<float> mean{0};  // ns a byte; 0: not known yet
  };

  float of(Copy kind) const noexcept {
    return costs_[static_cast<std::size_t>(kind)].mean.load(std::memory_order_relaxed);
  }

  Cost costs_[3];
  std::atomic<std::uint32_t> messages_{0};
  bool is_free_ = false;
};

using CopyCosts = BasicCopyCosts<>;

}  // namespace heddle::wire
