#include "match/lanes.hpp"

#include "base/instruction_sets.hpp"

// Highway compiles what is between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once for each instruction set, by including
// this file again.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "match/lanes.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace heddle::match::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Bit i: lanes[i] == value.
template <class T>
HWY_INLINE std::uint64_t equal(const T* HWY_RESTRICT lanes, T value) noexcept {
  const hn::CappedTag<T, kLanes> d;
  const auto wanted = hn::Set(d, value);
  std::uint64_t found = 0;
  for (std::size_t i = 0; i < kLanes; i += hn::Lanes(d)) {
    alignas(8) std::uint8_t bits[8] = {};
    hn::StoreMaskBits(d, hn::Eq(hn::LoadU(d, lanes + i), wanted), bits);
    std::uint64_t part;
    hwy::CopyBytes<8>(bits, &part);
    found |= part << i;
  }
  return found;
}

template <class T>
std::uint64_t pair(const T* a, T one, std::uint64_t any_a, const T* b, T other, std::uint64_t any_b) noexcept {
  return (equal(a, one) | any_a) & (equal(b, other) | any_b);
}

}  // namespace heddle::match::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heddle::match::kernels {
namespace {

template <class T>
Pair<T> best_pair() noexcept {
  return best(HEDDLE_RUNNABLE(pair<T>));
}

}  // namespace

const Pair<std::uint8_t> pair8 = best_pair<std::uint8_t>();
const Pair<std::uint16_t> pair16 = best_pair<std::uint16_t>();
const Pair<std::uint32_t> pair32 = best_pair<std::uint32_t>();

template <class T>
std::vector<Pair<T>> every_pair() {
  std::vector<Pair<T>> all;
  for (Pair<T> one : HEDDLE_RUNNABLE(pair<T>)) {
    if (one != nullptr) all.push_back(one);
  }
  return all;
}
template std::vector<Pair<std::uint8_t>> every_pair();
template std::vector<Pair<std::uint16_t>> every_pair();
template std::vector<Pair<std::uint32_t>> every_pair();

}  // namespace heddle::match::kernels
#endif  // HWY_ONCE
