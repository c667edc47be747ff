// Facts of the processor.
#pragma once

#include <cstddef>

#include "base/ablation.hpp"

namespace heddle {

inline constexpr std::size_t kCacheLine = 64;
// The alignment of what different threads write.
inline constexpr std::size_t kApart = kWithout == Without::kAlignment ? alignof(void*) : kCacheLine;

// Lets another runnable thread have this core.
void yield_core() noexcept;

// A hint to the core that this is a spin loop.
inline void cpu_relax() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("isb" ::: "memory");
#endif
}

// The same for a loop that mostly ends within a microsecond: x86's `pause` takes 23 ns on a Zen 5, and so late it sees
// what it waits for. But no look may begin before the last one has ended, or the core takes back what it did ahead when
// the line changes.
inline void cpu_relax_briefly() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_lfence();
#else
  cpu_relax();
#endif
}

}  // namespace heddle
