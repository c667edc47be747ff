// Problem: every operation on every type that the standard allows, at memory speed, from one source.
// Method:  one template of a loop, in blocks of a fixed length so that the compiler's vectoriser needs no remainder
//          inside; a table of its instances. Highway includes this file once for each instruction set (base/instruction_sets.hpp), and the
//          table of the best that the processor has is taken. Products and sums are not fused (cmake: -ffp-contract=off):
//          results do not depend on the processor. Buffers may be less aligned than their type.
#include "mpi/op_kernels.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "base/instruction_sets.hpp"
#include "mpi/op_apply.hpp"
#include "mpi/op_scalar.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mpi/op_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace heddle::mpi::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr std::size_t kBlock = 64;  // items

// Of the basic types by what is one load (memcpy of a long double is several).
template <class T>
struct Unaligned {
  using Type [[gnu::aligned(1), gnu::may_alias]] = T;
};
template <class T>
HWY_INLINE T load(const std::byte* from) noexcept {
  if constexpr (!std::is_class_v<T>) return *reinterpret_cast<const typename Unaligned<T>::Type*>(from);
  T value;
  std::memcpy(static_cast<void*>(&value), from, sizeof value);
  return value;
}
template <class T>
HWY_INLINE void store(std::byte* to, T value) noexcept {
  if constexpr (!std::is_class_v<T>) {
    *reinterpret_cast<typename Unaligned<T>::Type*>(to) = value;
  } else {
    std::memcpy(to, &value, sizeof value);
  }
}
// A pair's buffer may end before the padding of the last one.
template <class T>
requires requires(T pair) { pair.index; }
HWY_INLINE T load(const std::byte* from) noexcept {
  T pair;
  std::memcpy(&pair.value, from, sizeof pair.value);
  std::memcpy(&pair.index, from + offsetof(T, index), sizeof pair.index);
  return pair;
}
template <class T>
requires requires(T pair) { pair.index; }
HWY_INLINE void store(std::byte* to, T pair) noexcept {
  std::memcpy(to, &pair.value, sizeof pair.value);
  std::memcpy(to + offsetof(T, index), &pair.index, sizeof pair.index);
}

// `out` may be one of the operands, but may not overlap with them otherwise.
#ifdef __clang__
#define HEDDLE_VECTORISE _Pragma("clang loop vectorize(assume_safety)")
#else
#define HEDDLE_VECTORISE _Pragma("GCC ivdep")
#endif
template <class T>
HWY_INLINE void copy_item(const std::byte* from, std::byte* to) noexcept {
  if constexpr (requires(T pair) { pair.index; }) {
    std::memcpy(to, from, sizeof(T::value));
    std::memcpy(to + offsetof(T, index), from + offsetof(T, index), sizeof(T::index));
  } else {
    std::memcpy(to, from, sizeof(T));
  }
}
// Whether vectors hold items of the type, or members of one size of several.
template <class T>
constexpr bool kFitsLanes = std::is_arithmetic_v<T> && sizeof(T) <= 8;
template <class T>
requires requires(T pair) { pair.index; }
constexpr bool kFitsLanes<T> = sizeof(T::value) == sizeof(T::index) && sizeof(T::value) <= 8;

template <class T, class Operation>
HWY_INLINE void items(const std::byte* a, const std::byte* b, std::byte* out, std::size_t count) noexcept {
  HEDDLE_VECTORISE
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t at = i * sizeof(T);
    if constexpr (!kFitsLanes<T> && requires(T x) { Operation::takes_left(x, x); }) {
      const bool left = Operation::takes_left(load<T>(a + at), load<T>(b + at));
      copy_item<T>(left ? a + at : b + at, out + at);
    } else {
      store<T>(out + at, Operation::apply(load<T>(a + at), load<T>(b + at)));
    }
  }
}

