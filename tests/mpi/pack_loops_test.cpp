// Every loop that packs blocks of one length, at every number of blocks: each byte, and none beside them. Memory and stream end
// where no memory follows.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <vector>

#include "mpi/pack.hpp"
#include "mpi/pack_copy.hpp"
#include "mpi/type_map.hpp"

namespace heddle::mpi {
namespace {

// So many bytes; behind the last one, and in the pages before the first, nobody may touch anything.
class Fenced {
 public:
  explicit Fenced(std::size_t bytes) : bytes_(bytes) {
    const std::size_t whole = (bytes + kPage - 1) / kPage * kPage;
    mapped_ = whole + 2 * kPage;
    base_ = static_cast<std::byte*>(mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_EQ(mprotect(base_ + kPage, whole, PROT_READ | PROT_WRITE), 0);
    data_ = base_ + kPage + whole - bytes;
  }
  ~Fenced() { munmap(base_, mapped_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  std::byte* data() const { return data_; }
  std::byte& operator[](std::size_t i) const { return data_[i]; }
  std::size_t size() const { return bytes_; }

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t bytes_, mapped_;
  std::byte *base_, *data_;
};

std::byte pattern(std::size_t i) { return static_cast<std::byte>(i * 131 + (i >> 8) * 7 + 3); }

void check(std::size_t block, std::size_t stride, std::size_t count, bool backwards) {
  SCOPED_TRACE(testing::Message() << count << " blocks of " << block << ", " << stride << " apart"
                                  << (backwards ? ", backwards" : ""));
  const std::size_t span = (count - 1) * stride + block;
  const Fenced memory(span), stream(count * block);
  const auto place = [&](std::size_t b) { return (backwards ? count - 1 - b : b) * stride; };
  const auto step = static_cast<MPI_Count>(stride);
  test::Owned type;
  ASSERT_TRUE(api::type_create_hvector(static_cast<MPI_Count>(count), static_cast<MPI_Count>(block),
                                       backwards ? -step : step, *from_handle(MPI_BYTE), &type, true));
  PackCursor cursor;
  cursor.init(*from_handle(type), 1, memory.data() + place(0));
  for (std::size_t i = 0; i < span; ++i) memory[i] = pattern(i);
  ASSERT_EQ(cursor.pack(stream.data(), stream.size()), stream.size());
  for (std::size_t b = 0; b < count; ++b) {
    ASSERT_TRUE(std::equal(&memory[place(b)], &memory[place(b)] + block, &stream[b * block])) << "block " << b;
  }
  for (std::size_t i = 0; i < stream.size(); ++i) stream[i] = pattern(i + 1);
  std::vector<std::byte> expected(memory.data(), memory.data() + span);
  for (std::size_t b = 0; b < count; ++b) {
    std::copy_n(&stream[b * block], block, expected.begin() + static_cast<std::ptrdiff_t>(place(b)));
  }
  cursor.seek(0);
  ASSERT_EQ(cursor.unpack(stream.data(), stream.size()), stream.size());
  ASSERT_TRUE(std::equal(expected.begin(), expected.end(), memory.data()));
}

TEST(PackLoops, EveryLengthAndNumberOfBlocks) {
  const std::size_t lengths[] = {1,  2,  3,  4,  7,   8,   9,   12,  15,  16,  17,  24,  31,  32,  33,  48,
                                 63, 64, 65, 96, 127, 128, 129, 192, 200, 256, 511, 512, 513, 600, 1024};
  for (std::size_t block : lengths) {
    for (std::size_t gap : {block, std::size_t{1}, 64 - block % 64}) {
      for (std::size_t count : {2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16, 17, 18, 33}) {
        check(block, block + gap, count, false);
        check(block, block + gap, count, true);
      }
    }
  }
}

// Past the caches: a row from any 16 bytes on, or lines at places of lines.
TEST(PackLoops, PastTheCaches) {
  if (!has_wide) GTEST_SKIP() << "this processor's vectors are shorter";
  for (std::size_t block : {64, 128, 320, 4096}) {
    for (std::size_t count : {1, 2, 5, 40}) {
      for (std::size_t from_gap : {std::size_t{0}, std::size_t{1}, std::size_t{64}, block}) {
        for (std::size_t to_gap : {std::size_t{0}, std::size_t{64}, std::size_t{192}}) {
          for (std::size_t shift = 0; shift < (to_gap == 0 ? 64U : 1U); shift += 16) {
            SCOPED_TRACE(testing::Message() << count << " blocks of " << block << ", gaps " << from_gap << ", "
                                            << to_gap << ", begun at " << shift);
            const std::size_t from_stride = block + from_gap, to_stride = block + to_gap;
            const Fenced from((count - 1) * from_stride + block), to(count * to_stride + 64 - shift);
            for (std::size_t i = 0; i < from.size(); ++i) from[i] = pattern(i);
            std::fill_n(to.data(), to.size(), std::byte{0x5a});
            std::vector<std::byte> expected(to.size(), std::byte{0x5a});
            // It ends where a page does, so it begins at `shift` in a line.
            for (std::size_t b = 0; b < count; ++b) {
              std::copy_n(&from[b * from_stride], block, expected.begin() + static_cast<std::ptrdiff_t>(b * to_stride));
            }
            copy_past_caches(from.data(), static_cast<MPI_Count>(from_stride), to.data(),
                             static_cast<MPI_Count>(to_stride), static_cast<MPI_Count>(count), block);
            ASSERT_TRUE(std::equal(expected.begin(), expected.end(), to.data()));
          }
        }
      }
    }
  }
}

// As much as goes that way.
TEST(PackLoops, MoreThanCachesKeep) {
  check(64, 128, static_cast<std::size_t>(kPastCachesFrom) / 64, false);
  check(256, 512, static_cast<std::size_t>(kPastCachesFrom) / 256 + 7, false);
}

// Columns that reach over more than a cache: the last few elements, too.
TEST(PackLoops, FarColumns) {
  constexpr auto kSpan = static_cast<std::size_t>(kFarSpan);
  check(8, 64, kSpan / 64, false);
  check(8, 72, kSpan / 72 + 4, false);
  check(24, 256, kSpan / 256 + 3, false);
  check(8, 16, static_cast<std::size_t>(kPastCachesFrom) / 8, false);
}

// A target that does not begin with a line, as most that malloc gives.
TEST(PackLoops, EveryOtherElementPastTheCachesToAnyPlace) {
  if (!has_wide) GTEST_SKIP() << "this processor's vectors are shorter";
  const auto count = static_cast<std::size_t>(kPastCachesFrom) / 8 + 5;
  std::vector<std::byte> from(16 * count), memory(8 * count + 64);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = pattern(i);
  for (std::size_t shift : {0, 8, 16, 56, 3}) {
    const std::size_t line = reinterpret_cast<std::uintptr_t>(memory.data()) % 64;
    std::byte* to = memory.data() + (64 - line + shift) % 64;
    std::fill(memory.begin(), memory.end(), std::byte{0});
    const auto done = static_cast<std::size_t>(copy_every_other(from.data(), to, static_cast<MPI_Count>(count)));
    EXPECT_GT(done + 9, count);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < 8 * count; ++i) {
      wrong += to[i] != (i < 8 * done ? from[i / 8 * 16 + i % 8] : std::byte{0});
    }
    EXPECT_EQ(wrong, 0u) << "with a target " << shift << " bytes into a line";
  }
}

// Memory that ends anywhere in a line: every element, and nothing in between.
TEST(PackLoops, IntoEveryOtherElementAtAnyPlace) {
  if (!has_wide) GTEST_SKIP() << "this processor's vectors are shorter";
  for (std::size_t tail : {0, 3, 8, 13, 16, 24, 48, 56}) {
    for (std::size_t count : {1, 7, 8, 9, 15, 30, 100}) {
      SCOPED_TRACE(testing::Message() << count << " elements, " << tail << " bytes before the end of a line");
      const Fenced row(8 * count), memory(16 * count - 8 + tail);
      for (std::size_t i = 0; i < row.size(); ++i) row[i] = pattern(i);
      for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = std::byte{0};
      const MPI_Count done = copy_into_every_other(row.data(), memory.data(), static_cast<MPI_Count>(count));
      ASSERT_LE(done, static_cast<MPI_Count>(count));
      ASSERT_GT(done + 8, static_cast<MPI_Count>(count));
      for (std::size_t i = 0; i < memory.size(); ++i) {
        const bool written = i % 16 < 8 && static_cast<MPI_Count>(i / 16) < done;
        ASSERT_EQ(memory[i], written ? row[i / 16 * 8 + i % 16] : std::byte{0}) << "byte " << i;
      }
    }
  }
}

// From any element of a line on.
TEST(PackLoops, ColumnsPastTheCaches) {
  if (!has_wide) GTEST_SKIP() << "this processor's vectors are shorter";
  for (std::size_t count = 0; count < 40; ++count) {
    for (std::size_t stride : {8, 9, 64, 100}) {
      SCOPED_TRACE(testing::Message() << count << " elements, " << stride << " apart");
      const Fenced from(count * stride + 8), to(count * 8);
      for (std::size_t i = 0; i < from.size(); ++i) from[i] = pattern(i);
      const MPI_Count done = copy_column_past_caches(from.data(), static_cast<MPI_Count>(stride), to.data(),
                                                     static_cast<MPI_Count>(count));
      ASSERT_GT(done + 8, static_cast<MPI_Count>(count));
      ASSERT_LE(done, static_cast<MPI_Count>(count));
      for (std::size_t i = 0; i < static_cast<std::size_t>(done) * 8; ++i) {
        ASSERT_EQ(to[i], from[i / 8 * stride + i % 8]) << "byte " << i;
      }
    }
  }
}

// At places that follow no rule, from any byte to any other.
TEST(PackLoops, BlocksOfOneLengthAnywhere) {
  constexpr std::size_t kCount = 7;
  for (std::size_t block : {3, 4, 8, 16, 24, 32, 40, 64, 100}) {
    std::vector<MPI_Count> displacements;
    std::vector<std::size_t> places;  // of the stream's bytes
    for (std::size_t i = 0, at = 0; i < kCount; ++i, at += block + 1 + i * i % 5) {
      displacements.push_back(static_cast<MPI_Count>(at));
      for (std::size_t k = 0; k < block; ++k) places.push_back(at + k);
    }
    test::Owned type;
    ASSERT_TRUE(api::type_create_hindexed_block(kCount, static_cast<MPI_Count>(block), IntArray(displacements.data()),
                                                *from_handle(MPI_BYTE), &type, true));
    const Fenced memory(places.back() + 1);
    for (std::size_t from = 0; from < places.size(); from += 1 + from % 11) {
      for (std::size_t to = from + 1; to <= places.size(); to += 1 + to % 23) {
        SCOPED_TRACE(testing::Message() << "blocks of " << block << ", bytes " << from << " to " << to);
        const Fenced stream(to - from);
        for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = pattern(i);
        PackCursor cursor;
        cursor.init(*from_handle(type), 1, memory.data());
        cursor.seek(from);
        ASSERT_EQ(cursor.pack(stream.data(), stream.size()), stream.size());
        for (std::size_t i = from; i < to; ++i) {
          ASSERT_EQ(stream[i - from], pattern(places[i]));
          stream[i - from] = pattern(i + 1);
        }
        cursor.seek(from);
        ASSERT_EQ(cursor.unpack(stream.data(), stream.size()), stream.size());
        std::vector<std::byte> expected;
        for (std::size_t i = 0; i < memory.size(); ++i) expected.push_back(pattern(i));
        for (std::size_t i = from; i < to; ++i) expected[places[i]] = pattern(i + 1);
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), memory.data()));
      }
    }
  }
}

// Columns of a matrix, the second behind the first.
TEST(PackLoops, Columns) {
  struct Matrix {
    std::size_t rows, row_bytes;
  };
  for (const Matrix& m : {Matrix{300, 160}, Matrix{256, 160}, Matrix{257, 104}, Matrix{21, 4096}}) {
    for (std::size_t item : {4, 8, 12, 16}) {
      for (std::size_t columns : {2, 3, 5}) {
        SCOPED_TRACE(testing::Message() << columns << " columns of " << m.rows << " items of " << item);
        test::Owned column, stepped;
        ASSERT_TRUE(api::type_create_hvector(static_cast<MPI_Count>(m.rows), static_cast<MPI_Count>(item),
                                             static_cast<MPI_Count>(m.row_bytes), *from_handle(MPI_BYTE), &column,
                                             true));
        ASSERT_TRUE(
            api::type_create_resized(*from_handle(column), 0, static_cast<MPI_Count>(item) + 4, &stepped, true));
        const Fenced memory((m.rows - 1) * m.row_bytes + (columns - 1) * (item + 4) + item);
        const Fenced stream(m.rows * columns * item);
        const auto place = [&](std::size_t i) {
          return i / (m.rows * item) * (item + 4) + i / item % m.rows * m.row_bytes + i % item;
        };
        for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = pattern(i);
        PackCursor cursor;
        cursor.init(*from_handle(stepped), static_cast<MPI_Count>(columns), memory.data());
        ASSERT_EQ(cursor.pack(stream.data(), stream.size()), stream.size());
        std::vector<std::byte> expected(memory.data(), memory.data() + memory.size());
        for (std::size_t i = 0; i < stream.size(); ++i) {
          ASSERT_EQ(stream[i], memory[place(i)]) << "byte " << i;
          expected[place(i)] = stream[i] = pattern(i + 7);
        }
        cursor.seek(0);
        ASSERT_EQ(cursor.unpack(stream.data(), stream.size()), stream.size());
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), memory.data()));
      }
    }
  }
}

