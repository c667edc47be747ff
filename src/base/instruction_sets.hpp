// What Highway compiled for several instruction sets: which of it this processor runs.
//
// Problem: Highway's own choice at run time needs its library; we use its headers alone.
// Method:  a file that includes itself through <hwy/foreach_target.h> includes this first. Behind `#if HWY_ONCE`, in the
//          namespace around HWY_NAMESPACE, HEDDLE_RUNNABLE(name) are the addresses of `name` of each set, the best first; null
//          where the processor lacks it. best() of them is the first.
// Cost:    of a choice some loads; choose once.
#pragma once

#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL)  // they add nothing to the next lower one that we use
#include <hwy/detect_targets.h>

#include <array>

#if HWY_ARCH_X86
#include <cpuid.h>
#endif

namespace heddle {

#if HWY_ARCH_X86
// What Highway takes for granted in code for these sets, as far as processors differ in it.
inline bool has_sse4() noexcept { return __builtin_cpu_supports("sse4.2"); }
inline bool has_avx2() noexcept {
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool has_f16c =
      __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;  // not every compiler has a name for it
  return has_f16c && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("fma");
}
inline bool has_avx3() noexcept {
  return has_avx2() && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq");
}
#endif

template <class F, std::size_t kSets>
F* best(const std::array<F*, kSets>& runnable) noexcept {
  std::size_t i = 0;
  while (runnable[i] == nullptr) ++i;
  return runnable[i];
}

}  // namespace heddle

#if HWY_TARGETS & HWY_AVX3
#define HEDDLE_RUNNABLE_AVX3(name) (::heddle::has_avx3() ? &N_AVX3::name : nullptr),
#else
#define HEDDLE_RUNNABLE_AVX3(name)
#endif
#if HWY_TARGETS & HWY_AVX2
#define HEDDLE_RUNNABLE_AVX2(name) (::heddle::has_avx2() ? &N_AVX2::name : nullptr),
#else
#define HEDDLE_RUNNABLE_AVX2(name)
#endif
#if HWY_TARGETS & HWY_SSE4
#define HEDDLE_RUNNABLE_SSE4(name) (::heddle::has_sse4() ? &N_SSE4::name : nullptr),
#else
#define HEDDLE_RUNNABLE_SSE4(name)
#endif
#define HEDDLE_RUNNABLE(name)                                                                                    \
  std::array {                                                                                                   \
    HEDDLE_RUNNABLE_AVX3(name) HEDDLE_RUNNABLE_AVX2(name) HEDDLE_RUNNABLE_SSE4(name) & HWY_STATIC_DISPATCH(name) \
  }
