// The helper thread of hot caching: it touches all of what is registered and nothing else, nothing of a range once its
// removal has returned, and it ends when it is told to, whatever it does then.
#include "match/hot_cache.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "match/block_engine.hpp"

namespace heddle::match {
namespace {

using namespace std::chrono_literals;
using Range = HotCache::Range;

constexpr std::size_t kSlots = 8, kSlotBytes = 100'000;  // a slot is two pieces
struct Slot {
  std::atomic<bool> registered{false};
  std::atomic<bool> touched_now{false};
  std::atomic<std::uint64_t> bytes{0};
};

// Memory in which ranges are registered, and what happened to it.
struct Watched {
  std::vector<std::byte> memory = std::vector<std::byte>(kSlots * kSlotBytes);
  Slot slots[kSlots];
  std::atomic<int> wrong{0};

  Range range(std::size_t i) const { return Range(memory).subspan(i * kSlotBytes, kSlotBytes); }
};
std::unique_ptr<Watched> watched;

void watch(Range piece) noexcept {
  const auto offset = static_cast<std::size_t>(piece.data() - watched->memory.data());
  const std::size_t i = offset / kSlotBytes;
  if (i >= kSlots || (offset + piece.size() - 1) / kSlotBytes != i) {
    ++watched->wrong;
    return;
  }
  Slot& slot = watched->slots[i];
  slot.touched_now = true;
  for (int n = 0; n < 20; ++n) std::this_thread::yield();
  if (!slot.registered) ++watched->wrong;
  slot.bytes += piece.size();
  slot.touched_now = false;
}

class HotCacheTest : public testing::Test {
 protected:
  HotCacheTest() { watched = std::make_unique<Watched>(); }
  ~HotCacheTest() override {
    hot.stop();
    EXPECT_EQ(watched->wrong, 0);
  }

  bool add(std::size_t i) {
    watched->slots[i].registered = true;
    return hot.add(watched->range(i));
  }
  void remove(std::size_t i) {
    hot.remove(watched->range(i));
    EXPECT_FALSE(watched->slots[i].touched_now);
    watched->slots[i].registered = false;
  }
  void wait_for_sweeps(std::uint64_t n) {
    while (hot.counts().sweeps < n) std::this_thread::yield();
  }

