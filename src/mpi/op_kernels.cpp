// Problem: every operation on every type that the standard allows, at memory speed, from one source.
// Method:  one template of a loop, in blocks of a fixed length so that the compiler's vectoriser needs no remainder
//          inside; a table of its instances. Integers wrap around. Buffers may be less aligned than their type.
#include "mpi/op_kernels.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "mpi/op_scalar.hpp"

namespace heddle::mpi {
namespace {

template <class Value, class Index>
struct Pair {
  Value value;
  Index index;
};

template <class T>
inline T load(const std::byte* from) noexcept {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
inline void store(std::byte* to, T value) noexcept {
  std::memcpy(to, &value, sizeof value);
}
// A pair's buffer may end before the padding of the last one.
template <class T>
requires requires(T pair) { pair.index; }
inline T load(const std::byte* from) noexcept {
  T pair;
  std::memcpy(&pair.value, from, sizeof pair.value);
  std::memcpy(&pair.index, from + offsetof(T, index), sizeof pair.index);
  return pair;
}
template <class T>
requires requires(T pair) { pair.index; }
inline void store(std::byte* to, T pair) noexcept {
  std::memcpy(to, &pair.value, sizeof pair.value);
  std::memcpy(to + offsetof(T, index), &pair.index, sizeof pair.index);
}

constexpr std::size_t kBlock = 64;  // items

// `restrict` on parameters, and a constant length: what gcc's -O2 needs to vectorise.
template <class T, class Operation>
inline void block(const std::byte* __restrict a, std::byte* __restrict b) noexcept {
  for (std::size_t i = 0; i < kBlock; ++i) {
    store<T>(b + i * sizeof(T), Operation::apply(load<T>(a + i * sizeof(T)), load<T>(b + i * sizeof(T))));
  }
}

template <class T, class Operation>
void loop(const void* in, void* inout, MPI_Count count) {
  const auto* a = static_cast<const std::byte*>(in);
  auto* b = static_cast<std::byte*>(inout);
  for (; count >= static_cast<MPI_Count>(kBlock); count -= kBlock) {
    block<T, Operation>(a, b);
    a += kBlock * sizeof(T);
    b += kBlock * sizeof(T);
  }
  for (; count > 0; --count) {
    store<T>(b, Operation::apply(load<T>(a), load<T>(b)));
    a += sizeof(T);
    b += sizeof(T);
  }
}

template <class T>
concept Integer = std::is_integral_v<T> || std::is_same_v<T, __int128>;

// Wide enough not to be promoted, and without undefined overflow.
template <class T>
using Wrapping = std::conditional_t<sizeof(T) == 16, unsigned __int128,
                                    std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

struct Sum {
  template <class T>
  static T apply(T a, T b) noexcept {
    if constexpr (Integer<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) + static_cast<Wrapping<T>>(b));
    } else {
      return a + b;
    }
  }
};
struct Prod {
  template <class T>
  static T apply(T a, T b) noexcept {
    if constexpr (Integer<T>) {
      return static_cast<T>(static_cast<Wrapping<T>>(a) * static_cast<Wrapping<T>>(b));
    } else {
      return a * b;
    }
  }
};
struct Min {
  template <class T>
  static T apply(T a, T b) noexcept {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  static T apply(T a, T b) noexcept {
    return b < a ? a : b;
  }
};
// Without short cuts, which would be branches.
struct Land {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>((a != 0) & (b != 0));
  }
};
struct Lor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>((a != 0) | (b != 0));
  }
};
struct Lxor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>((a != 0) != (b != 0));
  }
};
struct Band {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a & b);
  }
};
struct Bor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a | b);
  }
};
struct Bxor {
  template <class T>
  static T apply(T a, T b) noexcept {
    return static_cast<T>(a ^ b);
  }
};

// The smaller index where the values are equal.
struct Minloc {
  template <class V, class I>
  static Pair<V, I> apply(Pair<V, I> a, Pair<V, I> b) noexcept {
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return a.value < b.value ? a : b;
  }
};
struct Maxloc {
  template <class V, class I>
  static Pair<V, I> apply(Pair<V, I> a, Pair<V, I> b) noexcept {
    if (a.value == b.value) return {a.value, a.index < b.index ? a.index : b.index};
    return b.value < a.value ? a : b;
  }
};

using Table = std::array<std::array<Kernel, kBasicCount>, static_cast<std::size_t>(OpId::kCount)>;

constexpr Kernel& at(Table& table, OpId op, Basic basic) {
  return table[static_cast<std::size_t>(op)][static_cast<std::size_t>(basic)];
}

template <class T>
constexpr void arithmetic(Table& t, Basic basic) {
  at(t, OpId::kSum, basic) = loop<T, Sum>;
  at(t, OpId::kProd, basic) = loop<T, Prod>;
}
template <class T>
constexpr void order(Table& t, Basic basic) {
  at(t, OpId::kMin, basic) = loop<T, Min>;
  at(t, OpId::kMax, basic) = loop<T, Max>;
}
template <class T>
constexpr void logical(Table& t, Basic basic) {
  at(t, OpId::kLand, basic) = loop<T, Land>;
  at(t, OpId::kLor, basic) = loop<T, Lor>;
  at(t, OpId::kLxor, basic) = loop<T, Lxor>;
}
template <class T>
constexpr void bitwise(Table& t, Basic basic) {
  at(t, OpId::kBand, basic) = loop<T, Band>;
  at(t, OpId::kBor, basic) = loop<T, Bor>;
  at(t, OpId::kBxor, basic) = loop<T, Bxor>;
}
// Of Fortran, and MPI_AINT, MPI_COUNT, MPI_OFFSET: no logical operations (MPI 5.0, 6.9.2).
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
  at(t, OpId::kMinloc, basic) = loop<Pair<Value, Index>, Minloc>;
  at(t, OpId::kMaxloc, basic) = loop<Pair<Value, Index>, Maxloc>;
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
  integer<std::int64_t>(t, Basic::kMultiLanguage);
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
  arithmetic<Complex<Half>>(t, Basic::kComplex16);
  arithmetic<Complex<float>>(t, Basic::kComplex32);
  arithmetic<Complex<double>>(t, Basic::kComplex64);
  arithmetic<Complex<long double>>(t, Basic::kComplexLongDouble);
  arithmetic<Complex<__float128>>(t, Basic::kComplex128);
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

}  // namespace

Kernel find_kernel(OpId op, Basic basic) noexcept {
  return kTable[static_cast<std::size_t>(op)][static_cast<std::size_t>(basic)];
}

}  // namespace heddle::mpi
