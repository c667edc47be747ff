// What the random tests do not look at: node states, search depths, growth, and how keys spread over bins.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include "match/oracle.hpp"

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
TYPED_TEST_SUITE(EngineTest, EveryEngine);

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
  EXPECT_EQ(engine.stats().posted.searches(), std::uint64_t{kDepth});
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

// Random order inspects one entry a search once they are in bins; in order it does so in the list, to which a calm program
// comes back.
TEST(AdaptiveEngine, GoesToBinsAfterADeepSearchAndBackWhenMatchesAreInOrder) {
  constexpr int kDepth = 2000;
  AdaptiveEngine engine;
  std::vector<ReceiveNode> receives(kDepth);
  const auto post_all = [&] {
    for (int i = 0; i < kDepth; ++i) {
      receives[static_cast<std::size_t>(i)].key = {1, i, 0};
      ASSERT_EQ(engine.post(receives[static_cast<std::size_t>(i)]), nullptr);
    }
  };
  post_all();
  for (int i = kDepth; i-- > 0;) ASSERT_EQ(engine.arrive({1, i, 0}), &receives[static_cast<std::size_t>(i)]);
  EXPECT_LT(static_cast<double>(engine.stats().posted.inspected) / kDepth, 1.8);
  EXPECT_GT(engine.stats().posted.deepest(), 8u) << "the search that gave the list up";

  post_all();
  EXPECT_EQ(engine.arrive_at_front({1, 0, 0}), nullptr) << "still in bins: the last time was not in order";
  for (int i = 0; i < kDepth; ++i) ASSERT_EQ(engine.arrive({1, i, 0}), &receives[static_cast<std::size_t>(i)]);
  post_all();
  for (int i = 0; i < kDepth; ++i) ASSERT_EQ(engine.arrive_at_front({1, i, 0}), &receives[static_cast<std::size_t>(i)]);
  EXPECT_EQ(engine.stats().posted.length, 0u);
}

// One receive that waits for ever does not keep the others in the bins, nor one message those in the tables. By what is
// compared one sees where they are: in a list also the one that stays.
TEST(AdaptiveEngine, WhatStaysKeepsNobodyInBins) {
  constexpr int kDepth = 100;
  AdaptiveEngine engine;
  ReceiveNode receive_stays = receive_of({1, 0, 1'000'000});
  std::vector<ReceiveNode> receives(kDepth);
  engine.post(receive_stays);
  const auto receive_one = [&](int i) {
    const std::uint64_t before = engine.stats().posted.inspected;
    EXPECT_EQ(engine.arrive({1, i, 0}), &receives[static_cast<std::size_t>(i)]);
    return engine.stats().posted.inspected - before;
  };
  const auto post_all = [&] {
    for (int i = 0; i < kDepth; ++i) {
      receives[static_cast<std::size_t>(i)].key = {1, i, 0};
      ASSERT_EQ(engine.post(receives[static_cast<std::size_t>(i)]), nullptr);
    }
  };
  post_all();
  for (int i = kDepth; i-- > 0;) receive_one(i);
  for (int round = 0; round < 3; ++round) {
    post_all();
    for (int i = 0; i < kDepth; ++i) EXPECT_LE(receive_one(i), round == 0 ? 4u : 2u);
  }
  post_all();
  EXPECT_EQ(receive_one(0), 2u) << "not in the list again";

  MessageNode message_stays;
  message_stays.key = {2, 0, 1'000'000};
  std::vector<MessageNode> messages(kDepth);
  engine.add_unexpected(message_stays);
  const auto extract_one = [&](int i) {
    const std::uint64_t before = engine.stats().unexpected.inspected;
    EXPECT_EQ(engine.extract({2, i, 0}), &messages[static_cast<std::size_t>(i)]);
    return engine.stats().unexpected.inspected - before;
  };
  const auto add_all = [&] {
    for (int i = 0; i < kDepth; ++i) {
      messages[static_cast<std::size_t>(i)].key = {2, i, 0};
      engine.add_unexpected(messages[static_cast<std::size_t>(i)]);
    }
  };
  add_all();
  for (int i = kDepth; i-- > 0;) extract_one(i);
  for (int round = 0; round < 3; ++round) {
    add_all();
    for (int i = 0; i < kDepth; ++i) extract_one(i);
  }
  add_all();
  EXPECT_EQ(extract_one(0), 2u) << "not in the list again";
  EXPECT_EQ(engine.arrive(receive_stays.key), &receive_stays);
  EXPECT_EQ(engine.extract(message_stays.key), &message_stays);
  engine.drain_in_order([](ReceiveNode&) {}, [](MessageNode&) {});
}

