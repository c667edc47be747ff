#include "base/spare_memory.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <thread>
#include <vector>

namespace heddle {
namespace {

// Empties the places: each takes something, and gives back what is not kept.
void empty_all() {
  for (std::size_t bytes = kShortestSpare; bytes <= kLongestSpare; bytes *= 2) {
    for (std::size_t i = 0; i < kSparePlaces; ++i) {
      std::size_t length = 0;
      std::free(take_spare(bytes, &length));
    }
  }
}

TEST(SpareMemory, WhatWasGivenBackIsTakenAgain) {
  if (!kKeepsSpares) GTEST_SKIP() << "the address sanitizer is to see the end of each block";
  empty_all();
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

TEST(SpareMemory, NotWhatIsTooShortOrFarTooLong) {
  if (!kKeepsSpares) GTEST_SKIP() << "the address sanitizer is to see the end of each block";
  empty_all();
  std::size_t length = 0, more = 0, less = 0;
  std::byte* const middle = take_spare(1 << 20, &length);
  give_spare(middle, length);
  std::byte* const longer = take_spare(2 << 20, &more);
  EXPECT_NE(longer, middle);
  EXPECT_GE(more, std::size_t{2} << 20);
  std::byte* const shorter = take_spare(100'000, &less);
  EXPECT_NE(shorter, middle);
  EXPECT_LT(less, std::size_t{1} << 20);
  EXPECT_EQ(take_spare(1 << 20, &length), middle);  // it is still there
  give_spare(longer, more);
  give_spare(shorter, less);
  give_spare(middle, length);
}

TEST(SpareMemory, TheLongestIsKept) {
  if (!kKeepsSpares) GTEST_SKIP() << "the address sanitizer is to see the end of each block";
  empty_all();
  std::size_t length = 0, again = 0;
  std::byte* const first = take_spare((16 << 20) + 64, &length);
  give_spare(first, length);
  std::byte* const second = take_spare((16 << 20) + 64, &again);
  EXPECT_EQ(second, first);
  give_spare(second, again);
}

// Of more than there are places the last ones are kept, whichever place they get.
TEST(SpareMemory, NothingStaysForEver) {
  if (!kKeepsSpares) GTEST_SKIP() << "the address sanitizer is to see the end of each block";
  empty_all();
  std::vector<std::byte*> memory;
  std::size_t length = 0;
  for (std::size_t i = 0; i < 2 * kSparePlaces; ++i) memory.push_back(take_spare(1 << 20, &length));
  for (std::byte* one : memory) give_spare(one, length);
  std::set<std::byte*> kept;
  for (std::size_t i = 0; i < kSparePlaces; ++i) kept.insert(take_spare(1 << 20, &length));
  EXPECT_EQ(kept, std::set<std::byte*>(memory.begin() + kSparePlaces, memory.end()));
  for (std::byte* one : kept) give_spare(one, length);
}

TEST(SpareMemory, NothingIsKeptOfOtherLengths) {
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{1}, kShortestSpare / 2, kLongestSpare + 1}) {
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
