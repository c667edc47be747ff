// Tail queues under real threads: some post, some bring messages, one cancels, all as fast as they can. Each message and
// each receive is given once, in the order of posting and of arrival, and no pair that matches is left.
#include "match/tail_queue.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <memory>
#include <random>
#include <thread>
#include <tuple>
#include <vector>

namespace heddle::match {
namespace {

constexpr int kPosters = 2, kSources = 2, kTags = 2;
constexpr int kMessages = 4000;  // of each source
constexpr int kReceives = kMessages * kSources / kPosters;

struct Receive : ReceiveNode {
  int poster = 0, number = 0;
  std::atomic<int> given{0};  // how often it was matched or cancelled
  bool cancelled = false;
  int source = 0, tag = 0, message = 0;  // of the message that it got; written by who matched it
};
struct Message : MessageNode {
  int number = 0;
  std::atomic<int> given{0};
};

class Storm {
 public:
  Storm() {
    std::mt19937 random(11);
    for (int p = 0; p < kPosters; ++p) {
      for (int i = 0; i < kReceives; ++i) {
        Receive& receive = receives_[static_cast<std::size_t>(p * kReceives + i)];
        receive.key = {1, static_cast<int>(random() % kSources), static_cast<int>(random() % kTags)};
        if (random() % 3 == 0) receive.key.source = kAnySource;
        if (random() % 3 == 0) receive.key.tag = kAnyTag;
        receive.poster = p;
        receive.number = i;
      }
    }
    for (int s = 0; s < kSources; ++s) {
      for (int i = 0; i < kMessages; ++i) {
        Message& message = messages_[static_cast<std::size_t>(s * kMessages + i)];
        message.key = {1, s, static_cast<int>(random() % kTags)};
        message.number = i;
      }
    }
  }

  void run() {
    std::vector<std::thread> threads;
    for (int p = 0; p < kPosters; ++p) threads.emplace_back([this, p] { post_all(p); });
    for (int s = 0; s < kSources; ++s) threads.emplace_back([this, s] { arrive_all(s); });
    threads.emplace_back([this] { cancel_some(); });
    for (std::thread& thread : threads) thread.join();
  }

  void check() {
    std::vector<Receive*> receives_left;
    std::vector<Message*> messages_left;
    const Stats stats = engine_.stats();
    engine_.drain_in_order([&](ReceiveNode& r) { receives_left.push_back(static_cast<Receive*>(&r)); },
                           [&](MessageNode& m) { messages_left.push_back(static_cast<Message*>(&m)); });
    EXPECT_EQ(stats.posted.length, receives_left.size());
    EXPECT_EQ(stats.unexpected.length, messages_left.size());
    EXPECT_EQ(stats.posted.searches(), std::uint64_t{kSources * kMessages});
    EXPECT_EQ(stats.unexpected.searches(), std::uint64_t{kPosters * kReceives});
    for (Receive* r : receives_left) {
      for (Message* m : messages_left) EXPECT_FALSE(matches(r->key, m->key)) << "both were left";
    }

    std::size_t given = 0, matched = 0;
    for (const Receive& r : receives_) {
      ASSERT_LE(r.given, 1) << "a receive was given twice";
      given += static_cast<std::size_t>(r.given);
      matched += r.given == 1 && !r.cancelled;
    }
    EXPECT_EQ(given, receives_.size() - receives_left.size());
    std::size_t messages_given = 0;
    for (const Message& m : messages_) {
      ASSERT_LE(m.given, 1) << "a message was given twice";
      messages_given += static_cast<std::size_t>(m.given);
    }
    EXPECT_EQ(messages_given, messages_.size() - messages_left.size());
    EXPECT_EQ(messages_given, matched);
    EXPECT_GT(matched, receives_.size() / 4) << "too few met for the test to say anything";
    check_order();
  }