// A receive that finds its message deep does not walk there a second time; one with wildcards not often.
TEST(AdaptiveEngine, DeepMessagesAreSoonFoundInOneStep) {
  constexpr int kDepth = 2000;
  constexpr Key kWanted[] = {{1, 7, 7}, {1, kAnySource, 7}, {1, 7, kAnyTag}};
  for (const Key& wanted : kWanted) {
    AdaptiveEngine engine;
    std::vector<MessageNode> messages(kDepth);
    for (int i = 0; i < kDepth; ++i) {
      messages[static_cast<std::size_t>(i)].key = i % 100 == 99 ? Key{1, 7, 7} : Key{1, 1000 + i, 1000 + i};
      engine.add_unexpected(messages[static_cast<std::size_t>(i)]);
    }
    for (int i = 99; i < kDepth; i += 100) ASSERT_EQ(engine.extract(wanted), &messages[static_cast<std::size_t>(i)]);
    const unsigned walked = has_wildcard(wanted) ? 4 * kDepth : 0;
    EXPECT_LT(engine.stats().unexpected.inspected, walked + 8u + 3 * kDepth / 100);
    EXPECT_EQ(engine.extract(wanted), nullptr);
    engine.drain_in_order([](ReceiveNode&) {}, [](MessageNode&) {});
  }
}

// Searches with wildcards that are rare walk the list, and get no table; when many that had one become rare, it goes.
TEST(AdaptiveEngine, FewWildcardsGetNoTable) {
  constexpr int kDepth = 64;
  AdaptiveEngine engine;
  std::vector<MessageNode> messages(kDepth);
  // So many of the receives, the youngest first, name any source; how many entries they compare on average.
  const auto take_all = [&](int wildcards) {
    for (int i = 0; i < kDepth; ++i) {
      messages[static_cast<std::size_t>(i)].key = {1, i, i};
      engine.add_unexpected(messages[static_cast<std::size_t>(i)]);
    }
    std::uint64_t inspected = 0;
    for (int i = kDepth, left = wildcards; i-- > 0; --left) {
      const std::uint64_t before = engine.stats().unexpected.inspected;
      EXPECT_EQ(engine.extract({1, left > 0 ? kAnySource : i, i}), &messages[static_cast<std::size_t>(i)]);
      if (left > 0) inspected += engine.stats().unexpected.inspected - before;
    }
    return static_cast<double>(inspected) / std::max(wildcards, 1);
  };
  for (int round = 0; round < 100; ++round) EXPECT_EQ(take_all(1), kDepth);
  for (int round = 0; round < 100; ++round) take_all(kDepth);
  EXPECT_LT(take_all(kDepth), 2) << "all of them, from the table";
  for (int round = 0; round < 100; ++round) take_all(1);
  EXPECT_EQ(take_all(1), kDepth) << "the table went when one in 64 was left";
  for (int round = 0; round < 100; ++round) take_all(kDepth);
  for (int round = 0; round < 200; ++round) take_all(0);
  EXPECT_EQ(take_all(1), kDepth) << "and when none was";
}

// The blocks of a queue with an old entry at its head, through which others pass, stay few; so do the entries that a search
// inspects.
TEST(BlockEngine, OldEntriesDoNotKeepBlocks) {
  ArrayListEngine<8> engine;
  std::vector<ReceiveNode> old(100), passing(16);
  for (std::size_t i = 0; i < old.size(); ++i) {
    old[i].key = {1, 0, static_cast<int>(i)};
    ASSERT_EQ(engine.post(old[i]), nullptr);
    for (ReceiveNode& receive : passing) {
      receive.key = {1, 1, 0};
      ASSERT_EQ(engine.post(receive), nullptr);
    }
    for (ReceiveNode& receive : passing) ASSERT_EQ(engine.arrive({1, 1, 0}), &receive);
  }
  EXPECT_LE(engine.posted().count(), 4 * old.size() / 8 + 2);
  for (ReceiveNode& receive : old) ASSERT_EQ(engine.arrive(receive.key), &receive);
  EXPECT_LE(engine.posted().count(), 1u);
}

TEST(FuzzyLanes, TagEqualToSourceDoesNotCollapse) {
  FuzzyLanes<std::uint8_t> lanes;
  for (unsigned i = 0; i < kLanes; ++i) lanes.set(i, {1, static_cast<int>(i), static_cast<int>(i)});
  int candidates = 0;
  for (int i = 0; i < static_cast<int>(kLanes); ++i) {
    const std::uint64_t found = lanes.matching({1, i, i});
    EXPECT_TRUE(found & bit(static_cast<unsigned>(i)));
    candidates += std::popcount(found);
  }
  EXPECT_LE(candidates, 2 * static_cast<int>(kLanes));
}

