// What the random tests do not look at: node states, search depths, growth, and how keys spread over bins.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "match/grid.hpp"
#include "match/matcher.hpp"
#include "match/tail_queue.hpp"

namespace heddle::match {
namespace {

ReceiveNode receive_of(const Key& key) {
  ReceiveNode node;
  node.key = key;
  return node;
}

TEST(Key, ContextIsNeverAWildcardAndOthersAre) {
  EXPECT_TRUE(matches({7, kAnySource, kAnyTag}, {7, 3, 4}));
  EXPECT_FALSE(matches({7, kAnySource, kAnyTag}, {8, 3, 4}));
  EXPECT_TRUE(matches({7, 3, kAnyTag}, {7, 3, 4}));
  EXPECT_FALSE(matches({7, 2, kAnyTag}, {7, 3, 4}));
  EXPECT_TRUE(matches({7, kAnySource, 4}, {7, 3, 4}));
  EXPECT_FALSE(matches({7, kAnySource, 5}, {7, 3, 4}));
  EXPECT_FALSE(matches({7, kAnyTag, kAnySource}, {7, 3, 4})) << "each wildcard counts in its own field only";
}

template <class E>
class EngineTest : public testing::Test {
 protected:
  E engine;
};
using Engines = testing::Types<ListEngine, HashEngine, GridEngine, TailQueueEngine, Matcher>;
TYPED_TEST_SUITE(EngineTest, Engines);

TYPED_TEST(EngineTest, AMatchedReceiveCannotBeCancelled) {
  ReceiveNode receive = receive_of({1, 0, 5});
  EXPECT_EQ(this->engine.post(receive), nullptr);
  EXPECT_TRUE(receive.queued());
  EXPECT_EQ(this->engine.arrive({1, 0, 5}), &receive);
  EXPECT_FALSE(receive.queued());
  EXPECT_FALSE(this->engine.cancel(receive));
}

TYPED_TEST(EngineTest, ACancelledReceiveIsNotMatchedAndCanBePostedAgain) {
  ReceiveNode receive = receive_of({1, kAnySource, 5});
  this->engine.post(receive);
  EXPECT_TRUE(this->engine.cancel(receive));
  EXPECT_FALSE(this->engine.cancel(receive));
  EXPECT_EQ(this->engine.arrive({1, 2, 5}), nullptr);
  EXPECT_EQ(this->engine.post(receive), nullptr);
  EXPECT_EQ(this->engine.arrive({1, 2, 5}), &receive);
}

TYPED_TEST(EngineTest, ProbeLeavesTheMessageAndExtractTakesIt) {
  MessageNode message;
  message.key = {1, 4, 9};
  ASSERT_EQ(this->engine.arrive(message.key), nullptr);
  this->engine.add_unexpected(message);
  EXPECT_EQ(this->engine.probe({1, kAnySource, 9}), &message);
  EXPECT_TRUE(message.queued());
  EXPECT_EQ(this->engine.extract({1, 4, kAnyTag}), &message);
  EXPECT_FALSE(message.queued());
  EXPECT_EQ(this->engine.probe({1, kAnySource, 9}), nullptr);
}

TYPED_TEST(EngineTest, PurgeLeavesOtherContexts) {
  std::vector<ReceiveNode> receives(100);
  for (unsigned i = 0; i < receives.size(); ++i) {
    receives[i].key = {i % 2, static_cast<int>(i), 0};
    this->engine.post(receives[i]);
  }
  std::vector<ReceiveNode*> purged;
  this->engine.purge(
      1, [&](ReceiveNode& r) { purged.push_back(&r); }, [](MessageNode&) {});
  ASSERT_EQ(purged.size(), 50u);
  for (unsigned i = 0; i < 50; ++i) EXPECT_EQ(purged[i], &receives[2 * i + 1]);
  EXPECT_EQ(this->engine.stats().posted.length, 50u);
  EXPECT_EQ(this->engine.arrive({1, 1, 0}), nullptr);
  EXPECT_EQ(this->engine.arrive({0, 98, 0}), &receives[98]);
}

TEST(ListEngine, MeanSearchDepthIsOneInOrder) {
  constexpr int kDepth = 1000;
  std::vector<ReceiveNode> receives(kDepth);
  ListEngine engine;
  for (int i = 0; i < kDepth; ++i) {
    receives[static_cast<std::size_t>(i)].key = {1, i, i};
    engine.post(receives[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < kDepth; ++i) EXPECT_EQ(engine.arrive({1, i, i}), &receives[static_cast<std::size_t>(i)]);
  EXPECT_EQ(engine.stats().posted.searches, std::uint64_t{kDepth});
  EXPECT_EQ(engine.stats().posted.inspected, std::uint64_t{kDepth});
  EXPECT_EQ(engine.stats().posted.max_length, std::size_t{kDepth});
  EXPECT_EQ(engine.stats().posted.length, 0u);
}

// Draining n receives in a random order inspects (n + 3) / 4 a search, as the paper says.
TEST(ListEngine, MeanSearchDepthIsAQuarterOfTheQueueInRandomOrder) {
  constexpr int kDepth = 2000;
  std::vector<ReceiveNode> receives(kDepth);
  ListEngine engine;
  std::vector<int> order(kDepth);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), std::mt19937(5));
  for (int i = 0; i < kDepth; ++i) {
    receives[static_cast<std::size_t>(i)].key = {1, i, 0};
    engine.post(receives[static_cast<std::size_t>(i)]);
  }
  for (int i : order) engine.arrive({1, i, 0});
  const double mean = static_cast<double>(engine.stats().posted.inspected) / kDepth;
  EXPECT_NEAR(mean, (kDepth + 3) / 4.0, 0.05 * kDepth / 4.0);
}

struct Pattern {
  const char* name;
  Key (*key)(int i);
};
constexpr Pattern kPatterns[] = {
    {"sources",
     [](int i) {
       return Key{1, i, 0};
     }},
    {"tags",
     [](int i) {
       return Key{1, 0, i};
     }},
    {"tag = source",
     [](int i) {
       return Key{1, i, i};
     }},
    {"tags equal modulo 256",
     [](int i) {
       return Key{1, 0, 256 * i};
     }},
    {"tags equal modulo 64 Ki",
     [](int i) {
       return Key{1, 3, 65536 * (i & 0x7fff) + i / 0x8000};
     }},
    {"sources equal modulo 256",
     [](int i) {
       return Key{1, 256 * i, 1};
     }},
    {"tag = - source",
     [](int i) {
       return Key{1, i, 100000 - i};
     }},
    {"64 x 64",
     [](int i) {
       return Key{1, i % 64, i / 64};
     }},
    {"contexts",
     [](int i) {
       return Key{static_cast<std::uint32_t>(i), 0, 0};
     }},
    {"context = source = tag",
     [](int i) {
       return Key{static_cast<std::uint32_t>(i), i, i};
     }},
};

TEST(HashEngine, SearchesStayShortWhateverTheKeys) {
  constexpr int kDepth = 4096;
  for (const Pattern& pattern : kPatterns) {
    std::vector<ReceiveNode> receives(kDepth);
    HashEngine engine;
    for (int i = 0; i < kDepth; ++i) {
      receives[static_cast<std::size_t>(i)].key = pattern.key(i);
      ASSERT_EQ(engine.post(receives[static_cast<std::size_t>(i)]), nullptr);
    }
    for (int i = kDepth; i-- > 0;) ASSERT_EQ(engine.arrive(pattern.key(i)), &receives[static_cast<std::size_t>(i)]);
    const double mean = static_cast<double>(engine.stats().posted.inspected) / kDepth;
    EXPECT_LT(mean, 1.8) << pattern.name << ": a bin for each entry, random keys give 1.5";
  }
}

TEST(HashEngine, LongestBinIsShort) {
  for (const Pattern& pattern : kPatterns) {
    std::vector<int> load(4096, 0);
    for (int i = 0; i < 4096; ++i) ++load[mix(pattern.key(i)) & 4095];
    EXPECT_LE(*std::max_element(load.begin(), load.end()), 12) << pattern.name;
  }
}

TEST(Matcher, AutoGoesOverToTheHashAfterALongSearch) {
  constexpr int kDepth = 2 * static_cast<int>(Matcher::kLongSearch);
  for (EngineKind kind : {EngineKind::kAuto, EngineKind::kList}) {
    Matcher matcher(kind);
    std::vector<ReceiveNode> receives(kDepth);
    for (int i = 0; i < kDepth; ++i) {
      receives[static_cast<std::size_t>(i)].key = {1, 0, i};
      ASSERT_EQ(matcher.post(receives[static_cast<std::size_t>(i)]), nullptr);
    }
    // Short searches change nothing; the long one still gives what the list would.
    ASSERT_EQ(matcher.arrive({1, 0, 0}), &receives[0]);
    EXPECT_EQ(matcher.engine(), EngineKind::kList);
    for (int i = kDepth - 1; i > 0; --i) ASSERT_EQ(matcher.arrive({1, 0, i}), &receives[static_cast<std::size_t>(i)]);
    EXPECT_EQ(matcher.engine(), kind == EngineKind::kAuto ? EngineKind::kHash : EngineKind::kList);
    EXPECT_EQ(matcher.stats().posted.length, 0u);
  }
}

TEST(Matcher, EnginesHaveNames) {
  EXPECT_STREQ(name_of(EngineKind::kAuto), "auto");
  EXPECT_STREQ(name_of(EngineKind::kList), "list");
  EXPECT_STREQ(name_of(EngineKind::kHash), "hash");
}

TEST(Matcher, TotalsGoOnAcrossEngines) {
  Matcher matcher(EngineKind::kList);
  std::array<ReceiveNode, 5> receives;
  std::array<MessageNode, 3> messages;
  for (int i = 0; i < 5; ++i) {
    receives[static_cast<std::size_t>(i)].key = {1, 0, i};
    ASSERT_EQ(matcher.post(receives[static_cast<std::size_t>(i)]), nullptr);
  }
  for (int i = 0; i < 3; ++i) {
    messages[static_cast<std::size_t>(i)].key = {2, 0, i};
    matcher.add_unexpected(messages[static_cast<std::size_t>(i)]);
  }
  for (int i = 0; i < 4; ++i) ASSERT_NE(matcher.arrive({1, 0, i}), nullptr);
  matcher.use(EngineKind::kHash);
  EXPECT_EQ(matcher.stats().posted.max_length, 1u);  // the hash has not seen the others
  EXPECT_EQ(matcher.totals().posted.max_length, 5u);
  EXPECT_EQ(matcher.totals().posted.length, 1u);
  EXPECT_EQ(matcher.totals().unexpected.max_length, 3u);
  EXPECT_EQ(matcher.totals().unexpected.length, 3u);
  matcher.use(EngineKind::kList);
  EXPECT_EQ(matcher.totals().posted.max_length, 5u);
  EXPECT_EQ(matcher.totals().unexpected.length, 3u);
  matcher.drain_in_order([](ReceiveNode&) {}, [](MessageNode&) {});
}

}  // namespace
}  // namespace heddle::match
