#include "mpi/datatype.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <climits>
#include <complex>
#include <cstring>
#include <string>

#include "mpi/handle.hpp"
#include "mpi/status.hpp"
#include "mpi/type_map.hpp"

namespace heddle::mpi {
namespace {

using test::Owned;
using test::Typed;

Datatype& at(MPI_Datatype handle) { return *from_handle(handle); }

// Predefined types ----------------------------------------------------------------------------------------------------

struct Expected {
  MPI_Datatype handle;
  const char* name;
  std::size_t size, extent, alignment;
};
template <class T>
Expected expect(MPI_Datatype handle, const char* name) {
  return {handle, name, sizeof(T), sizeof(T), alignof(T)};
}
template <class T>
Expected expect_pair(MPI_Datatype handle, const char* name) {
  struct Pair {
    T value;
    int index;
  };
  return {handle, name, sizeof(T) + sizeof(int), sizeof(Pair), alignof(Pair)};
}
template <class T>
struct Two {
  T a, b;
};
#define TYPE(T, handle) expect<T>(handle, #handle)
#define PAIR(T, handle) expect_pair<T>(handle, #handle)

const Expected kPredefined[] = {
    TYPE(MPI_Aint, MPI_AINT),
    TYPE(MPI_Count, MPI_COUNT),
    TYPE(MPI_Offset, MPI_OFFSET),
    TYPE(char, MPI_PACKED),
    TYPE(short, MPI_SHORT),
    TYPE(int, MPI_INT),
    TYPE(long, MPI_LONG),
    TYPE(long long, MPI_LONG_LONG_INT),
    TYPE(unsigned short, MPI_UNSIGNED_SHORT),
    TYPE(unsigned, MPI_UNSIGNED),
    TYPE(unsigned long, MPI_UNSIGNED_LONG),
    TYPE(unsigned long long, MPI_UNSIGNED_LONG_LONG),
    TYPE(float, MPI_FLOAT),
    TYPE(std::complex<float>, MPI_C_COMPLEX),
    TYPE(std::complex<float>, MPI_CXX_FLOAT_COMPLEX),
    TYPE(double, MPI_DOUBLE),
    TYPE(std::complex<double>, MPI_C_DOUBLE_COMPLEX),
    TYPE(std::complex<double>, MPI_CXX_DOUBLE_COMPLEX),
    TYPE(std::int32_t, MPI_LOGICAL),
    TYPE(std::int32_t, MPI_INTEGER),
    TYPE(float, MPI_REAL),
    TYPE(std::complex<float>, MPI_COMPLEX),
    TYPE(double, MPI_DOUBLE_PRECISION),
    TYPE(std::complex<double>, MPI_DOUBLE_COMPLEX),
    TYPE(char, MPI_CHARACTER),
    TYPE(long double, MPI_LONG_DOUBLE),
    TYPE(std::complex<long double>, MPI_C_LONG_DOUBLE_COMPLEX),
    TYPE(std::complex<long double>, MPI_CXX_LONG_DOUBLE_COMPLEX),
    PAIR(float, MPI_FLOAT_INT),
    PAIR(double, MPI_DOUBLE_INT),
    PAIR(long, MPI_LONG_INT),
    PAIR(int, MPI_2INT),
    PAIR(short, MPI_SHORT_INT),
    PAIR(long double, MPI_LONG_DOUBLE_INT),
    TYPE(Two<float>, MPI_2REAL),
    TYPE(Two<double>, MPI_2DOUBLE_PRECISION),
    TYPE(Two<std::int32_t>, MPI_2INTEGER),
    TYPE(bool, MPI_C_BOOL),
    TYPE(bool, MPI_CXX_BOOL),
    TYPE(wchar_t, MPI_WCHAR),
    TYPE(std::int8_t, MPI_INT8_T),
    TYPE(std::uint8_t, MPI_UINT8_T),
    TYPE(char, MPI_CHAR),
    TYPE(signed char, MPI_SIGNED_CHAR),
    TYPE(unsigned char, MPI_UNSIGNED_CHAR),
    TYPE(char, MPI_BYTE),
    TYPE(std::int16_t, MPI_INT16_T),
    TYPE(std::uint16_t, MPI_UINT16_T),
    TYPE(std::int32_t, MPI_INT32_T),
    TYPE(std::uint32_t, MPI_UINT32_T),
    TYPE(std::int64_t, MPI_INT64_T),
    TYPE(std::uint64_t, MPI_UINT64_T),
    TYPE(std::int8_t, MPI_LOGICAL1),
    TYPE(std::int8_t, MPI_INTEGER1),
    TYPE(std::int16_t, MPI_LOGICAL2),
    TYPE(std::int16_t, MPI_INTEGER2),
    TYPE(std::int16_t, MPI_REAL2),
    TYPE(std::int32_t, MPI_LOGICAL4),
    TYPE(std::int32_t, MPI_INTEGER4),
    TYPE(float, MPI_REAL4),
    TYPE(Two<std::int16_t>, MPI_COMPLEX4),
    TYPE(std::int64_t, MPI_LOGICAL8),
    TYPE(std::int64_t, MPI_INTEGER8),
    TYPE(double, MPI_REAL8),
    TYPE(std::complex<float>, MPI_COMPLEX8),
    TYPE(__int128, MPI_LOGICAL16),
    TYPE(__int128, MPI_INTEGER16),
    TYPE(__float128, MPI_REAL16),
    TYPE(std::complex<double>, MPI_COMPLEX16),
    TYPE(Two<__float128>, MPI_COMPLEX32),
};

TEST(Predefined, SizeExtentAndAlignmentAreThoseOfTheLanguage) {
  for (const Expected& e : kPredefined) {
    SCOPED_TRACE(e.name);
    ASSERT_NE(from_handle(e.handle), nullptr);
    const Datatype& t = at(e.handle);
    EXPECT_EQ(t.size, static_cast<MPI_Count>(e.size));
    EXPECT_EQ(t.extent, static_cast<MPI_Count>(e.extent));
    EXPECT_EQ(t.alignment, e.alignment);
    EXPECT_EQ(t.lb, 0);
    EXPECT_EQ(t.true_lb, 0);
    EXPECT_EQ(t.contiguous, e.size == e.extent);
    EXPECT_TRUE(t.predefined && t.committed);
    EXPECT_EQ(to_handle(&t), e.handle);
    char name[MPI_MAX_OBJECT_NAME];
    int length;
    ASSERT_TRUE(api::type_get_name(at(e.handle), name, &length));
    EXPECT_STREQ(name, e.name);
    EXPECT_EQ(length, static_cast<int>(std::strlen(e.name)));
  }
}

TEST(Predefined, EveryConstantIsInTheTableAndNothingElseIs) {
  int found = 0;
  for (std::uintptr_t v = 0; v < kPredefinedLimit; ++v) {
    const Datatype* t = predefined_datatype(v);
    if (t == nullptr) continue;
    ++found;
    EXPECT_EQ(static_cast<std::uintptr_t>(t->fortran_index), v);
  }
  EXPECT_EQ(found, static_cast<int>(std::size(kPredefined)));
  EXPECT_EQ(from_handle(MPI_DATATYPE_NULL), nullptr);
}

TEST(Predefined, PairsEndWithTheirIndex) {
  EXPECT_EQ(at(MPI_SHORT_INT).true_extent, 8);
  EXPECT_EQ(at(MPI_DOUBLE_INT).true_extent, 12);
  EXPECT_EQ(at(MPI_LONG_DOUBLE_INT).true_extent, 20);
}

TEST(Predefined, MayNotBeFreed) {
  MPI_Datatype t = MPI_INT;
  EXPECT_EQ(api::type_free(&t).error_class(), MPI_ERR_TYPE);
  EXPECT_EQ(t, MPI_INT);
}

// Bounds --------------------------------------------------------------------------------------------------------------

RC_GTEST_PROP(Bounds, AreThoseOfTheTypeMap, ()) {
  const Typed t = test::random_type(test::pick(1, 5));
  MPI_Count size, lb, extent, true_lb, true_extent;
  RC_ASSERT(bool(api::type_size(t.type(), &size)));
  RC_ASSERT(bool(api::type_get_extent(t.type(), &lb, &extent)));
  RC_ASSERT(bool(api::type_get_true_extent(t.type(), &true_lb, &true_extent)));
  RC_ASSERT(size == t.map.size());
  RC_ASSERT(true_lb == t.map.true_lb());
  RC_ASSERT(true_extent == t.map.true_ub() - t.map.true_lb());
  RC_ASSERT(lb == t.map.lb());
  RC_ASSERT(extent == t.map.extent());
}

Owned structure(std::vector<MPI_Count> lengths, std::vector<MPI_Count> displacements, std::vector<MPI_Datatype> types) {
  Owned made;
  EXPECT_TRUE(api::type_create_struct(static_cast<MPI_Count>(lengths.size()), IntArray(lengths.data()),
                                      IntArray(displacements.data()), types.data(), &made, false));
  return made;
}

// MPI 4.1, example 5.1: {(double, 0), (char, 8)} has extent 16.
TEST(Bounds, AStructIsRoundedUpToItsAlignment) {
  const Owned t = structure({1, 1}, {0, 8}, {MPI_DOUBLE, MPI_CHAR});
  EXPECT_EQ(at(t).size, 9);
  EXPECT_EQ(at(t).extent, 16);
  EXPECT_EQ(at(t).true_extent, 9);
  EXPECT_FALSE(at(t).contiguous);
}

// Example 5.2 and after: three of them, and a vector of them.
TEST(Bounds, OfTheStandardsContiguousAndVector) {
  const Owned old = structure({1, 1}, {0, 8}, {MPI_DOUBLE, MPI_CHAR});
  Owned t;
  ASSERT_TRUE(api::type_contiguous(3, at(old), &t, false));
  EXPECT_EQ(at(t).extent, 48);
  EXPECT_EQ(at(t).true_extent, 41);
  ASSERT_TRUE(api::type_vector(2, 3, 4, at(old), &t, false));  // blocks at 0 and 64
  EXPECT_EQ(at(t).extent, 64 + 48);
  ASSERT_TRUE(api::type_vector(3, 1, -2, at(old), &t, false));  // at 0, -32, -64
  EXPECT_EQ(at(t).lb, -64);
  EXPECT_EQ(at(t).extent, 80);
}

// 5.1.7: markers of a component win over its data and over components without.
TEST(Bounds, MarkersAreSticky) {
  Owned resized;
  ASSERT_TRUE(api::type_create_resized(at(MPI_INT), -3, 9, &resized, false));
  EXPECT_EQ(at(resized).lb, -3);
  EXPECT_EQ(at(resized).extent, 9);
  EXPECT_EQ(at(resized).true_lb, 0);
  EXPECT_EQ(at(resized).true_extent, 4);
  Owned t;
  ASSERT_TRUE(api::type_contiguous(2, at(resized), &t, false));  // ints at 0 and 9, bounds -3 and 15
  EXPECT_EQ(at(t).lb, -3);
  EXPECT_EQ(at(t).extent, 18);
  const Owned mixed = structure({1, 1}, {0, 100}, {resized, MPI_INT});
  EXPECT_EQ(at(mixed).lb, -3);
  EXPECT_EQ(at(mixed).extent, 9);
  EXPECT_EQ(at(mixed).true_extent, 104);
  Owned again;
  ASSERT_TRUE(api::type_create_resized(at(mixed), 0, 4, &again, false));
  EXPECT_EQ(at(again).lb, 0);
  EXPECT_EQ(at(again).extent, 4);
}

TEST(Bounds, NothingHasNone) {
  Owned t;
  ASSERT_TRUE(api::type_contiguous(0, at(MPI_DOUBLE), &t, false));
  EXPECT_EQ(at(t).size, 0);
  EXPECT_EQ(at(t).extent, 0);
  EXPECT_TRUE(at(t).contiguous);
  const Owned s = structure({1, 1}, {100, 8}, {t, MPI_CHAR});  // an empty component has no place
  EXPECT_EQ(at(s).lb, 8);
  EXPECT_EQ(at(s).extent, 1);
}

TEST(Bounds, BasicTypeOfAllLeaves) {
  EXPECT_EQ(at(structure({2, 3}, {0, 64}, {MPI_INT, MPI_INT32_T})).basic, Basic::kInt32);
  EXPECT_EQ(at(structure({2, 3}, {0, 64}, {MPI_INT, MPI_UNSIGNED})).basic, Basic::kNone);
}

TEST(Bounds, TwiceAPebibyteIsFine) {
  Owned t, u;
  ASSERT_TRUE(api::type_contiguous(MPI_Count{1} << 50, at(MPI_BYTE), &t, true));
  ASSERT_TRUE(api::type_vector(2, 1, 1 << 3, at(t), &u, true));
  EXPECT_EQ(at(u).size, MPI_Count{1} << 51);
  EXPECT_EQ(at(u).extent, (MPI_Count{1} << 53) + (MPI_Count{1} << 50));
}

TEST(Bounds, OverflowIsAnError) {
  Owned big, t;
  ASSERT_TRUE(api::type_contiguous(MPI_Count{1} << 40, at(MPI_DOUBLE), &big, true));
  const MPI_Count huge = MPI_Count{1} << 40, one = 1, minus = -huge;
  EXPECT_EQ(api::type_contiguous(huge, at(big), &t, true).error_class(), MPI_ERR_COUNT);
  EXPECT_EQ(api::type_vector(2, 1, huge, at(big), &t, true).error_class(), MPI_ERR_COUNT);
  EXPECT_EQ(api::type_vector(huge, huge, 1, at(MPI_INT), &t, true).error_class(), MPI_ERR_COUNT);
  EXPECT_EQ(api::type_create_hvector(3, 1, INT64_MAX / 2, at(MPI_INT), &t, true).error_class(), MPI_ERR_COUNT);
  EXPECT_EQ(api::type_indexed(1, IntArray(&one), IntArray(&huge), at(big), &t, true).error_class(), MPI_ERR_COUNT);
  EXPECT_EQ(api::type_indexed(1, IntArray(&one), IntArray(&minus), at(big), &t, true).error_class(), MPI_ERR_COUNT);
  EXPECT_EQ(api::type_create_resized(at(MPI_INT), INT64_MAX, 1, &t, true).error_class(), MPI_ERR_COUNT);
  const MPI_Count far = INT64_MAX - 2;
  EXPECT_EQ(api::type_create_hindexed(1, IntArray(&one), IntArray(&far), at(MPI_INT), &t, true).error_class(),
            MPI_ERR_COUNT);
  const MPI_Count sizes[] = {huge, huge}, starts[] = {0, 0};
  EXPECT_EQ(api::type_create_subarray(2, IntArray(sizes), IntArray(sizes), IntArray(starts), MPI_ORDER_C, at(MPI_INT),
                                      &t, true)
                .error_class(),
            MPI_ERR_COUNT);
  EXPECT_EQ(t.raw(), MPI_DATATYPE_NULL);
}

TEST(Subarray, RefusesWhatIsOutside) {
  const int sizes[] = {4}, subsizes[] = {3}, starts[] = {2}, zero[] = {0};
  Owned t;
  const auto make = [&](int n, const int* sub, const int* start, int order) {
    return api::type_create_subarray(n, IntArray(sizes), IntArray(sub), IntArray(start), order, at(MPI_INT), &t, false)
        .error_class();
  };
  EXPECT_EQ(make(1, subsizes, starts, MPI_ORDER_C), MPI_ERR_ARG);
  EXPECT_EQ(make(1, zero, zero, MPI_ORDER_C), MPI_ERR_ARG);
  EXPECT_EQ(make(0, subsizes, zero, MPI_ORDER_C), MPI_ERR_ARG);
  EXPECT_EQ(make(1, subsizes, zero, 7), MPI_ERR_ARG);
  EXPECT_EQ(make(1, subsizes, zero, MPI_ORDER_FORTRAN), MPI_SUCCESS);
}

// Life ----------------------------------------------------------------------------------------------------------------

TEST(Life, CommitAndFree) {
  Owned t;
  ASSERT_TRUE(api::type_contiguous(2, at(MPI_INT), &t, false));
  EXPECT_FALSE(at(t).committed);
  const MPI_Datatype old = t;
  ASSERT_TRUE(api::type_commit(&t.raw()));
  EXPECT_EQ(t.raw(), old);
  EXPECT_TRUE(at(t).committed);
  ASSERT_TRUE(api::type_free(&t.raw()));
  EXPECT_EQ(t.raw(), MPI_DATATYPE_NULL);
  EXPECT_EQ(from_handle(old), nullptr);
}

TEST(Life, ComponentsMayBeFreedFirst) {
  Owned inner = structure({1, 1}, {0, 9}, {MPI_DOUBLE, MPI_CHAR}), outer;
  ASSERT_TRUE(api::type_vector(3, 2, 5, at(inner), &outer, false));
  ASSERT_TRUE(api::type_free(&inner.raw()));
  const Node& node = at(outer).layout.node;
  EXPECT_EQ(node.size, 3 * 2 * 9);
  int integers[3];
  Owned type;
  ASSERT_TRUE(api::type_get_contents(at(outer), 3, 0, 1, integers, nullptr, &type));
  EXPECT_EQ(at(type).extent, 16);  // alive again, as an object of its own
  EXPECT_EQ(at(type).combiner(), MPI_COMBINER_STRUCT);
  ASSERT_TRUE(api::type_free(&outer.raw()));
  EXPECT_EQ(at(type).layout.node.size, 9);
  ASSERT_TRUE(api::type_free(&type.raw()));
}

TEST(Life, ADuplicateOutlivesItsOriginal) {
  Owned t = structure({1, 1}, {0, 9}, {MPI_DOUBLE, MPI_CHAR}), copy;
  ASSERT_TRUE(api::type_commit(&t.raw()));
  ASSERT_TRUE(api::type_set_name(at(t), "original"));
  ASSERT_TRUE(api::type_dup(at(t), &copy));
  ASSERT_TRUE(api::type_free(&t.raw()));
  EXPECT_TRUE(at(copy).committed);
  EXPECT_EQ(at(copy).layout.node.blocks[1].offset, 9);
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  ASSERT_TRUE(api::type_get_name(at(copy), name, &length));
  EXPECT_EQ(length, 0);
  ASSERT_TRUE(api::type_free(&copy.raw()));
}

TEST(Life, NamesAreCutToTheirLimit) {
  Owned t;
  ASSERT_TRUE(api::type_dup(at(MPI_INT), &t));
  const std::string long_name(MPI_MAX_OBJECT_NAME + 50, 'n');
  ASSERT_TRUE(api::type_set_name(at(t), long_name.c_str()));
  char name[MPI_MAX_OBJECT_NAME];
  int length;
  ASSERT_TRUE(api::type_get_name(at(t), name, &length));
  EXPECT_EQ(length, MPI_MAX_OBJECT_NAME - 1);
  EXPECT_EQ(long_name.substr(0, MPI_MAX_OBJECT_NAME - 1), name);
}

// Contents ------------------------------------------------------------------------------------------------------------

struct Record {
  int combiner;
  std::vector<int> integers;
  std::vector<MPI_Count> addresses, counts;
  std::vector<MPI_Datatype> types;
  bool operator==(const Record&) const = default;
};

Record record_of(MPI_Datatype t) {
  MPI_Count ni, na, nc, nt;
  Record r;
  EXPECT_TRUE(api::type_get_envelope(at(t), &ni, &na, &nc, &nt, &r.combiner));
  r.integers.resize(ni);
  r.addresses.resize(na);
  r.counts.resize(nc);
  r.types.resize(nt);
  EXPECT_TRUE(api::type_get_contents(at(t), ni, na, nc, nt, r.integers.data(), r.addresses.data(), r.counts.data(),
                                     r.types.data()));
  return r;
}

TEST(Contents, AreTheArgumentsInTheFormThatWasCalled) {
  const int il[] = {1, 2}, id[] = {7, 9};
  const MPI_Count cl[] = {1, 2}, cd[] = {7, 9};
  const MPI_Datatype types[] = {MPI_INT, MPI_CHAR};
  const IntArray l(il), d(id), wl(cl), wd(cd);
  Datatype& b = at(MPI_INT);
  const std::vector<MPI_Datatype> old = {MPI_INT};
  Owned t;

  ASSERT_TRUE(api::type_dup(b, &t));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_DUP, {}, {}, {}, old}));
  ASSERT_TRUE(api::type_contiguous(5, b, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_CONTIGUOUS, {5}, {}, {}, old}));
  ASSERT_TRUE(api::type_contiguous(5, b, &t, true));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_CONTIGUOUS, {}, {}, {5}, old}));
  ASSERT_TRUE(api::type_vector(5, 2, -3, b, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_VECTOR, {5, 2, -3}, {}, {}, old}));
  ASSERT_TRUE(api::type_create_hvector(5, 2, -3, b, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_HVECTOR, {5, 2}, {-3}, {}, old}));
  ASSERT_TRUE(api::type_create_hvector(5, 2, -3, b, &t, true));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_HVECTOR, {}, {}, {5, 2, -3}, old}));
  ASSERT_TRUE(api::type_indexed(2, l, d, b, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_INDEXED, {2, 1, 2, 7, 9}, {}, {}, old}));
  ASSERT_TRUE(api::type_create_hindexed(2, l, wd, b, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_HINDEXED, {2, 1, 2}, {7, 9}, {}, old}));
  ASSERT_TRUE(api::type_create_indexed_block(2, 3, d, b, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_INDEXED_BLOCK, {2, 3, 7, 9}, {}, {}, old}));
  ASSERT_TRUE(api::type_create_hindexed_block(2, 3, wd, b, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_HINDEXED_BLOCK, {2, 3}, {7, 9}, {}, old}));
  ASSERT_TRUE(api::type_create_hindexed_block(2, 3, wd, b, &t, true));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_HINDEXED_BLOCK, {}, {}, {2, 3, 7, 9}, old}));
  ASSERT_TRUE(api::type_create_struct(2, l, wd, types, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_STRUCT, {2, 1, 2}, {7, 9}, {}, {MPI_INT, MPI_CHAR}}));
  ASSERT_TRUE(api::type_create_struct(2, wl, wd, types, &t, true));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_STRUCT, {}, {}, {2, 1, 2, 7, 9}, {MPI_INT, MPI_CHAR}}));
  ASSERT_TRUE(api::type_create_subarray(2, d, l, l, MPI_ORDER_C, b, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_SUBARRAY, {2, 7, 9, 1, 2, 1, 2, MPI_ORDER_C}, {}, {}, old}));
  ASSERT_TRUE(api::type_create_subarray(2, wd, wl, wl, MPI_ORDER_C, b, &t, true));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_SUBARRAY, {2, MPI_ORDER_C}, {}, {7, 9, 1, 2, 1, 2}, old}));
  ASSERT_TRUE(api::type_create_resized(b, -4, 40, &t, false));
  EXPECT_EQ(record_of(t), (Record{MPI_COMBINER_RESIZED, {}, {-4, 40}, {}, old}));
}

