// Every operation on every type: allowed exactly where MPI 4.1, 6.9.2 and 6.9.4, allow it, and with the right result.
#include "mpi/op.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <climits>
#include <cmath>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "mpi/api_datatype.hpp"
#include "mpi/api_op.hpp"
#include "mpi/handle.hpp"
#include "mpi/op_kernels.hpp"
#include "mpi/op_scalar.hpp"
#include "mpi/type_map.hpp"

namespace heddle::mpi {
namespace {

Datatype& at(MPI_Datatype handle) { return *from_handle(handle); }

enum Group { kCInteger, kFortranInteger, kFloating, kLogical, kComplex, kByte, kMultiLanguage, kPairs, kNeither };

const std::map<Group, std::vector<MPI_Datatype>> kTypes = {
    {kCInteger,
     {MPI_INT,
      MPI_LONG,
      MPI_SHORT,
      MPI_UNSIGNED_SHORT,
      MPI_UNSIGNED,
      MPI_UNSIGNED_LONG,
      MPI_LONG_LONG_INT,
      MPI_LONG_LONG,
      MPI_UNSIGNED_LONG_LONG,
      MPI_CHAR,
      MPI_SIGNED_CHAR,
      MPI_UNSIGNED_CHAR,
      MPI_INT8_T,
      MPI_INT16_T,
      MPI_INT32_T,
      MPI_INT64_T,
      MPI_UINT8_T,
      MPI_UINT16_T,
      MPI_UINT32_T,
      MPI_UINT64_T}},
    {kFortranInteger, {MPI_INTEGER, MPI_INTEGER1, MPI_INTEGER2, MPI_INTEGER4, MPI_INTEGER8, MPI_INTEGER16}},
    {kFloating,
     {MPI_FLOAT, MPI_DOUBLE, MPI_REAL, MPI_DOUBLE_PRECISION, MPI_LONG_DOUBLE, MPI_REAL2, MPI_REAL4, MPI_REAL8,
      MPI_REAL16}},
    {kLogical,
     {MPI_LOGICAL, MPI_C_BOOL, MPI_CXX_BOOL, MPI_LOGICAL1, MPI_LOGICAL2, MPI_LOGICAL4, MPI_LOGICAL8, MPI_LOGICAL16}},
    {kComplex,
     {MPI_COMPLEX, MPI_C_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_C_LONG_DOUBLE_COMPLEX,
      MPI_CXX_FLOAT_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX, MPI_COMPLEX4,
      MPI_COMPLEX8, MPI_COMPLEX16, MPI_COMPLEX32}},
    {kByte, {MPI_BYTE}},
    {kMultiLanguage, {MPI_AINT, MPI_OFFSET, MPI_COUNT}},
    {kPairs,
     {MPI_FLOAT_INT, MPI_DOUBLE_INT, MPI_LONG_INT, MPI_2INT, MPI_SHORT_INT, MPI_LONG_DOUBLE_INT, MPI_2REAL,
      MPI_2DOUBLE_PRECISION, MPI_2INTEGER}},
    {kNeither, {MPI_CHARACTER, MPI_WCHAR, MPI_PACKED}},
};

const std::map<MPI_Op, std::set<Group>> kAllowed = {
    {MPI_MAX, {kCInteger, kFortranInteger, kFloating, kMultiLanguage}},
    {MPI_MIN, {kCInteger, kFortranInteger, kFloating, kMultiLanguage}},
    {MPI_SUM, {kCInteger, kFortranInteger, kFloating, kComplex, kMultiLanguage}},
    {MPI_PROD, {kCInteger, kFortranInteger, kFloating, kComplex, kMultiLanguage}},
    {MPI_LAND, {kCInteger, kLogical, kMultiLanguage}},
    {MPI_LOR, {kCInteger, kLogical, kMultiLanguage}},
    {MPI_LXOR, {kCInteger, kLogical, kMultiLanguage}},
    {MPI_BAND, {kCInteger, kFortranInteger, kByte, kMultiLanguage}},
    {MPI_BOR, {kCInteger, kFortranInteger, kByte, kMultiLanguage}},
    {MPI_BXOR, {kCInteger, kFortranInteger, kByte, kMultiLanguage}},
    {MPI_MINLOC, {kPairs}},
    {MPI_MAXLOC, {kPairs}},
    {MPI_REPLACE, {}},
    {MPI_NO_OP, {}},
};

TEST(Op, TheStandardsTable) {
  int pairs = 0;
  for (const auto& [op, groups] : kAllowed) {
    for (const auto& [group, types] : kTypes) {
      for (MPI_Datatype t : types) {
        const Status status = check_op(*from_handle(op), at(t));
        EXPECT_EQ(status.error_class(), groups.contains(group) ? MPI_SUCCESS : MPI_ERR_OP)
            << from_handle(op)->predefined_name << " on " << at(t).predefined_name;
        ++pairs;
      }
    }
  }
  EXPECT_EQ(pairs, 14 * 72);
}

TEST(Op, TheTestKnowsEveryType) {
  std::set<MPI_Datatype> known;
  for (const auto& [group, types] : kTypes) known.insert(types.begin(), types.end());
  for (std::uintptr_t v = 0; v < kPredefinedLimit; ++v) {
    Datatype* t = predefined_datatype(v);
    EXPECT_TRUE(t == nullptr || known.contains(to_handle(t))) << v;
  }
}

TEST(Op, EveryConstantIsInTheTableAndNothingElseIs) {
  std::size_t found = 0;
  for (std::uintptr_t v = 0; v < kPredefinedLimit; ++v) {
    Op* op = predefined_op(v);
    if (op == nullptr) continue;
    ++found;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(to_handle(op)), v);
    EXPECT_TRUE(kAllowed.contains(to_handle(op))) << op->predefined_name;
  }
  EXPECT_EQ(found, kAllowed.size());
}

// Values --------------------------------------------------------------------------------------------------------------

constexpr int kCount = 200;  // some blocks of the loop, and a rest

// Reduces kCount items of T and compares each with `expected`.
template <class T, class Make, class Expected>
void check(MPI_Op op, MPI_Datatype type, Make make, Expected expected) {
  SCOPED_TRACE(std::string(from_handle(op)->predefined_name) + " on " + at(type).predefined_name);
  ASSERT_EQ(static_cast<MPI_Count>(sizeof(T)), at(type).extent);
  std::vector<T> in(kCount), inout(kCount), before;
  for (int i = 0; i < kCount; ++i) {
    in[i] = make(i, 7);
    inout[i] = make(i, 11);
  }
  before = inout;
  // Also where the address is not a multiple of the type's alignment.
  std::vector<char> storage(kCount * sizeof(T) + 1);
  char* shifted = storage.data() + 1;
  std::memcpy(shifted, inout.data(), kCount * sizeof(T));
  reduce(*from_handle(op), in.data(), inout.data(), kCount, at(type));
  reduce(*from_handle(op), in.data(), shifted, kCount, at(type));
  std::vector<T> three(kCount);
  reduce_into(*from_handle(op), in.data(), before.data(), three.data(), kCount, at(type));
  for (int i = 0; i < kCount; ++i) {
    const T want = expected(in[i], before[i]);
    T again;
    std::memcpy(&again, shifted + i * sizeof(T), sizeof(T));
    if constexpr (requires { want.index; }) {
      ASSERT_TRUE(inout[i].value == want.value && inout[i].index == want.index) << i;
      ASSERT_TRUE(again.value == want.value && again.index == want.index) << i;
      ASSERT_TRUE(three[i].value == want.value && three[i].index == want.index) << i;
    } else if constexpr (requires { want.re; }) {
      ASSERT_TRUE(inout[i].re == want.re && inout[i].im == want.im) << i;
      ASSERT_TRUE(three[i].re == want.re && three[i].im == want.im) << i;
    } else {
      ASSERT_TRUE(inout[i] == want) << i << ": " << double(inout[i]) << " instead of " << double(want);
      ASSERT_TRUE(again == want) << i;
      ASSERT_TRUE(three[i] == want) << i;
    }
  }
}

// Small, of both signs, equal now and then.
template <class T>
T number(int i, int seed) {
  return static_cast<T>(static_cast<int>((i * seed) % 13) - 6);
}

template <class T>
void check_order(MPI_Datatype type) {
  check<T>(MPI_MIN, type, number<T>, [](T a, T b) { return b < a ? b : a; });
  check<T>(MPI_MAX, type, number<T>, [](T a, T b) { return a < b ? b : a; });
}
template <class T>
void check_arithmetic(MPI_Datatype type) {
  check<T>(MPI_SUM, type, number<T>, [](T a, T b) { return static_cast<T>(a + b); });
  check<T>(MPI_PROD, type, number<T>, [](T a, T b) { return static_cast<T>(a * b); });
}
template <class T>
void check_bitwise(MPI_Datatype type) {
  check<T>(MPI_BAND, type, number<T>, [](T a, T b) { return static_cast<T>(a & b); });
  check<T>(MPI_BOR, type, number<T>, [](T a, T b) { return static_cast<T>(a | b); });
  check<T>(MPI_BXOR, type, number<T>, [](T a, T b) { return static_cast<T>(a ^ b); });
}
template <class T>
void check_logical(MPI_Datatype type) {
  const auto make = [](int i, int seed) { return static_cast<T>((i * seed / 3) % 3); };
  check<T>(MPI_LAND, type, make, [](T a, T b) { return static_cast<T>(a && b); });
  check<T>(MPI_LOR, type, make, [](T a, T b) { return static_cast<T>(a || b); });
  check<T>(MPI_LXOR, type, make, [](T a, T b) { return static_cast<T>(!a != !b); });
}
template <class T>
void check_integer(MPI_Datatype type, bool logical) {
  check_order<T>(type);
  check_arithmetic<T>(type);
  check_bitwise<T>(type);
  if (logical) check_logical<T>(type);
}
template <class T>
void check_floating(MPI_Datatype type) {
  check_order<T>(type);
  check_arithmetic<T>(type);
}
template <class T>
void check_complex(MPI_Datatype type) {
  using C = Complex<T>;
  const auto make = [](int i, int seed) { return C{number<T>(i, seed), number<T>(i + 3, seed)}; };
  check<C>(MPI_SUM, type, make, [](C a, C b) { return C{T(a.re + b.re), T(a.im + b.im)}; });
  check<C>(MPI_PROD, type, make, [](C a, C b) {
    return C{T(a.re * b.re - a.im * b.im), T(a.re * b.im + a.im * b.re)};
  });
}
template <class V, class I>
struct ValueIndex {
  V value;
  I index;
};
template <class V, class I>
void check_pair(MPI_Datatype type) {
  using P = ValueIndex<V, I>;
  const auto make = [](int i, int seed) { return P{number<V>(i, seed), static_cast<I>((i * seed) % 5)}; };
  check<P>(MPI_MINLOC, type, make, [](P a, P b) {
    return P{std::min(a.value, b.value),
             a.value == b.value ? std::min(a.index, b.index) : (a.value < b.value ? a.index : b.index)};
  });
  check<P>(MPI_MAXLOC, type, make, [](P a, P b) {
    return P{std::max(a.value, b.value),
             a.value == b.value ? std::min(a.index, b.index) : (a.value > b.value ? a.index : b.index)};
  });
}

TEST(Reduce, CIntegers) {
  check_integer<signed char>(MPI_SIGNED_CHAR, true);
  check_integer<unsigned char>(MPI_UNSIGNED_CHAR, true);
  check_integer<short>(MPI_SHORT, true);
  check_integer<unsigned short>(MPI_UNSIGNED_SHORT, true);
  check_integer<int>(MPI_INT, true);
  check_integer<signed char>(MPI_CHAR, true);
  check_integer<unsigned>(MPI_UNSIGNED, true);
  check_integer<long>(MPI_LONG, true);
  check_integer<unsigned long>(MPI_UNSIGNED_LONG, true);
  check_integer<long long>(MPI_LONG_LONG, true);
  check_integer<unsigned long long>(MPI_UNSIGNED_LONG_LONG, true);
  check_integer<std::int8_t>(MPI_INT8_T, true);
  check_integer<std::uint8_t>(MPI_UINT8_T, true);
  check_integer<std::int16_t>(MPI_INT16_T, true);
  check_integer<std::uint16_t>(MPI_UINT16_T, true);
  check_integer<std::int32_t>(MPI_INT32_T, true);
  check_integer<std::uint32_t>(MPI_UINT32_T, true);
  check_integer<std::int64_t>(MPI_INT64_T, true);
  check_integer<std::uint64_t>(MPI_UINT64_T, true);
}
TEST(Reduce, FortranIntegers) {
  check_integer<std::int32_t>(MPI_INTEGER, false);
  check_integer<std::int8_t>(MPI_INTEGER1, false);
  check_integer<std::int16_t>(MPI_INTEGER2, false);
  check_integer<std::int32_t>(MPI_INTEGER4, false);
  check_integer<std::int64_t>(MPI_INTEGER8, false);
  check_integer<__int128>(MPI_INTEGER16, false);
}
TEST(Reduce, MultiLanguageTypes) {
  check_integer<MPI_Aint>(MPI_AINT, true);
  check_integer<MPI_Offset>(MPI_OFFSET, true);
  check_integer<MPI_Count>(MPI_COUNT, true);
}
TEST(Reduce, FloatingPoint) {
  check_floating<float>(MPI_FLOAT);
  check_floating<float>(MPI_REAL);
  check_floating<double>(MPI_DOUBLE);
  check_floating<double>(MPI_DOUBLE_PRECISION);
  check_floating<long double>(MPI_LONG_DOUBLE);
  check_floating<Half>(MPI_REAL2);
  check_floating<float>(MPI_REAL4);
  check_floating<double>(MPI_REAL8);
  check_floating<__float128>(MPI_REAL16);
}
TEST(Reduce, ComplexNumbers) {
  for (MPI_Datatype t : {MPI_COMPLEX, MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX8}) {
    check_complex<float>(t);
  }
  for (MPI_Datatype t : {MPI_DOUBLE_COMPLEX, MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_COMPLEX16}) {
    check_complex<double>(t);
  }
  for (MPI_Datatype t : {MPI_C_LONG_DOUBLE_COMPLEX, MPI_CXX_LONG_DOUBLE_COMPLEX}) check_complex<long double>(t);
  check_complex<Half>(MPI_COMPLEX4);
  check_complex<__float128>(MPI_COMPLEX32);
}
TEST(Reduce, Logicals) {
  check_logical<std::uint8_t>(MPI_C_BOOL);
  check_logical<std::uint8_t>(MPI_CXX_BOOL);
  check_logical<std::int32_t>(MPI_LOGICAL);
  check_logical<std::int8_t>(MPI_LOGICAL1);
  check_logical<std::int16_t>(MPI_LOGICAL2);
  check_logical<std::int32_t>(MPI_LOGICAL4);
  check_logical<std::int64_t>(MPI_LOGICAL8);
  check_logical<__int128>(MPI_LOGICAL16);
}
TEST(Reduce, Bytes) { check_bitwise<std::uint8_t>(MPI_BYTE); }
TEST(Reduce, Pairs) {
  check_pair<float, int>(MPI_FLOAT_INT);
  check_pair<double, int>(MPI_DOUBLE_INT);
  check_pair<long, int>(MPI_LONG_INT);
  check_pair<int, int>(MPI_2INT);
  check_pair<short, int>(MPI_SHORT_INT);
  check_pair<long double, int>(MPI_LONG_DOUBLE_INT);
  check_pair<float, float>(MPI_2REAL);
  check_pair<double, double>(MPI_2DOUBLE_PRECISION);
  check_pair<std::int32_t, std::int32_t>(MPI_2INTEGER);
}

// Fills a buffer with small numbers of type T, which have all the digits that T has.
template <class T>
void fill(std::vector<char>& to, std::mt19937& random) {
  std::uniform_real_distribution<float> number(-8, 8);
  for (std::size_t at = 1; at + sizeof(T) <= to.size(); at += sizeof(T)) {
    const auto value = static_cast<T>(number(random));
    std::memcpy(to.data() + at, &value, sizeof value);
  }
}
template <>
void fill<char>(std::vector<char>& to, std::mt19937& random) {
  std::ranges::generate(to, [&random] { return static_cast<char>(random()); });
}

// Products that one of them fused, or halves that it rounded in its own way, would differ. Buffers begin at an odd address.
TEST(Reduce, EveryInstructionSetGivesTheSameBits) {
  const std::vector<KernelSet*> sets = runnable_kernels();
  using Fill = void (*)(std::vector<char>&, std::mt19937&);
  const std::pair<Basic, Fill> types[] = {
      {Basic::kInt8, fill<char>},       {Basic::kInt16, fill<char>},       {Basic::kInt32, fill<char>},
      {Basic::kInt64, fill<char>},      {Basic::kUint8, fill<char>},       {Basic::kUint16, fill<char>},
      {Basic::kUint32, fill<char>},     {Basic::kUint64, fill<char>},      {Basic::kFloat16, fill<Half>},
      {Basic::kFloat32, fill<float>},   {Basic::kFloat64, fill<double>},   {Basic::kComplex16, fill<Half>},
      {Basic::kComplex32, fill<float>}, {Basic::kComplex64, fill<double>}, {Basic::kFloatInt, fill<float>},
      {Basic::kIntInt, fill<char>},     {Basic::kTwoReal, fill<float>},    {Basic::kTwoDoublePrecision, fill<double>}};
  std::mt19937 random(1);
  std::vector<char> left(kCount * 16 + 1), right(left.size());
  for (auto [type, fill_buffer] : types) {
    fill_buffer(left, random);
    fill_buffer(right, random);
    for (int id = 0; id < static_cast<int>(OpId::kCount); ++id) {
      const auto op = static_cast<OpId>(id);
      if (sets.front()(op, type) == nullptr) continue;
      std::vector<char> plain(left.size()), other(left.size());
      sets.back()(op, type)(left.data() + 1, right.data() + 1, plain.data() + 1, kCount);
      for (KernelSet* set : sets) {
        set(op, type)(left.data() + 1, right.data() + 1, other.data() + 1, kCount);
        ASSERT_EQ(plain, other) << "type " << static_cast<int>(type) << ", operation " << id;
      }
    }
  }
}

TEST(Reduce, IntegersWrapAround) {
  const int in[] = {INT_MAX, INT_MIN};
  int inout[] = {1, -1};
  reduce(*from_handle(MPI_SUM), in, inout, 2, at(MPI_INT));
  EXPECT_EQ(inout[0], INT_MIN);
  EXPECT_EQ(inout[1], INT_MAX);
  const std::uint16_t a = 65535;
  std::uint16_t b = 65535;  // promoted to int, the product would overflow
  reduce(*from_handle(MPI_PROD), &a, &b, 1, at(MPI_UINT16_T));
  EXPECT_EQ(b, 1);
}

// The bytes behind the index of the last pair may belong to somebody else.
TEST(Reduce, PairsLeaveTheirPaddingAlone) {
  struct {
    double value;
    int index;
    int foreign;
  } in{2, 1, 77}, inout{1, 2, 99};
  reduce(*from_handle(MPI_MAXLOC), &in, &inout, 1, at(MPI_DOUBLE_INT));
  EXPECT_EQ(inout.value, 2);
  EXPECT_EQ(inout.index, 1);
  EXPECT_EQ(inout.foreign, 99);
}

TEST(Op, AnAccumulateTakesItemsOfOnePredefinedType) {
  test::Owned ints, nothing, mixed;
  ASSERT_TRUE(api::type_vector(2, 1, 2, at(MPI_INT), &ints, false));
  ASSERT_TRUE(api::type_contiguous(0, at(MPI_INT), &nothing, false));
  const int lengths[] = {1, 1};
  const MPI_Count places[] = {0, 8};
  const MPI_Datatype types[] = {MPI_INT, MPI_DOUBLE};
  ASSERT_TRUE(api::type_create_struct(2, IntArray(lengths), IntArray(places), types, &mixed, false));
  EXPECT_EQ(check_op(*from_handle(MPI_SUM), at(ints)).error_class(), MPI_ERR_OP);
  EXPECT_TRUE(check_accumulate_op(*from_handle(MPI_SUM), at(ints)));
  EXPECT_TRUE(check_accumulate_op(*from_handle(MPI_SUM), at(nothing)));
  EXPECT_EQ(check_accumulate_op(*from_handle(MPI_SUM), at(mixed)).error_class(), MPI_ERR_TYPE);
  EXPECT_EQ(check_accumulate_op(*from_handle(MPI_REPLACE), at(mixed)).error_class(), MPI_ERR_TYPE);
  EXPECT_EQ(check_accumulate_op(*from_handle(MPI_MINLOC), at(ints)).error_class(), MPI_ERR_OP);
  EXPECT_TRUE(check_accumulate_op(*from_handle(MPI_MINLOC), at(MPI_2INT)));
  EXPECT_TRUE(check_accumulate_op(*from_handle(MPI_NO_OP), at(MPI_CHAR)));
  Op own;
  EXPECT_EQ(check_accumulate_op(own, at(MPI_INT)).error_class(), MPI_ERR_OP);
}

TEST(Op, TheElementOfATypeIsPredefinedAndOfItsKind) {
  for (const auto& [group, handles] : kTypes) {
    for (MPI_Datatype handle : handles) {
      test::Owned three;
      ASSERT_TRUE(api::type_contiguous(3, at(handle), &three, false));
      const Datatype& element = element_of(at(three));
      EXPECT_TRUE(element.is_predefined()) << at(handle).predefined_name;
      EXPECT_EQ(element.basic, at(handle).basic) << at(handle).predefined_name;
      EXPECT_EQ(element.size, at(handle).size) << at(handle).predefined_name;
      EXPECT_EQ(&element_of(at(handle)), &at(handle));
    }
  }
  test::Owned nothing;
  ASSERT_TRUE(api::type_contiguous(0, at(MPI_INT), &nothing, false));
  EXPECT_EQ(&element_of(at(nothing)), &at(MPI_BYTE));
}

TEST(Reduce, ReplaceAndNoOp) {
  test::Owned t;
  ASSERT_TRUE(api::type_vector(2, 1, 2, at(MPI_INT), &t, false));
  EXPECT_TRUE(check_accumulate_op(*from_handle(MPI_REPLACE), at(t)));
  EXPECT_TRUE(check_accumulate_op(*from_handle(MPI_SUM), at(MPI_INT)));
  EXPECT_FALSE(check_accumulate_op(*from_handle(MPI_BAND), at(MPI_FLOAT)));
  const int in[] = {1, 2, 3};
  int inout[] = {4, 5, 6};
  reduce(*from_handle(MPI_NO_OP), in, inout, 3, at(MPI_INT));
  EXPECT_EQ(inout[0], 4);
  reduce(*from_handle(MPI_REPLACE), in, inout, 1, at(t));
  EXPECT_EQ(inout[0], 1);
  EXPECT_EQ(inout[1], 5);
  EXPECT_EQ(inout[2], 3);
}

// binary16, against the definition: every pattern there and back, and rounding where two neighbours are equally far.
TEST(Half, EveryValueSurvives) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    const auto h = std::bit_cast<Half>(pattern);
    const int exponent = (bits >> 10) & 31, fraction = bits & 1023;
    const float sign = bits & 0x8000 ? -1.0f : 1.0f;
    if (exponent == 31 && fraction != 0) {
      EXPECT_TRUE(std::isnan(float(h)));
      continue;
    }
    const float want = exponent == 31  ? INFINITY
                       : exponent == 0 ? std::ldexp(float(fraction), -24)
                                       : std::ldexp(float(1024 + fraction), exponent - 25);
    ASSERT_EQ(float(h), sign * want) << bits;
    const Half back(float{h});
    ASSERT_EQ(std::bit_cast<std::uint16_t>(back), pattern);
  }
}
TEST(Half, RoundsToNearestEven) {
  EXPECT_EQ(float(Half(2049.0f)), 2048);
  EXPECT_EQ(float(Half(2051.0f)), 2052);
  EXPECT_EQ(float(Half(65519.0f)), 65504);
  EXPECT_EQ(float(Half(65520.0f)), INFINITY);
  EXPECT_EQ(float(Half(0x1p-25f)), 0);
  EXPECT_EQ(float(Half(0x1.8p-24f)), 0x1p-23f);
  EXPECT_EQ(float(Half(0x1.000002p-25f)), 0x1p-24f);
  EXPECT_EQ(float(Half(-0x1.ffep-15f)), -0x1p-14f);  // the largest subnormals round up to the smallest normal
}

