// Where an execution could go on in several ways: which way it goes, and which executions are left to try.
//
// Method: depth first, by replay. The choices of an execution are a list of digits; the next execution repeats the list
//         with the last digit that has a successor advanced. Or seeded random, for programs too large to exhaust.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace heddle::model {

class Choices {
 public:
  // Without a seed: all of them, in order.
  Choices() = default;
  explicit Choices(std::uint64_t seed) : random_(true), engine_(seed) {}

  bool random() const { return random_; }

  // One of 0 .. n-1; 0 is what an undisturbed machine would do.
  std::size_t choose(std::size_t n) {
    if (n == 1) return 0;
    if (random_) return engine_() % 10 < 6 ? 0 : engine_() % n;
    if (at_ == digits_.size()) digits_.push_back({0, n});
    return digits_[at_++].value;
  }

  // To the next execution; false when every one was run.
  bool advance() {
    at_ = 0;
    if (random_) return true;
    while (!digits_.empty() && ++digits_.back().value == digits_.back().options) digits_.pop_back();
    return !digits_.empty();
  }

 private:
  struct Digit {
    std::size_t value;
    std::size_t options;
  };

  bool random_ = false;
  std::mt19937_64 engine_;
  std::vector<Digit> digits_;
  std::size_t at_ = 0;
};

}  // namespace heddle::model
