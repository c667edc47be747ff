// What a thread that waits in vain does next: spin, yield, or sleep.
//
// Problem: spinning is fastest while every rank has a core. With more ranks than cores, or with other programs on the
//          node, a spinning thread keeps the very thread it waits for from running, for a whole time slice (about 3
//          ms).
// Method:  the domain says how long to spin, by counting ranks, threads and cores. That does not see other programs, so
//          a waiter also looks at the clock now and then: a hole between two looks means that it was taken off its
//          core. Then it gives up spinning at once and sleeps, as a sleeper that is woken is preferred to one that
//          spins; and it remembers for the next kMemory waits.
// Threads: one object for one wait, on its stack; the memory belongs to the thread.
// Cost:    one clock_gettime (20 ns) every kLookEvery spins.
#pragma once

#include <time.h>

#include <cstdint>

namespace heddle::vci {

class Patience {
 public:
  enum class Step { kSpin, kYield, kSleep };

  void restart() noexcept {
    idle_ = 0;
    last_look_ns_ = 0;
  }

  Step next(unsigned spins, unsigned yields) noexcept {
    ++idle_;
    if (pressed_waits > 0) [[unlikely]] {
      if (idle_ < kPressedSpins) return Step::kSpin;
      --pressed_waits;
      return Step::kSleep;
    }
    if (idle_ < spins) {
      if (idle_ % kLookEvery == 0) look();
      return Step::kSpin;
    }
    return idle_ < spins + yields ? Step::kYield : Step::kSleep;
  }

 private:
  static constexpr unsigned kLookEvery = 64;
  static constexpr unsigned kPressedSpins = 16;
  static constexpr int kMemory = 64;
  static constexpr std::int64_t kHoleNs = 200'000;  // 64 polls take 2 to 10 us; an interrupt a few more

  void look() noexcept {
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const std::int64_t now = t.tv_sec * 1'000'000'000 + t.tv_nsec;
    if (last_look_ns_ != 0 && now - last_look_ns_ > kHoleNs) pressed_waits = kMemory;
    last_look_ns_ = now;
  }

  inline static thread_local int pressed_waits = 0;

  unsigned idle_ = 0;
  std::int64_t last_look_ns_ = 0;
};

}  // namespace heddle::vci