TEST(Choice, WordsAreReadAndSpelled) {
  for (const char* word : {"adaptive", "list", "array_list", "array_list:2", "array_list:64", "vector", "fuzzy8",
                           "fuzzy16", "hash", "hash:256", "grid", "grid:4", "tail_queue"}) {
    const std::optional<Choice> choice = parse_choice(word);
    ASSERT_TRUE(choice.has_value()) << word;
    EXPECT_EQ(spelled(*choice), word);
    EXPECT_NE(make_engine(*choice), nullptr);
  }
  for (const char* word : {"", "auto", "lists", "list:2", "hash:", "hash:0", "hash:3", "hash:131072", "array_list:1",
                           "array_list:128", "array_list:-2", "hash:8 ", ":8"}) {
    EXPECT_FALSE(parse_choice(word).has_value()) << word;
  }
}

TEST(QueueStats, DepthsAreCountedByPowersOfTwo) {
  QueueStats stats;
  stats.searched_none();
  stats.searched_one();
  EXPECT_EQ(stats.deepest(), 1u);
  for (std::uint64_t depth : {0, 1, 2, 3, 4, 7, 8, 1 << 18, 1 << 30}) stats.searched(depth);
  EXPECT_EQ(stats.searches(), 11u);
  EXPECT_EQ(stats.deepest(), std::uint64_t{1} << 30);
  EXPECT_EQ(stats.inspected, 1u + 26 + (1 << 18) + (1 << 30) - 1 + 0);
  EXPECT_EQ(stats.depths[0], 2u);
  EXPECT_EQ(stats.depths[1], 2u);
  EXPECT_EQ(stats.depths[2], 2u);
  EXPECT_EQ(stats.depths[3], 2u);
  EXPECT_EQ(stats.depths[4], 1u);
  EXPECT_EQ(stats.depths[19], 2u);
}

TEST(Matcher, CountsGoOnAcrossEngines) {
  Matcher matcher;
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
  for (int i = 0; i < 3; ++i) ASSERT_NE(matcher.arrive({1, 0, i}), nullptr);
  const auto check = [&](const char* when) {
    EXPECT_EQ(matcher.stats().posted.max_length, 5u) << when;
    EXPECT_EQ(matcher.stats().posted.length, 2u) << when;
    EXPECT_EQ(matcher.stats().posted.searches(), 3u) << when;
    EXPECT_EQ(matcher.stats().unexpected.max_length, 3u) << when;
    EXPECT_EQ(matcher.stats().unexpected.length, 3u) << when;
    EXPECT_EQ(matcher.stats().unexpected.searches(), 5u) << when;
  };
  check("from the start");
  ASSERT_TRUE(matcher.use({EngineKind::kHash}));
  EXPECT_EQ(matcher.choice(), Choice{EngineKind::kHash});
  check("in the hash");
  ASSERT_TRUE(matcher.use(1, {EngineKind::kFuzzy8}));
  check("with an engine of its own for context 1");
  EXPECT_EQ(matcher.own(1)->stats().posted.length, 2u);
  EXPECT_EQ(matcher.own(1)->stats().posted.searches(), 0u);
  EXPECT_EQ(matcher.own(2), nullptr);
  ASSERT_TRUE(matcher.use({EngineKind::kList}));
  matcher.share(1);
  check("in one list");
  ASSERT_TRUE(matcher.use(kDefaultEngine));
  check("back at the default");
  matcher.drain_in_order([](ReceiveNode&) {}, [](MessageNode&) {});
}

TEST(Matcher, TimeIsTakenWhileItIsAskedFor) {
  Matcher matcher;
  ReceiveNode receive = receive_of({1, 0, 0});
  const auto exchange = [&] {
    matcher.post(receive);
    matcher.arrive(receive.key);
  };
  exchange();
  EXPECT_EQ(matcher.ns(), 0u);
  ASSERT_TRUE(matcher.take_time(true));
  for (int i = 0; i < 100; ++i) exchange();
  const std::uint64_t taken = matcher.ns();
  EXPECT_GT(taken, 0u);
  ASSERT_TRUE(matcher.take_time(false));
  exchange();
  EXPECT_EQ(matcher.ns(), taken);
}

}  // namespace
}  // namespace heddle::match