// User operations -----------------------------------------------------------------------------------------------------

std::vector<MPI_Count> seen_counts;
MPI_Datatype seen_type;
MPI_Count seen_stride = 0;
const char* last_in = nullptr;

void count_calls(void* in, void*, int* length, MPI_Datatype* type) {
  seen_counts.push_back(*length);
  seen_type = *type;
  if (last_in != nullptr) seen_stride = static_cast<const char*>(in) - last_in;
  last_in = static_cast<const char*>(in);
}
void count_calls_wide(void*, void*, MPI_Count* length, MPI_Datatype* type) {
  seen_counts.push_back(*length);
  seen_type = *type;
}
void subtract(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i)
    static_cast<int*>(inout)[i] = static_cast<int*>(in)[i] - static_cast<int*>(inout)[i];
}

TEST(UserOp, InIsTheLeftOperand) {
  MPI_Op op;
  ASSERT_TRUE(api::op_create(subtract, 0, &op, false));
  const int in[] = {10, 20};
  int inout[] = {1, 2};
  ASSERT_TRUE(api::reduce_local(in, inout, 2, at(MPI_INT), *from_handle(op)));
  EXPECT_EQ(inout[0], 9);
  EXPECT_EQ(inout[1], 18);
  int commute = -1;
  ASSERT_TRUE(api::op_commutative(*from_handle(op), &commute));
  EXPECT_EQ(commute, 0);
  ASSERT_TRUE(api::op_free(&op));
  EXPECT_EQ(op, MPI_OP_NULL);
}