 private:
  // Receives of one thread with one key get messages of one source and tag in the order in which they came.
  void check_order() {
    std::map<std::tuple<int, int, int, int, int>, int> newest;
    for (const Receive& r : receives_) {
      if (r.given == 0 || r.cancelled) continue;
      const auto [at, first] = newest.try_emplace({r.poster, r.key.source, r.key.tag, r.source, r.tag}, r.message);
      if (!first) {
        ASSERT_GT(r.message, at->second) << "a message overtook another, at receive " << r.number;
        at->second = r.message;
      }
    }
  }

  void give(Receive& receive, Message& message) {
    ASSERT_TRUE(matches(receive.key, message.key));
    receive.source = message.key.source;
    receive.tag = message.key.tag;
    receive.message = message.number;
    receive.given.fetch_add(1, std::memory_order_relaxed);
    message.given.fetch_add(1, std::memory_order_relaxed);
  }
  void post_all(int poster) {
    for (int i = 0; i < kReceives; ++i) {
      Receive& receive = receives_[static_cast<std::size_t>(poster * kReceives + i)];
      if (MessageNode* message = engine_.post(receive)) give(receive, static_cast<Message&>(*message));
      posted_[poster].store(i + 1, std::memory_order_release);
    }
  }
  void arrive_all(int source) {
    for (int i = 0; i < kMessages; ++i) {
      Message& message = messages_[static_cast<std::size_t>(source * kMessages + i)];
      if (ReceiveNode* receive = engine_.arrive_or_keep(message)) give(static_cast<Receive&>(*receive), message);
    }
  }
  // Each 16th receive of the first poster, close behind it.
  void cancel_some() {
    for (int i = 0; i < kReceives; i += 16) {
      while (posted_[0].load(std::memory_order_acquire) <= i) std::this_thread::yield();
      Receive& receive = receives_[static_cast<std::size_t>(i)];
      if (!engine_.cancel(receive)) continue;
      receive.cancelled = true;
      receive.given.fetch_add(1, std::memory_order_relaxed);
    }
  }

  TailQueueEngine engine_;
  std::vector<Receive> receives_{kPosters * kReceives};
  std::vector<Message> messages_{kSources * kMessages};
  std::atomic<int> posted_[kPosters]{};
};

TEST(TailQueue, AStormOfThreads) {
  for (int round = 0; round < 5 && !testing::Test::HasFailure(); ++round) {
    const auto storm = std::make_unique<Storm>();
    storm->run();
    storm->check();
  }
}

// What is in the inbox is looked at there once, then in the queue: no entry is lost or counted twice on the way.
TEST(TailQueue, StatisticsCountBothPlaces) {
  TailQueueEngine engine;
  std::vector<ReceiveNode> receives(10);
  for (std::size_t i = 0; i < receives.size(); ++i) {
    receives[i].key = {1, 0, static_cast<int>(i)};
    ASSERT_EQ(engine.post(receives[i]), nullptr);
  }
  EXPECT_EQ(engine.arrive({1, 0, 7}), &receives[7]);
  EXPECT_EQ(engine.stats().posted.inspected, 8u);
  EXPECT_EQ(engine.arrive({1, 0, 8}), &receives[8]);
  EXPECT_EQ(engine.stats().posted.inspected, 16u);
  EXPECT_EQ(engine.arrive({1, 1, 0}), nullptr);
  EXPECT_EQ(engine.stats().posted.inspected, 24u);
  EXPECT_EQ(engine.stats().posted.searches(), 3u);
  EXPECT_EQ(engine.stats().posted.length, 8u);
  EXPECT_EQ(engine.stats().posted.max_length, 10u);
  ASSERT_EQ(engine.post(receives[8]), nullptr);
  EXPECT_EQ(engine.stats().posted.max_length, 10u);
  engine.drain_in_order([](ReceiveNode&) {}, [](MessageNode&) {});
}

}  // namespace
}  // namespace heddle::match