template <class T, class Operation>
HWY_INLINE void whole_block(const std::byte* a, const std::byte* b, std::byte* out) noexcept {
  items<T, Operation>(a, b, out, kBlock);
}
// Of complex numbers, whose parts lie in turns.
template <class T, class Operation>
requires std::is_same_v<T, Complex<float>> || std::is_same_v<T, Complex<double>> HWY_INLINE void whole_block(
    const std::byte* a, const std::byte* b, std::byte* out) noexcept {
  using Part = decltype(T::re);
  const hn::ScalableTag<Part> d;
  for (std::size_t i = 0; i < 2 * kBlock; i += 2 * hn::Lanes(d)) {
    auto a_re = hn::Zero(d), a_im = a_re, b_re = a_re, b_im = a_re;
    hn::LoadInterleaved2(d, reinterpret_cast<const Part*>(a) + i, a_re, a_im);
    hn::LoadInterleaved2(d, reinterpret_cast<const Part*>(b) + i, b_re, b_im);
    const auto re = hn::Sub(hn::Mul(a_re, b_re), hn::Mul(a_im, b_im));
    const auto im = hn::Add(hn::Mul(a_re, b_im), hn::Mul(a_im, b_re));
    hn::StoreInterleaved2(re, im, d, reinterpret_cast<Part*>(out) + i);
  }
}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
// The processor converts binary16.
template <class T, class Operation>
requires std::is_same_v<T, Half> HWY_INLINE void whole_block(const std::byte* a, const std::byte* b,
                                                             std::byte* out) noexcept {
  const hn::ScalableTag<float> wide;
  const hn::Rebind<hwy::float16_t, decltype(wide)> narrow;
  alignas(64) float x[kBlock], y[kBlock];
  const auto* left = reinterpret_cast<const hwy::float16_t*>(a);
  const auto* right = reinterpret_cast<const hwy::float16_t*>(b);
  for (std::size_t i = 0; i < kBlock; i += hn::Lanes(wide)) {
    hn::Store(hn::PromoteTo(wide, hn::LoadU(narrow, left + i)), wide, x + i);
    hn::Store(hn::PromoteTo(wide, hn::LoadU(narrow, right + i)), wide, y + i);
  }
  items<float, Operation>(reinterpret_cast<std::byte*>(x), reinterpret_cast<std::byte*>(y),
                          reinterpret_cast<std::byte*>(x), kBlock);
  for (std::size_t i = 0; i < kBlock; i += hn::Lanes(wide)) {
    hn::StoreU(hn::DemoteTo(narrow, hn::Load(wide, x + i)), narrow, reinterpret_cast<hwy::float16_t*>(out) + i);
  }
}
// Pairs of a value of 8 bytes, an index of 4 and padding of 4, which is never written; nor read of the last one. (Masked loads of all of them
// take three times as long, of data that lie in memory.)
template <class T, class Operation>
requires(sizeof(T) == 16 && sizeof(T::value) == 8 && sizeof(T::index) == 4) HWY_INLINE
    void whole_block(const std::byte* a, const std::byte* b, std::byte* out) noexcept {
  const hn::ScalableTag<decltype(T::value)> values;
  const hn::Repartition<std::int64_t, decltype(values)> halves;
  const hn::Repartition<std::int32_t, decltype(values)> quarters;
  const auto three = hn::Set(quarters, 3);
  const auto no_padding = hn::Ne(hn::And(hn::Iota(quarters, 0), three), three);
  const std::size_t lanes = hn::Lanes(quarters), all = kBlock * sizeof(T) / sizeof(std::int32_t);
  const auto load = [&](const std::byte* from, std::size_t i) {
    const auto* const at = reinterpret_cast<const std::int32_t*>(from) + i;
    return i + lanes < all ? hn::LoadU(quarters, at) : hn::MaskedLoad(no_padding, quarters, at);
  };
  const auto in_halves = [&](auto mask) { return hn::BitCast(halves, hn::VecFromMask(values, mask)); };
  const auto index = [&](auto pairs) { return hn::ShiftLeft<32>(hn::BitCast(halves, pairs)); };
  for (std::size_t i = 0; i < all; i += lanes) {
    const auto left = load(a, i), right = load(b, i);
    const auto x = hn::BitCast(values, left), y = hn::BitCast(values, right);
    const auto is_first = in_halves(Operation::kSmaller ? hn::Lt(x, y) : hn::Lt(y, x));
    const auto is_equal = in_halves(hn::Eq(x, y));
    const auto has_smaller_index = hn::VecFromMask(halves, hn::Lt(index(left), index(right)));
    const auto takes_left =
        hn::Or(hn::DupEven(is_first), hn::And(hn::DupEven(is_equal), hn::DupOdd(has_smaller_index)));
    const auto taken = hn::IfVecThenElse(hn::BitCast(quarters, takes_left), left, right);
    hn::BlendedStore(taken, no_padding, quarters, reinterpret_cast<std::int32_t*>(out) + i);
  }
}
#endif

template <class T, class Operation>
void loop(const void* left, const void* right, void* out, MPI_Count count) {
  const auto* a = static_cast<const std::byte*>(left);
  const auto* b = static_cast<const std::byte*>(right);
  auto* to = static_cast<std::byte*>(out);
  auto rest = static_cast<std::size_t>(count);
  constexpr std::size_t kBytes = kBlock * sizeof(T);
  for (; rest >= kBlock; rest -= kBlock, a += kBytes, b += kBytes, to += kBytes) whole_block<T, Operation>(a, b, to);
  items<T, Operation>(a, b, to, rest);
}

// Real and imaginary parts are added up alike.
template <class T>
void complex_sum(const void* left, const void* right, void* out, MPI_Count count) {
  loop<T, apply::Sum>(left, right, out, 2 * count);
}

using Table = std::array<std::array<Kernel, kBasicCount>, static_cast<std::size_t>(OpId::kCount)>;

constexpr Kernel& at(Table& table, OpId op, Basic basic) {
  return table[static_cast<std::size_t>(op)][static_cast<std::size_t>(basic)];
}