TEST(Contents, ThePlainFormRefusesLargeCounts) {
  Owned t;
  ASSERT_TRUE(api::type_contiguous(5, at(MPI_INT), &t, true));
  MPI_Count ni, na, nt;
  int combiner, integer;
  Owned type;
  EXPECT_EQ(api::type_get_envelope(at(t), &ni, &na, &nt, &combiner).error_class(), MPI_ERR_TYPE);
  EXPECT_EQ(api::type_get_contents(at(t), 1, 0, 1, &integer, nullptr, &type).error_class(), MPI_ERR_TYPE);
}

TEST(Contents, PredefinedTypesHaveNone) {
  MPI_Count ni, na, nt;
  int combiner;
  ASSERT_TRUE(api::type_get_envelope(at(MPI_INT), &ni, &na, &nt, &combiner));
  EXPECT_EQ(combiner, MPI_COMBINER_NAMED);
  EXPECT_EQ(ni + na + nt, 0);
  EXPECT_EQ(api::type_get_contents(at(MPI_INT), 0, 0, 0, nullptr, nullptr, nullptr).error_class(), MPI_ERR_TYPE);
}

TEST(Contents, TooLittleRoomIsAnError) {
  Owned t, type;
  ASSERT_TRUE(api::type_vector(1, 1, 1, at(MPI_INT), &t, false));
  int integers[3];
  EXPECT_EQ(api::type_get_contents(at(t), 2, 0, 1, integers, nullptr, &type).error_class(), MPI_ERR_ARG);
  EXPECT_EQ(api::type_get_contents(at(t), 3, 0, 0, integers, nullptr, &type).error_class(), MPI_ERR_ARG);
}

