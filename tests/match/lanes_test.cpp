// The kernels of every instruction set that this processor has, against a plain loop.
#include "match/lanes.hpp"

#include <gtest/gtest.h>

#include <random>

namespace heddle::match::kernels {
namespace {

template <class T>
std::uint64_t pair_one_by_one(const T* a, T one, std::uint64_t any_a, const T* b, T other, std::uint64_t any_b) {
  std::uint64_t found = 0;
  for (unsigned i = 0; i < kLanes; ++i) {
    const bool first = a[i] == one || (any_a & bit(i)) != 0, second = b[i] == other || (any_b & bit(i)) != 0;
    if (first && second) found |= bit(i);
  }
  return found;
}

template <class T>
class Kernels : public testing::Test {};
using Fields = testing::Types<std::uint8_t, std::uint16_t, std::uint32_t>;
TYPED_TEST_SUITE(Kernels, Fields);

TYPED_TEST(Kernels, EachInstructionSetFindsTheSame) {
  const auto kernels = every_pair<TypeParam>();
  ASSERT_FALSE(kernels.empty());
  std::cout << kernels.size() << " instruction sets\n";
  std::mt19937_64 random(1);
  for (int round = 0; round < 1000; ++round) {
    // Few values, so that many are equal; far apart, so that each byte of them counts.
    const auto value = [&] { return static_cast<TypeParam>((random() % 3) << (random() % (8 * sizeof(TypeParam)))); };
    TypeParam a[kLanes], b[kLanes];
    for (unsigned i = 0; i < kLanes; ++i) a[i] = value(), b[i] = value();
    const TypeParam one = value(), other = value();
    const std::uint64_t any_a = random() & random(), any_b = round % 2 == 0 ? 0 : random() & random();
    const std::uint64_t want = pair_one_by_one(a, one, any_a, b, other, any_b);
    for (std::size_t k = 0; k < kernels.size(); ++k) {
      ASSERT_EQ(kernels[k](a, one, any_a, b, other, any_b), want) << "kernel " << k << ", round " << round;
    }
  }
}

// Each lane by itself is its bit.
TYPED_TEST(Kernels, ALaneIsItsBit) {
  for (const auto kernel : every_pair<TypeParam>()) {
    for (unsigned i = 0; i < kLanes; ++i) {
      TypeParam a[kLanes] = {};
      a[i] = 7;
      EXPECT_EQ(kernel(a, 7, 0, a, 7, 0), bit(i));
    }
  }
}

}  // namespace
}  // namespace heddle::match::kernels
