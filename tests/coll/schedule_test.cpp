#include "coll/schedule.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "layout.hpp"

// The tests ask for more memory than there is; the sanitizers' allocators must say so as malloc does.
extern "C" const char* __asan_default_options() { return "allocator_may_return_null=1"; }
extern "C" const char* __tsan_default_options() { return "allocator_may_return_null=1"; }

namespace heddle::coll::test {
namespace {

struct Span {
  std::uintptr_t first, end;
};

// The bytes that items of a type take, from the lowest to the highest.
Span span_of(const Buffer& b) {
  const MPI_Count last = (b.count - 1) * b.type->extent;
  const auto at = reinterpret_cast<std::uintptr_t>(b.data) + static_cast<std::uintptr_t>(b.type->true_lb);
  return {at + static_cast<std::uintptr_t>(std::min<MPI_Count>(0, last)),
          at + static_cast<std::uintptr_t>(std::max<MPI_Count>(0, last) + b.type->true_extent)};
}

Datatype& resized(Datatype& type, MPI_Aint lb, MPI_Aint extent) {
  MPI_Datatype made;
  api::type_create_resized(type, lb, extent, &made, true).ignore();
  return *mpi::from_handle(made);
}

// Filled from end to end, no scratch may touch another, nor the schedule itself (the address sanitizer sees the rest).
TEST(Scratch, IsApartAlignedAndLargeEnough) {
  Datatype& downwards = resized(*layouts()[0].type, 0, -16);
  Schedule s(0, 1);
  for (int i = 0; i < 5; ++i) s.join();
  s.send(Buffer(nullptr, 0, mpi::byte_type()), 42);
  std::vector<Span> taken;
  for (int count : {1, 2, 7, 1000}) {
    for (Datatype* type : {layouts()[0].type, layouts()[1].type, layouts()[2].type, &downwards}) {
      const Buffer b = s.scratch(count, *type);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(b.data) % 64, 0u);
      const Span mine = span_of(b);
      for (const Span& other : taken) EXPECT_TRUE(mine.end <= other.first || other.end <= mine.first);
      taken.push_back(mine);
      std::memset(reinterpret_cast<void*>(mine.first), 0xFF, mine.end - mine.first);
    }
  }
  EXPECT_EQ(s.begin()->peer, 42);
  EXPECT_FALSE(s.failed());
  const auto at = reinterpret_cast<std::uintptr_t>(&s);
  for (const Span& t : taken) {
    const bool inside = t.first >= at && t.first < at + sizeof s;
    if (inside) {
      EXPECT_GE(t.first, at + sizeof s - Schedule::kInlineScratch);
      EXPECT_LE(t.end, at + sizeof s);
    }
  }
}

TEST(Scratch, OfAbsoluteAddresses) {
  std::int32_t value = 5;
  MPI_Datatype absolute;
  const MPI_Aint displacement = reinterpret_cast<MPI_Aint>(&value);
  ASSERT_TRUE(api::type_create_hindexed_block(1, 1, IntArray(&displacement), *layouts()[0].type, &absolute, true));
  Schedule s(0, 1);
  const Buffer b = s.scratch(3, *mpi::from_handle(absolute));
  const Span mine = span_of(b);
  std::memset(reinterpret_cast<void*>(mine.first), 0xFF, mine.end - mine.first);
  EXPECT_EQ(value, 5);
}

TEST(Scratch, RunsOutWithoutACrash) {
  for (MPI_Count count : {MPI_Count{1} << 46, MPI_Count{1} << 58, MPI_Count{INT64_MAX}}) {
    Schedule s(0, 1);
    s.scratch(count, *layouts()[1].type);
    EXPECT_TRUE(s.failed()) << count;
  }
}

TEST(Steps, AreKeptInOrderPastTheInlineOnes) {
  Schedule s(3, 1000);
  for (int i = 0; i < 1000; ++i) s.send(Buffer(nullptr, i, mpi::byte_type()), i);
  s.join();
  s.join();
  ASSERT_EQ(s.length(), 1001u);
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(s.begin()[i].kind, StepKind::kSend);
    EXPECT_EQ(s.begin()[i].peer, i);
    EXPECT_EQ(s.begin()[i].from.count, i);
  }
  EXPECT_EQ(s.begin()[1000].kind, StepKind::kJoin);
}

TEST(Blocks, InEveryForm) {
  std::vector<std::int32_t> data(100);
  Datatype& type = *layouts()[0].type;
  const int counts[] = {2, 0, 3};
  const std::int64_t wide[] = {10, 20, 30};
  const Blocks equal(Buffer(data.data(), 5, type));
  EXPECT_EQ(equal[2].data, &data[10]);
  EXPECT_EQ(equal[2].count, 5);
  const Blocks varying(data.data(), IntArray(counts), IntArray(wide), type);
  EXPECT_EQ(varying[0].data, &data[10]);
  EXPECT_EQ(varying[2].data, &data[30]);
  EXPECT_EQ(varying[2].count, 3);
  EXPECT_EQ(varying[1].bytes(), 0);
  const MPI_Datatype types[] = {MPI_SHORT, MPI_DATATYPE_NULL, MPI_DOUBLE};
  const Blocks typed(data.data(), IntArray(counts), IntArray(wide), types);
  EXPECT_EQ(typed[2].data, reinterpret_cast<char*>(data.data()) + 30);
  EXPECT_EQ(typed[2].bytes(), 24);
  EXPECT_EQ(typed[1].bytes(), 0);
}

}  // namespace
}  // namespace heddle::coll::test