// Counts and elements -------------------------------------------------------------------------------------------------

MPI_Count count_of(MPI_Count bytes, MPI_Datatype t) {
  MPI_Status status{};
  set_status_bytes(status, bytes);
  MPI_Count n;
  EXPECT_TRUE(api::get_count(&status, at(t), &n));
  return n;
}
MPI_Count elements_of(MPI_Count bytes, MPI_Datatype t) {
  MPI_Status status{};
  set_status_bytes(status, bytes);
  MPI_Count n;
  EXPECT_TRUE(api::get_elements(&status, at(t), &n));
  return n;
}
MPI_Count bytes_of(MPI_Count elements, MPI_Datatype t) {
  MPI_Status status{};
  EXPECT_TRUE(api::status_set_elements(&status, at(t), elements));
  return status_bytes(status);
}

TEST(Elements, CountIsItemsAndOnlyWholeOnes) {
  EXPECT_EQ(count_of(12, MPI_INT), 3);
  EXPECT_EQ(count_of(13, MPI_INT), MPI_UNDEFINED);
  EXPECT_EQ(count_of(MPI_Count{1} << 40, MPI_DOUBLE), MPI_Count{1} << 37);
  Owned empty;
  ASSERT_TRUE(api::type_contiguous(0, at(MPI_INT), &empty, false));
  EXPECT_EQ(count_of(0, empty), 0);
  EXPECT_EQ(count_of(1, empty), MPI_UNDEFINED);
  EXPECT_EQ(elements_of(0, empty), 0);
}

