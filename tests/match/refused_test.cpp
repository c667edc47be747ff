// Engines without memory: what cannot be put where it belongs is found all the same, in its order, and what cannot be changed
// stays as it was.
#include <gtest/gtest.h>

#include <new>
#include <random>

#include "match/oracle.hpp"

namespace {
bool refusing = false;
int refused = 0;
}  // namespace

// The engines ask with nothrow, the test does not.
void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept {
  refused += refusing;
  return refusing ? nullptr : ::operator new(bytes);
}
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept {
  refused += refusing;
  return refusing ? nullptr : ::operator new[](bytes);
}
void* operator new(std::size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
  refused += refusing;
  return refusing ? nullptr : ::operator new(bytes, align);
}
void* operator new[](std::size_t bytes, std::align_val_t align, const std::nothrow_t&) noexcept {
  refused += refusing;
  return refusing ? nullptr : ::operator new[](bytes, align);
}

namespace heddle::match {
namespace {

// A program of many receives and messages, in which memory is refused for a while again and again.
template <class E>
void run(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&](unsigned n) { return static_cast<int>(random() % n); };
  Twin<E> twin;
  for (int i = 0; i < 3000; ++i) {
    if (i % 100 == 0) refusing = below(3) != 0;
    Key key{1, below(8), below(8)};
    Op op{below(2) == 0 ? Op::kPost : Op::kArrive, key};
    if (op.kind == Op::kPost && below(4) == 0) op.key.source = kAnySource;
    if (op.kind == Op::kPost && below(4) == 0) op.key.tag = kAnyTag;
    if (below(10) == 0) op = {Op::kCancel, {}, static_cast<unsigned>(below(3000))};
    if (below(300) == 0) op = {Op::kPurge, key};
    ASSERT_TRUE(twin.step(op)) << "operation " << i << " of seed " << seed;
  }
  EXPECT_TRUE(twin.finish());
  refusing = false;
}

template <class E>
class Refused : public testing::Test {};
TYPED_TEST_SUITE(Refused, EveryEngine);

TYPED_TEST(Refused, NothingIsLost) {
  refused = 0;
  for (unsigned seed = 0; seed < 10; ++seed) run<TypeParam>(seed);
  constexpr bool kNeedsNone = std::is_same_v<TypeParam, ListEngine> || std::is_same_v<TypeParam, TailQueueEngine> ||
                              std::is_same_v<TypeParam, ElidedTailQueue> || std::is_same_v<TypeParam, HashOfOneBin>;
  EXPECT_EQ(refused == 0, kNeedsNone) << refused;
}

TEST(Refused, AMatcherStaysAsItIs) {
  Matcher matcher;
  ReceiveNode receive;
  receive.key = {1, 0, 5};
  ASSERT_EQ(matcher.post(receive), nullptr);
  refusing = true;
  EXPECT_FALSE(matcher.use({EngineKind::kHash}));
  EXPECT_FALSE(matcher.use(1, {EngineKind::kVector}));
  EXPECT_FALSE(matcher.watch(1));
  EXPECT_FALSE(matcher.take_time(true));
  refusing = false;
  EXPECT_EQ(matcher.choice(), kDefaultEngine);
  EXPECT_EQ(matcher.own(1), nullptr);
  ASSERT_TRUE(matcher.use(1, {EngineKind::kVector}));
  refusing = true;
  EXPECT_FALSE(matcher.use(1, {EngineKind::kHash}));
  refusing = false;
  EXPECT_EQ(matcher.own(1)->choice, Choice{EngineKind::kVector});
  EXPECT_EQ(matcher.arrive({1, 0, 5}), &receive);
}

}  // namespace
}  // namespace heddle::match
