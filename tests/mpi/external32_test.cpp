// external32 against bytes worked out by hand from MPI 5.0, table 14.2, and against its own way back.
#include "mpi/external32.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "mpi/api_datatype.hpp"
#include "mpi/api_external32.hpp"
#include "mpi/handle.hpp"

namespace heddle::mpi {
namespace {

Datatype& type_of(MPI_Datatype handle) { return *from_handle(handle); }

std::vector<int> packed(const Datatype& type, MPI_Count count, const void* from) {
  std::vector<std::byte> out(static_cast<std::size_t>(external32_size(type, count)));
  pack_external32(type, count, from, out.data());
  std::vector<int> numbers;
  for (std::byte b : out) numbers.push_back(std::to_integer<int>(b));
  return numbers;
}

using Bytes = std::vector<int>;

TEST(External32, IsBigEndianWithTheStandardsSizes) {
  const std::int32_t integer = -2;
  EXPECT_EQ(packed(type_of(MPI_INT), 1, &integer), (Bytes{255, 255, 255, 254}));
  const long longs[2] = {0x01020304, -1};
  EXPECT_EQ(packed(type_of(MPI_LONG), 2, longs), (Bytes{1, 2, 3, 4, 255, 255, 255, 255}));
  const long long big = 0x0102030405060708;
  EXPECT_EQ(packed(type_of(MPI_LONG_LONG), 1, &big), (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  EXPECT_EQ(packed(type_of(MPI_INT64_T), 1, &big), (Bytes{1, 2, 3, 4, 5, 6, 7, 8}));
  const double one = 1.0;
  EXPECT_EQ(packed(type_of(MPI_DOUBLE), 1, &one), (Bytes{0x3f, 0xf0, 0, 0, 0, 0, 0, 0}));
  const wchar_t wide = 0x20ac;
  EXPECT_EQ(packed(type_of(MPI_WCHAR), 1, &wide), (Bytes{0x20, 0xac}));
  const char text[] = {'h', 'i'};
  EXPECT_EQ(packed(type_of(MPI_CHAR), 2, text), (Bytes{'h', 'i'}));
}

TEST(External32, LongDoubleIsBinary128) {
  const long double values[2] = {1.0L, -1.5L};
  Bytes expected(32, 0);
  expected[0] = 0x3f, expected[1] = 0xff;
  expected[16] = 0xbf, expected[17] = 0xff, expected[18] = 0x80;
  EXPECT_EQ(packed(type_of(MPI_LONG_DOUBLE), 2, values), expected);
}

TEST(External32, PairsHaveNoPadding) {
  struct {
    short value;
    int index;
  } const pair = {0x0102, 0x03040506};
  EXPECT_EQ(packed(type_of(MPI_SHORT_INT), 1, &pair), (Bytes{1, 2, 3, 4, 5, 6}));
  struct {
    long value;
    int index;
  } const wide = {0x0102, 3};
  EXPECT_EQ(packed(type_of(MPI_LONG_INT), 1, &wide), (Bytes{0, 0, 1, 2, 0, 0, 0, 3}));
}

// Components alternate, lie apart and out of order; the signature's order is what counts.
TEST(External32, FollowsTheSignatureOfADerivedType) {
  struct Mixed {
    double real;
    char letter[3];
    short number;
  };
  MPI_Datatype handle;
  const int lengths[] = {1, 2, 1};
  const MPI_Aint places[] = {offsetof(Mixed, number), offsetof(Mixed, letter), offsetof(Mixed, real)};
  const MPI_Datatype types[] = {MPI_SHORT, MPI_CHAR, MPI_DOUBLE};
  ASSERT_TRUE(api::type_create_struct(3, IntArray(lengths), IntArray(places), types, &handle, false));
  MPI_Datatype resized;
  ASSERT_TRUE(api::type_create_resized(type_of(handle), 0, sizeof(Mixed), &resized, false));
  const Mixed in[2] = {{1.0, "ab", 0x0102}, {2.0, "cd", 0x0304}};
  const Bytes expected = {1, 2, 'a', 'b', 0x3f, 0xf0, 0, 0, 0, 0, 0, 0, 3, 4, 'c', 'd', 0x40, 0, 0, 0, 0, 0, 0, 0};
  EXPECT_EQ(packed(type_of(resized), 2, in), expected);

  std::vector<std::byte> bytes;
  for (int b : expected) bytes.push_back(static_cast<std::byte>(b));
  Mixed out[2] = {};
  unpack_external32(type_of(resized), 2, out, bytes.data());
  EXPECT_EQ(out[1].number, 0x0304);
  EXPECT_EQ(std::string(out[1].letter), "cd");
  EXPECT_EQ(out[1].real, 2.0);
  EXPECT_EQ(out[0].real, 1.0);
  EXPECT_TRUE(api::type_free(&resized));
  EXPECT_TRUE(api::type_free(&handle));
}

// Every predefined type comes back as it was, over more than one chunk.
TEST(External32, ComesBack) {
  int tried = 0;
  for (std::uintptr_t value = 0x201; value < 0x300; ++value) {
    const auto handle = reinterpret_cast<MPI_Datatype>(value);
    Datatype* type = from_handle(handle);
    if (type == nullptr || type->basic == Basic::kLongDouble || type->basic == Basic::kComplexLongDouble ||
        type->basic == Basic::kLongDoubleInt) {
      continue;  // not every pattern of bits is a long double
    }
    ++tried;
    const MPI_Count count = 5000;
    std::vector<unsigned char> in(static_cast<std::size_t>(count * type->extent)), out(in.size());
    // Values below 128 in the lowest byte of each word: they fit whatever is narrower outside.
    for (std::size_t i = 0; i < in.size(); i += 4) in[i] = static_cast<unsigned char>((i / 4) % 128);
    if (type->size != type->extent || handle == MPI_LONG || handle == MPI_UNSIGNED_LONG || handle == MPI_LONG_INT) {
      for (std::size_t i = 0; i < in.size(); ++i) {
        if (i % 8 != 0) in[i] = 0;
      }
    }
    std::vector<std::byte> bytes(static_cast<std::size_t>(external32_size(*type, count)));
    pack_external32(*type, count, in.data(), bytes.data());
    unpack_external32(*type, count, out.data(), bytes.data());
    EXPECT_EQ(in, out) << type->predefined_name;
  }
  EXPECT_GT(tried, 50);
}

TEST(External32, LongDoublesComeBack) {
  std::vector<long double> in = {
      0.0L,     -0.0L, 1.0L / 3, std::numeric_limits<long double>::max(), std::numeric_limits<long double>::infinity(),
      -1e-4000L};
  std::vector<long double> out(in.size());
  Datatype& type = type_of(MPI_LONG_DOUBLE);
  std::vector<std::byte> bytes(in.size() * 16);
  pack_external32(type, static_cast<MPI_Count>(in.size()), in.data(), bytes.data());
  unpack_external32(type, static_cast<MPI_Count>(in.size()), out.data(), bytes.data());
  EXPECT_EQ(in, out);
  EXPECT_TRUE(std::signbit(out[1]));
}

TEST(External32, SignsSurviveTheNarrowLong) {
  const long in[3] = {-5, std::numeric_limits<std::int32_t>::min(), 7};
  long out[3] = {};
  std::byte bytes[12];
  pack_external32(type_of(MPI_LONG), 3, in, bytes);
  unpack_external32(type_of(MPI_LONG), 3, out, bytes);
  EXPECT_EQ(std::vector<long>(out, out + 3), std::vector<long>(in, in + 3));
}

TEST(External32, RefusesOtherNamesAndShortBuffers) {
  char buffer[8];
  int value = 1;
  MPI_Count position = 0, size = 0;
  Datatype& type = type_of(MPI_INT);
  EXPECT_EQ(api::pack_external("native", &value, 1, type, buffer, 8, &position).error_class(),
            MPI_ERR_UNSUPPORTED_DATAREP);
  EXPECT_TRUE(api::pack_external_size("external32", 3, type, &size));
  EXPECT_EQ(size, 12);
  EXPECT_TRUE(api::pack_external("external32", &value, 1, type, buffer, 8, &position));
  EXPECT_EQ(position, 4);
  EXPECT_EQ(api::pack_external("external32", &value, 2, type, buffer, 8, &position).error_class(), MPI_ERR_TRUNCATE);
  EXPECT_EQ(position, 4);
  EXPECT_EQ(api::unpack_external("external32", buffer, 8, &(position = 8), &value, 1, type).error_class(),
            MPI_ERR_TRUNCATE);
}

}  // namespace
}  // namespace heddle::mpi
