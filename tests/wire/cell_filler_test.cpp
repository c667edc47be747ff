#include "wire/cell_filler.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace heddle::wire {
namespace {

// A machine where a copy takes as long as the test says.
struct Slow {
  static inline std::int64_t time = 0;
  static inline std::int64_t through_ns = 0, past_ns = 0;
  static inline int throughs = 0, pasts = 0;
  static void through(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    RealCopies::through(to, from, bytes);
    time += through_ns, ++throughs;
  }
  static void past(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
    RealCopies::past(to, from, bytes);
    time += past_ns, ++pasts;
  }
  static std::int64_t now() noexcept { return time; }
};

class CellFillerTest : public testing::Test {
 protected:
  // How many of `n` fills went past the caches.
  int pasts_of(int n, std::size_t bytes = 16 << 10) {
    Slow::throughs = Slow::pasts = 0;
    for (int i = 0; i < n; ++i) filler.fill(to, from.data(), bytes);
    EXPECT_EQ(Slow::throughs + Slow::pasts, n);
    return Slow::pasts;
  }

  BasicCellFiller<Slow> filler;
  alignas(64) std::byte to[16 << 10];
  std::vector<std::byte> from = std::vector<std::byte>(16 << 10);
};

TEST_F(CellFillerTest, NearCoresFillThroughTheCaches) {
  Slow::through_ns = 350, Slow::past_ns = 500;
  EXPECT_LE(pasts_of(1000), 10) << "more looks than it says";
  EXPECT_FALSE(filler.goes_past(16 << 10));
}

TEST_F(CellFillerTest, FarCoresFillPastThem) {
  Slow::through_ns = 7000, Slow::past_ns = 600;
  EXPECT_GE(pasts_of(1000), 990);
  EXPECT_TRUE(filler.goes_past(16 << 10));
}

TEST_F(CellFillerTest, TheTwoMayBeMovedApartAndTogether) {
  Slow::past_ns = 600;
  for (int round = 0; round < 4; ++round) {
    Slow::through_ns = round % 2 == 0 ? 350 : 7000;
    pasts_of(1000);
    EXPECT_EQ(filler.goes_past(16 << 10), round % 2 == 1) << round;
  }
}

TEST_F(CellFillerTest, BetweenHalfAndTwoThirdsNothingChanges) {
  Slow::past_ns = 600, Slow::through_ns = 1050;
  pasts_of(1000);
  EXPECT_FALSE(filler.goes_past(16 << 10));
  Slow::through_ns = 7000;
  pasts_of(1000);
  Slow::through_ns = 1050;
  pasts_of(10000);
  EXPECT_TRUE(filler.goes_past(16 << 10));
}

TEST_F(CellFillerTest, AShortFillGoesPastThemWhereThatTakesAQuarter) {
  Slow::past_ns = 160, Slow::through_ns = 500;
  EXPECT_LE(pasts_of(1000, 4 << 10), 10);
  Slow::through_ns = 900;
  pasts_of(1000, 4 << 10);
  EXPECT_TRUE(filler.goes_past(4 << 10));
}

TEST_F(CellFillerTest, AFillThatLostItsCoreChangesNothing) {
  Slow::past_ns = 600, Slow::through_ns = 350;
  pasts_of(14 + 16);
  Slow::through_ns = 10'000'000;
  pasts_of(1);
  Slow::through_ns = 350;
  pasts_of(1000);
  EXPECT_FALSE(filler.goes_past(16 << 10));
}

TEST_F(CellFillerTest, ShortFillsAreJudgedApart) {
  Slow::past_ns = 600, Slow::through_ns = 7000;
  pasts_of(100, 16 << 10);
  Slow::through_ns = 350;
  pasts_of(100, 4 << 10);
  EXPECT_TRUE(filler.goes_past(16 << 10));
  EXPECT_FALSE(filler.goes_past(4 << 10));
}

TEST(StreamCopy, CopiesEachByteAndNoOther) {
  std::vector<std::byte> from(5000);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 256);
  alignas(64) static std::byte to[5000];
  for (std::size_t shift : {0, 1, 8, 63}) {
    for (std::size_t bytes : {0, 1, 63, 64, 65, 1000, 4096, 4159}) {
      std::fill(std::begin(to), std::end(to), std::byte{0xee});
      stream_copy(to, from.data() + shift, bytes);
      EXPECT_TRUE(std::equal(to, to + bytes, from.data() + shift)) << bytes << " from " << shift;
      EXPECT_EQ(to[bytes], std::byte{0xee}) << bytes;
    }
  }
}

}  // namespace
}  // namespace heddle::wire