TEST(Elements, OfAPartOfAnItem) {
  const Owned t = structure({1, 2, 1}, {0, 8, 20}, {MPI_INT, MPI_SHORT, MPI_DOUBLE_INT});  // 4+2+2+8+4
  EXPECT_EQ(elements_of(20, t), 5);
  EXPECT_EQ(elements_of(4, t), 1);
  EXPECT_EQ(elements_of(8, t), 3);
  EXPECT_EQ(elements_of(16, t), 4);  // the pair's value
  EXPECT_EQ(elements_of(5, t), MPI_UNDEFINED);
  EXPECT_EQ(elements_of(17, t), MPI_UNDEFINED);
  EXPECT_EQ(elements_of(46, t), 12);
  EXPECT_EQ(count_of(46, t), MPI_UNDEFINED);
  EXPECT_EQ(count_of(40, t), 2);
}

RC_GTEST_PROP(Elements, BytesThereAndBack, ()) {
  const Typed t = test::random_type(test::pick(1, 5));
  if (t.map.entries.empty()) return;
  const int n = test::pick(0, 3 * static_cast<int>(t.map.entries.size()));
  MPI_Count bytes = 0;
  for (int i = 0; i < n; ++i) bytes += t.map.entries[static_cast<std::size_t>(i) % t.map.entries.size()].size;
  RC_ASSERT(bytes_of(n, t.handle) == bytes);
  RC_ASSERT(elements_of(bytes, t.handle) == n);
  const int next = t.map.entries[static_cast<std::size_t>(n) % t.map.entries.size()].size;
  if (next > 1) RC_ASSERT(elements_of(bytes + 1, t.handle) == MPI_UNDEFINED);
}

TEST(Elements, MoreBytesThanAStatusHoldsIsAnError) {
  MPI_Status status{};
  EXPECT_EQ(api::status_set_elements(&status, at(MPI_DOUBLE), MPI_Count{1} << 61).error_class(), MPI_ERR_COUNT);
}

TEST(StatusLayout, HoldsBytesAndCancelled) {
  MPI_Status status{};
  set_status_bytes(status, (MPI_Count{1} << 62) + 5);
  set_status_cancelled(status, true);
  EXPECT_EQ(status_bytes(status), (MPI_Count{1} << 62) + 5);
  EXPECT_TRUE(status_cancelled(status));
}

}  // namespace
}  // namespace heddle::mpi