TEST(UserOp, GetsTheTypeAndCountsThatFitItsForm) {
  test::Owned t;
  ASSERT_TRUE(api::type_create_resized(at(MPI_BYTE), 0, 3, &t, false));
  const MPI_Count many = MPI_Count{INT_MAX} + 5;
  char any[1];
  MPI_Op op, wide;
  ASSERT_TRUE(api::op_create(count_calls, 1, &op, false));
  ASSERT_TRUE(api::op_create(reinterpret_cast<MPI_User_function*>(count_calls_wide), 1, &wide, true));
  reduce(*from_handle(op), any, any, many, at(t));
  EXPECT_EQ(seen_counts, (std::vector<MPI_Count>{INT_MAX, 5}));
  EXPECT_EQ(seen_type, t.raw());
  EXPECT_EQ(seen_stride, MPI_Count{3} * INT_MAX);
  seen_counts.clear();
  reduce(*from_handle(wide), any, any, many, at(MPI_INT));
  EXPECT_EQ(seen_counts, (std::vector<MPI_Count>{many}));
  EXPECT_EQ(seen_type, MPI_INT);
  EXPECT_TRUE(check_op(*from_handle(op), at(t)));
  ASSERT_TRUE(api::op_free(&op));
  ASSERT_TRUE(api::op_free(&wide));
}

