#include "base/spare_memory.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "base/cpu.hpp"

namespace heddle {
namespace {

// What is kept begins with its length. So much longer than what is needed it may be.
constinit std::atomic<std::byte*> places[kSparePlaces];
constinit std::atomic<unsigned> turn;
constexpr std::size_t kMostTimes = 4;

std::size_t length_of(const std::byte* kept) noexcept {
  std::size_t length;
  std::memcpy(&length, kept, sizeof length);
  return length;
}

// Null: it lies in the place now.
std::byte* put(std::atomic<std::byte*>& place, std::byte* memory) noexcept {
  std::byte* empty = nullptr;
  return place.compare_exchange_strong(empty, memory, std::memory_order_release) ? nullptr : memory;
}

}  // namespace

std::byte* take_spare(std::size_t bytes, std::size_t* length) noexcept {
  const bool may_be_kept = kKeepsSpares && bytes >= kShortestSpare && bytes <= kLongestSpare;
  for (std::size_t i = 0; may_be_kept && i < kSparePlaces; ++i) {
    if (places[i].load(std::memory_order_relaxed) == nullptr) continue;
    std::byte* const kept = places[i].exchange(nullptr, std::memory_order_acquire);
    if (kept == nullptr) continue;
    *length = length_of(kept);
    if (*length >= bytes && *length <= kMostTimes * bytes) return kept;
    std::free(put(places[i], kept));
  }
  *length = std::max<std::size_t>((bytes + kCacheLine - 1) / kCacheLine, 1) * kCacheLine;
  return static_cast<std::byte*>(std::aligned_alloc(kCacheLine, *length));
}

void give_spare(std::byte* memory, std::size_t length) noexcept {
  if (!kKeepsSpares || memory == nullptr || length < kShortestSpare || length > kLongestSpare) return std::free(memory);
  std::memcpy(memory, &length, sizeof length);
  for (std::atomic<std::byte*>& place : places) {
    if (place.load(std::memory_order_relaxed) == nullptr && put(place, memory) == nullptr) return;
  }
  // In turns, so that nothing that nobody wants stays for ever.
  std::free(
      places[turn.fetch_add(1, std::memory_order_relaxed) % kSparePlaces].exchange(memory, std::memory_order_acq_rel));
}

}  // namespace heddle
