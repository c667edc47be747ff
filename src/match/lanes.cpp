#include "match/lanes.hpp"

// Highway compiles what is between HWY_BEFORE_NAMESPACE and HWY_AFTER_NAMESPACE once for each instruction set, by including
// this file again. Its own run-time choice needs its library; the few lines of ours below need none.
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
Pair<T> best() noexcept {
#if HWY_ARCH_X86
  const bool avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
#if HWY_TARGETS & HWY_AVX3
  if (avx2 && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq")) {
    return N_AVX3::pair<T>;
  }
#endif
#if HWY_TARGETS & HWY_AVX2
  if (avx2) return N_AVX2::pair<T>;
#endif
#if HWY_TARGETS & HWY_SSE4
  if (__builtin_cpu_supports("sse4.2")) return N_SSE4::pair<T>;
#endif
#endif
  return HWY_STATIC_DISPATCH(pair<T>);
}

}  // namespace

const Pair<std::uint8_t> pair8 = best<std::uint8_t>();
const Pair<std::uint16_t> pair16 = best<std::uint16_t>();
const Pair<std::uint32_t> pair32 = best<std::uint32_t>();

}  // namespace heddle::match::kernels
#endif  // HWY_ONCE