  HotCache hot{watch};
};

TEST_F(HotCacheTest, ASweepTouchesEachByteOnce) {
  for (std::size_t i : {0u, 1u, 5u}) ASSERT_TRUE(add(i));
  EXPECT_EQ(hot.counts().bytes, 0u) << "off until it is started";
  ASSERT_TRUE(hot.start(1h));  // one sweep, and the end does not wait for the next
  wait_for_sweeps(1);
  hot.stop();
  EXPECT_EQ(hot.counts().sweeps, 1u);
  EXPECT_EQ(hot.counts().bytes, 3 * kSlotBytes);
  for (std::size_t i = 0; i < kSlots; ++i) {
    EXPECT_EQ(watched->slots[i].bytes, i == 0 || i == 1 || i == 5 ? kSlotBytes : 0) << i;
  }
}

TEST_F(HotCacheTest, SweepsGoOnUntilTheStopAndAfterAnotherStart) {
  ASSERT_TRUE(add(2));
  for (int round = 1; round <= 3; ++round) {
    const std::uint64_t before = hot.counts().sweeps;
    ASSERT_TRUE(hot.start(10us));
    wait_for_sweeps(before + 5);
    hot.stop();
    hot.stop();
    EXPECT_GE(watched->slots[2].bytes, hot.counts().sweeps * kSlotBytes);
    EXPECT_LT(watched->slots[2].bytes, (hot.counts().sweeps + static_cast<unsigned>(round)) * kSlotBytes + 1)
        << "a stop cuts one sweep short at most";
  }
}

TEST_F(HotCacheTest, WithNothingToDoItWaitsAndTheFirstRangeWakesIt) {
  ASSERT_TRUE(hot.start(1h));
  EXPECT_EQ(hot.counts().sweeps, 0u);
  ASSERT_TRUE(hot.add({}));
  ASSERT_TRUE(add(3));
  wait_for_sweeps(1);
  EXPECT_EQ(watched->slots[3].bytes, kSlotBytes);
  remove(3);
  remove(4);  // never added
}

// Two threads add and remove, each its own half of the slots.
TEST_F(HotCacheTest, NothingIsTouchedAfterItsRemoval) {
  ASSERT_TRUE(hot.start(1us));
  const auto add_and_remove = [this](std::size_t first) {
    for (std::size_t i = first; i < first + kSlots / 2; ++i) {
      ASSERT_TRUE(add(i));
      wait_for_sweeps(hot.counts().sweeps + 2);  // the first may have begun before
    }
    std::mt19937 random(static_cast<unsigned>(first));
    for (int round = 0; round < 200; ++round) {
      const std::size_t i = first + random() % (kSlots / 2);
      if (watched->slots[i].registered) {
        remove(i);
      } else {
        ASSERT_TRUE(add(i));
      }
    }
    for (std::size_t i = first; i < first + kSlots / 2; ++i) remove(i);
  };
  std::thread other(add_and_remove, kSlots / 2);
  add_and_remove(0);
  other.join();
  const HotCache::Counts counts = hot.counts();
  EXPECT_GE(counts.sweeps, 2 * kSlots / 2);
  for (const Slot& slot : watched->slots) EXPECT_GT(slot.bytes, 0u);
  std::uint64_t bytes = 0;
  for (const Slot& slot : watched->slots) bytes += slot.bytes;
  EXPECT_EQ(bytes, counts.bytes);
}

// The real thing, over memory that nobody may read.
TEST(HotCachePrefetch, DoesNotFault) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* memory = mmap(nullptr, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  HotCache hot;
  ASSERT_TRUE(hot.add({static_cast<const std::byte*>(memory), 2 * page}));
  ASSERT_TRUE(hot.start(1us));
  while (hot.counts().sweeps < 3) std::this_thread::yield();
  munmap(memory, 2 * page);
  const std::uint64_t then = hot.counts().sweeps;
  while (hot.counts().sweeps < then + 3) std::this_thread::yield();
}

TEST(HotCachePrefetch, ACoreThatIsNotThereIsRefused) {
  HotCache hot;
  const Status status = hot.start(1us, 1000);
  EXPECT_FALSE(status);
  EXPECT_TRUE(hot.start(1us)) << "and it can be started elsewhere";
}

// The pools of an engine are registered as they grow, and no more when the engine has gone.
TEST_F(HotCacheTest, EnginesRegisterTheirPools) {
  HotCache cache([](Range) noexcept {});
  HotCache::set_of_pools(&cache);
  std::vector<ReceiveNode> receives(1000);
  auto engine = std::make_unique<ArrayListEngine<32>>();
  for (std::size_t i = 0; i < receives.size(); ++i) {
    receives[i].key = {1, 0, static_cast<int>(i)};
    ASSERT_EQ(engine->post(receives[i]), nullptr);
  }
  ASSERT_TRUE(cache.start(0ns));
  const std::uint64_t sweeps = cache.counts().sweeps;
  while (cache.counts().sweeps < sweeps + 2) std::this_thread::yield();
  cache.stop();
  const HotCache::Counts counts = cache.counts();
  EXPECT_GE(counts.bytes, counts.sweeps * receives.size() * (sizeof(Key) + sizeof(void*)));
  engine->drain_in_order([](ReceiveNode&) {}, [](MessageNode&) {});
  engine.reset();
  HotCache::set_of_pools(nullptr);
  EXPECT_FALSE(cache.holds_ranges());
}

}  // namespace
}  // namespace heddle::match
