// The representations of basic data that reductions tell apart.
#pragma once

#include <cstdint>

namespace heddle::mpi {

enum class Basic : std::uint8_t {
  kNone,  // of a derived type: its leaves are of several kinds, or there are none
  kInt8,
  kInt16,
  kInt32,
  kInt64,  // C integers, signed
  kUint8,
  kUint16,
  kUint32,
  kUint64,  // C integers, unsigned
  kInteger1,
  kInteger2,
  kInteger4,
  kInteger8,
  kInteger16,      // Fortran integers
  kMultiLanguage,  // MPI_AINT, MPI_COUNT, MPI_OFFSET: 64 bits
  kFloat16,
  kFloat32,
  kFloat64,
  kLongDouble,
  kFloat128,
  kComplex16,
  kComplex32,
  kComplex64,
  kComplexLongDouble,
  kComplex128,  // bits of each of the two parts
  kBool,        // C and C++
  kLogical1,
  kLogical2,
  kLogical4,
  kLogical8,
  kLogical16,  // Fortran
  kByte,
  kFloatInt,
  kDoubleInt,
  kLongInt,
  kIntInt,
  kShortInt,
  kLongDoubleInt,  // C struct { value; int index; }
  kTwoReal,
  kTwoDoublePrecision,
  kTwoInteger,  // Fortran: two of a kind
  kText,        // characters: no arithmetic
  kWideText,    // of several bytes
  kPacked,
  kCount,
};

// A value and an index: what MPI_MINLOC and MPI_MAXLOC work on. For MPI_Get_elements these are two elements.
constexpr bool is_pair(Basic basic) noexcept { return basic >= Basic::kFloatInt && basic <= Basic::kTwoInteger; }

inline constexpr int kBasicCount = static_cast<int>(Basic::kCount);

}  // namespace heddle::mpi
