// Temporary memory, of which what is long is kept for the next that needs some.
//
// Problem: the C library gives long memory back to the system, and whoever takes it again pays for each of its pages anew: three quarters of the
//          time of a reduce_scatter of 4 ranks (docs/decisions/spare-memory.md).
// Method:  a few places, each empty or with memory that was given back; who needs some looks through them for enough, but not for far too much.
// Threads: any; no locks.
// Cost:    two exchanges for each place; kSparePlaces times kLongestSpare bytes at most stay with the process.
#pragma once

#include <cstddef>
#include <memory>

namespace heddle {

inline constexpr std::size_t kSparePlaces = 4, kShortestSpare = 64 << 10, kLongestSpare = (16 << 20) + 128;
// An address sanitizer is to see the end of each block.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kKeepsSpares = false;
#elif defined(__has_feature)
inline constexpr bool kKeepsSpares = !__has_feature(address_sanitizer);
#else
inline constexpr bool kKeepsSpares = true;
#endif

// Aligned to a cache line. `*length`: as long as it is, at least `bytes`. Null: no memory.
std::byte* take_spare(std::size_t bytes, std::size_t* length) noexcept;
void give_spare(std::byte* memory, std::size_t length) noexcept;

struct GiveSpare {
  std::size_t length = 0;
  void operator()(std::byte* memory) const noexcept { give_spare(memory, length); }
};
using SpareMemory = std::unique_ptr<std::byte[], GiveSpare>;
// Null: no memory.
inline SpareMemory spare_memory(std::size_t bytes) noexcept {
  std::size_t length;
  std::byte* const memory = take_spare(bytes, &length);
  return SpareMemory(memory, GiveSpare{length});
}

}  // namespace heddle
