#include "base/spare_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace heddle {
namespace {

TEST(SpareMemory, WhatWasGivenBackIsTakenAgain) {
  std::size_t length = 0, again = 0;
  std::byte* const first = take_spare(200'000, &length);
  ASSERT_NE(first, nullptr);
  EXPECT_GE(length, 200'000u);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 64, 0u);
  std::memset(first, 1, length);
  give_spare(first, length);
  std::byte* const second = take_spare(150'000, &again);
  EXPECT_EQ(second, first);
  EXPECT_EQ(again, length);
  give_spare(second, again);
}

TEST(SpareMemory, NotWhatIsTooShort) {
  std::size_t length = 0, more = 0;
  std::byte* const first = take_spare(kShortestSpare, &length);
  give_spare(first, length);
  std::byte* const second = take_spare(kLongestSpare, &more);
  EXPECT_GE(more, kLongestSpare);
  std::memset(second, 1, more);
  give_spare(second, more);
}

TEST(SpareMemory, NothingIsKeptOfOtherLengths) {
  for (const std::size_t bytes : {std::size_t{1}, kShortestSpare / 2, kLongestSpare + 1}) {
    std::size_t length = 0;
    std::byte* const memory = take_spare(bytes, &length);
    ASSERT_NE(memory, nullptr) << bytes;
    EXPECT_LE(length - bytes, 64u) << bytes;
    std::memset(memory, 1, length);
    give_spare(memory, length);
  }
  give_spare(nullptr, 0);
}

TEST(SpareMemory, ForManyThreadsEachItsOwn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (std::size_t i = 0; i < 2000; ++i) {
        std::size_t lengths[3];
        std::byte* taken[3];
        for (std::size_t k = 0; k < 3; ++k) {
          taken[k] = take_spare(kShortestSpare + (i * 7919 + k * 104729) % (256 << 10), &lengths[k]);
          std::memset(taken[k], t * 3 + static_cast<int>(k), 128);
        }
        for (std::size_t k = 0; k < 3; ++k) {
          for (std::size_t b = 0; b < 128; ++b)
            ASSERT_EQ(taken[k][b], static_cast<std::byte>(t * 3 + static_cast<int>(k)));
          give_spare(taken[k], lengths[k]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace heddle