// The same blocks as parts of structs: apart in the stream, too.
TEST(PackLoops, BlocksOfStructs) {
  for (MPI_Count length : {1, 4, 8, 12, 16, 40, 64, 100, 256, 600}) {
    const MPI_Count lengths[] = {length, 3}, displacements[] = {0, length + 8};
    const MPI_Datatype types[] = {MPI_BYTE, MPI_BYTE};
    const auto size = static_cast<std::size_t>(length) + 3, extent = static_cast<std::size_t>(length) + 11;
    test::Owned type;
    ASSERT_TRUE(api::type_create_struct(2, IntArray(lengths), IntArray(displacements), types, &type, true));
    for (std::size_t count : {1, 2, 5, 8, 9, 127, 128, 129, 300}) {
      SCOPED_TRACE(testing::Message() << count << " structs with a block of " << length);
      const Fenced memory(count * extent), stream(count * size);
      for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = pattern(i);
      PackCursor cursor;
      cursor.init(*from_handle(type), static_cast<MPI_Count>(count), memory.data());
      ASSERT_EQ(cursor.pack(stream.data(), stream.size()), stream.size());
      for (std::size_t i = 0; i < stream.size(); ++i) {
        const std::size_t in = i % size;
        const std::size_t at = i / size * extent + (in < static_cast<std::size_t>(length) ? in : in + 8);
        ASSERT_EQ(stream[i], pattern(at)) << "byte " << i;
        stream[i] = pattern(at + 1);
        memory[at] = std::byte{0};
      }
      cursor.seek(0);
      ASSERT_EQ(cursor.unpack(stream.data(), stream.size()), stream.size());
      for (std::size_t i = 0; i < memory.size(); ++i) {
        const std::size_t in = i % extent;
        const bool data = in < static_cast<std::size_t>(length) || in >= static_cast<std::size_t>(length) + 8;
        ASSERT_EQ(memory[i], pattern(data ? i + 1 : i)) << "byte " << i;
      }
    }
  }
}

}  // namespace
}  // namespace heddle::mpi
