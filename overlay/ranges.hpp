// Runs of numbers that are lent and given back: tags of a destination, flags of a window.
//
// Threads: whoever owns it locks.
// Cost:    take: the free runs one after the other, the first that is long enough.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace heddle::overlay {

class Ranges {
 public:
  Ranges(std::uint64_t begin, std::uint64_t end) { free_[begin] = end - begin; }

  std::optional<std::uint64_t> take(std::uint64_t n) {
    for (auto run = free_.begin(); run != free_.end(); ++run) {
      if (run->second < n) continue;
      const std::uint64_t at = run->first, rest = run->second - n;
      free_.erase(run);
      if (rest != 0) free_[at + n] = rest;
      return at;
    }
    return std::nullopt;
  }

  void give(std::uint64_t at, std::uint64_t n) {
    if (n == 0) return;
    auto next = free_.lower_bound(at);
    if (next != free_.end() && at + n == next->first) {
      n += next->second;
      next = free_.erase(next);
    }
    if (next != free_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == at) {
        before->second += n;
        return;
      }
    }
    free_[at] = n;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> free_;  // begin → how many; neighbours are one
};

}  // namespace heddle::overlay