template <class T>
constexpr void arithmetic(Table& t, Basic basic) {
  at(t, OpId::kSum, basic) = loop<T, apply::Sum>;
  at(t, OpId::kProd, basic) = loop<T, apply::Prod>;
}
template <class T>
constexpr void complex(Table& t, Basic basic) {
  at(t, OpId::kSum, basic) = complex_sum<T>;
  at(t, OpId::kProd, basic) = loop<Complex<T>, apply::Prod>;
}
template <class T>
constexpr void order(Table& t, Basic basic) {
  at(t, OpId::kMin, basic) = loop<T, apply::Min>;
  at(t, OpId::kMax, basic) = loop<T, apply::Max>;
}
template <class T>
constexpr void logical(Table& t, Basic basic) {
  at(t, OpId::kLand, basic) = loop<T, apply::Land>;
  at(t, OpId::kLor, basic) = loop<T, apply::Lor>;
  at(t, OpId::kLxor, basic) = loop<T, apply::Lxor>;
}
template <class T>
constexpr void bitwise(Table& t, Basic basic) {
  at(t, OpId::kBand, basic) = loop<T, apply::Band>;
  at(t, OpId::kBor, basic) = loop<T, apply::Bor>;
  at(t, OpId::kBxor, basic) = loop<T, apply::Bxor>;
}
// Of Fortran: no logical operations (MPI 5.0, 6.9.2).
template <class T>
constexpr void integer(Table& t, Basic basic) {
  arithmetic<T>(t, basic);
  order<T>(t, basic);
  bitwise<T>(t, basic);
}
template <class T>
constexpr void c_integer(Table& t, Basic basic) {
  integer<T>(t, basic);
  logical<T>(t, basic);
}
template <class T>
constexpr void floating(Table& t, Basic basic) {
  arithmetic<T>(t, basic);
  order<T>(t, basic);
}
template <class Value, class Index>
constexpr void located(Table& t, Basic basic) {
  at(t, OpId::kMinloc, basic) = loop<apply::Pair<Value, Index>, apply::Minloc>;
  at(t, OpId::kMaxloc, basic) = loop<apply::Pair<Value, Index>, apply::Maxloc>;
}

constexpr Table kTable = [] {
  Table t{};
  c_integer<std::int8_t>(t, Basic::kInt8);
  c_integer<std::int16_t>(t, Basic::kInt16);
  c_integer<std::int32_t>(t, Basic::kInt32);
  c_integer<std::int64_t>(t, Basic::kInt64);
  c_integer<std::uint8_t>(t, Basic::kUint8);
  c_integer<std::uint16_t>(t, Basic::kUint16);
  c_integer<std::uint32_t>(t, Basic::kUint32);
  c_integer<std::uint64_t>(t, Basic::kUint64);
  c_integer<std::int64_t>(t, Basic::kMultiLanguage);  // the logical ones are more than the standard asks for
  integer<std::int8_t>(t, Basic::kInteger1);
  integer<std::int16_t>(t, Basic::kInteger2);
  integer<std::int32_t>(t, Basic::kInteger4);
  integer<std::int64_t>(t, Basic::kInteger8);
  integer<__int128>(t, Basic::kInteger16);
  floating<Half>(t, Basic::kFloat16);
  floating<float>(t, Basic::kFloat32);
  floating<double>(t, Basic::kFloat64);
  floating<long double>(t, Basic::kLongDouble);
  floating<__float128>(t, Basic::kFloat128);
  complex<Half>(t, Basic::kComplex16);
  complex<float>(t, Basic::kComplex32);
  complex<double>(t, Basic::kComplex64);
  complex<long double>(t, Basic::kComplexLongDouble);
  complex<__float128>(t, Basic::kComplex128);
  logical<std::uint8_t>(t, Basic::kBool);
  logical<std::int8_t>(t, Basic::kLogical1);
  logical<std::int16_t>(t, Basic::kLogical2);
  logical<std::int32_t>(t, Basic::kLogical4);
  logical<std::int64_t>(t, Basic::kLogical8);
  logical<__int128>(t, Basic::kLogical16);
  bitwise<std::uint8_t>(t, Basic::kByte);
  located<float, int>(t, Basic::kFloatInt);
  located<double, int>(t, Basic::kDoubleInt);
  located<long, int>(t, Basic::kLongInt);
  located<int, int>(t, Basic::kIntInt);
  located<short, int>(t, Basic::kShortInt);
  located<long double, int>(t, Basic::kLongDoubleInt);
  located<float, float>(t, Basic::kTwoReal);
  located<double, double>(t, Basic::kTwoDoublePrecision);
  located<std::int32_t, std::int32_t>(t, Basic::kTwoInteger);
  return t;
}();

Kernel find(OpId op, Basic basic) { return kTable[static_cast<std::size_t>(op)][static_cast<std::size_t>(basic)]; }

}  // namespace heddle::mpi::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace heddle::mpi {

std::vector<KernelSet*> runnable_kernels() {
  std::vector<KernelSet*> sets;
  for (KernelSet* set : HEDDLE_RUNNABLE(find)) {
    if (set != nullptr) sets.push_back(set);
  }
  return sets;
}

Kernel find_kernel(OpId op, Basic basic) noexcept {
  static KernelSet* const set = best(HEDDLE_RUNNABLE(find));
  return set(op, basic);
}

}  // namespace heddle::mpi
#endif  // HWY_ONCE
