#include "portals4/atomic.hpp"

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace heddle::portals4 {
namespace {

template <class T>
constexpr bool kIsInteger = std::is_integral_v<T>;
template <class T>
constexpr bool kIsOrdered = std::is_arithmetic_v<T>;

// The target's element t, the initiator's i, the operand o. What is not defined for T leaves t.
template <class T>
T combine(ptl_op_t operation, T t, T i, T o) {
  if constexpr (kIsInteger<T>) {
    // Integers wrap round, signed ones too.
    using U = std::make_unsigned_t<T>;
    const auto wide = [](T x) { return static_cast<std::uint64_t>(static_cast<U>(x)); };
    switch (operation) {
      case PTL_SUM:
        return static_cast<T>(wide(t) + wide(i));
      case PTL_PROD:
        return static_cast<T>(wide(t) * wide(i));
      case PTL_LOR:
        return static_cast<T>(t || i);
      case PTL_LAND:
        return static_cast<T>(t && i);
      case PTL_LXOR:
        return static_cast<T>(!t != !i);
      case PTL_BOR:
        return static_cast<T>(t | i);
      case PTL_BAND:
        return static_cast<T>(t & i);
      case PTL_BXOR:
        return static_cast<T>(t ^ i);
      case PTL_MSWAP:
        return static_cast<T>((i & o) | (t & static_cast<T>(~o)));
      default:
        break;
    }
  }
  if constexpr (kIsOrdered<T>) {
    switch (operation) {
      case PTL_MIN:
        return std::min(t, i);
      case PTL_MAX:
        return std::max(t, i);
      case PTL_CSWAP_LE:
        return o <= t ? i : t;
      case PTL_CSWAP_LT:
        return o < t ? i : t;
      case PTL_CSWAP_GE:
        return o >= t ? i : t;
      case PTL_CSWAP_GT:
        return o > t ? i : t;
      default:
        break;
    }
  }
  switch (operation) {
    case PTL_SUM:
      return static_cast<T>(t + i);
    case PTL_PROD:
      return static_cast<T>(t * i);
    case PTL_SWAP:
      return i;
    case PTL_CSWAP:
      return o == t ? i : t;
    case PTL_CSWAP_NE:
      return o != t ? i : t;
    default:
      return t;
  }
}

template <class T>
void run(ptl_op_t operation, std::byte* target, const std::byte* in, const std::byte* operand, std::size_t count) {
  T o{};
  if (has_operand(operation)) std::memcpy(&o, operand, sizeof o);
  for (std::size_t n = 0; n < count; ++n, target += sizeof(T), in += sizeof(T)) {
    T t, i;
    std::memcpy(&t, target, sizeof t);
    std::memcpy(&i, in, sizeof i);
    t = combine(operation, t, i, o);
    std::memcpy(target, &t, sizeof t);
  }
}

bool is_complex(ptl_datatype_t type) {
  return type == PTL_FLOAT_COMPLEX || type == PTL_DOUBLE_COMPLEX || type == PTL_LONG_DOUBLE_COMPLEX;
}

}  // namespace

std::size_t element_bytes(ptl_datatype_t type) {
  switch (type) {
    case PTL_INT8_T:
    case PTL_UINT8_T:
      return 1;
    case PTL_INT16_T:
    case PTL_UINT16_T:
      return 2;
    case PTL_INT32_T:
    case PTL_UINT32_T:
    case PTL_FLOAT:
      return 4;
    case PTL_INT64_T:
    case PTL_UINT64_T:
    case PTL_DOUBLE:
    case PTL_FLOAT_COMPLEX:
      return 8;
    case PTL_DOUBLE_COMPLEX:
      return 16;
    case PTL_LONG_DOUBLE:
      return sizeof(long double);
    case PTL_LONG_DOUBLE_COMPLEX:
      return sizeof(std::complex<long double>);
  }
  return 0;
}

bool has_operand(ptl_op_t operation) { return operation >= PTL_CSWAP && operation <= PTL_MSWAP; }

bool is_defined(ptl_op_t operation, ptl_datatype_t type, Caller caller) {
  // As unsigned: a program may hand over any number, also below 0.
  if (element_bytes(type) == 0 || static_cast<unsigned>(operation) > PTL_MSWAP) return false;
  if ((operation >= PTL_SWAP) != (caller == Caller::kSwap)) return false;
  const bool is_integer = type <= PTL_UINT64_T;
  switch (operation) {
    case PTL_LOR:
    case PTL_LAND:
    case PTL_LXOR:
    case PTL_BOR:
    case PTL_BAND:
    case PTL_BXOR:
    case PTL_MSWAP:
      return is_integer;
    case PTL_MIN:
    case PTL_MAX:
    case PTL_CSWAP_LE:
    case PTL_CSWAP_LT:
    case PTL_CSWAP_GE:
    case PTL_CSWAP_GT:
      return !is_complex(type);
    default:
      return true;
  }
}

void apply(ptl_op_t operation, ptl_datatype_t type, std::byte* target, const std::byte* in, const std::byte* operand,
           std::size_t count) {
  const auto as = [&]<class T>(T) { run<T>(operation, target, in, operand, count); };
  switch (type) {
    case PTL_INT8_T:
      return as(std::int8_t{});
    case PTL_UINT8_T:
      return as(std::uint8_t{});
    case PTL_INT16_T:
      return as(std::int16_t{});
    case PTL_UINT16_T:
      return as(std::uint16_t{});
    case PTL_INT32_T:
      return as(std::int32_t{});
    case PTL_UINT32_T:
      return as(std::uint32_t{});
    case PTL_INT64_T:
      return as(std::int64_t{});
    case PTL_UINT64_T:
      return as(std::uint64_t{});
    case PTL_FLOAT:
      return as(float{});
    case PTL_FLOAT_COMPLEX:
      return as(std::complex<float>{});
    case PTL_DOUBLE:
      return as(double{});
    case PTL_DOUBLE_COMPLEX:
      return as(std::complex<double>{});
    case PTL_LONG_DOUBLE:
      return as(static_cast<long double>(0));
    case PTL_LONG_DOUBLE_COMPLEX:
      return as(std::complex<long double>{});
  }
}

}  // namespace heddle::portals4