TEST(UserOp, StaysAliveWhileItIsReferredTo) {
  MPI_Op op;
  ASSERT_TRUE(api::op_create(subtract, 0, &op, false));
  Op* object = from_handle(op);
  retain(*object);
  const MPI_Op old = op;
  ASSERT_TRUE(api::op_free(&op));
  EXPECT_EQ(from_handle(old), nullptr);
  EXPECT_EQ(object->function, subtract);
  release(*object);
}

TEST(Op, PredefinedOnesAreNotFreed) {
  MPI_Op op = MPI_SUM;
  EXPECT_EQ(api::op_free(&op).error_class(), MPI_ERR_OP);
  EXPECT_EQ(op, MPI_SUM);
}

TEST(Op, PredefinedOnesRefuseDerivedTypes) {
  test::Owned t;
  ASSERT_TRUE(api::type_dup(at(MPI_INT), &t));
  EXPECT_EQ(check_op(*from_handle(MPI_SUM), at(t)).error_class(), MPI_ERR_OP);
  int x = 1, y = 2;
  EXPECT_EQ(api::reduce_local(&x, &y, 1, at(t), *from_handle(MPI_SUM)).error_class(), MPI_ERR_OP);
  EXPECT_EQ(y, 2);
}

}  // namespace
}  // namespace heddle::mpi
