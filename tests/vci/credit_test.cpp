// What a lane may send: the countdown, when it asks, what an answer changes, and random runs against a receiver with a budget.
#include "vci/credit.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <random>

#include "portals/budget.hpp"

namespace heddle::vci {
namespace {

using portals::Credit;
using portals::GrantPrefix;
using portals::kAnswer;
using portals::kBytes;
using portals::kHeaders;

Credit ask(LaneCredit& credit, Credit* left = nullptr) {
  Credit used, now;
  credit.ask(&used, left != nullptr ? left : &now);
  return used;
}
void grant(LaneCredit& credit, Credit more, std::uint32_t refused) { credit.grant(GrantPrefix{0, more, refused}); }
void spend(LaneCredit& credit, int n) {
  while (n-- > 0) credit.take_header();
}

TEST(LaneCredit, CountsDownAndStopsHalfWay) {
  LaneCredit credit({8, 0});
  credit.close();
  EXPECT_FALSE(credit.is_ready());
  EXPECT_EQ(credit.headers(), 8u);
  ASSERT_TRUE(credit.open());
  for (int i = 0; i < 4; ++i) {
    ASSERT_TRUE(credit.is_ready()) << i;
    EXPECT_FALSE(credit.is_short()) << i;
    credit.take_ready();
  }
  EXPECT_FALSE(credit.is_ready()) << "the countdown ends where the receiver is to be asked";
  EXPECT_TRUE(credit.is_short());
  EXPECT_EQ(credit.headers(), 4u);
  EXPECT_EQ(credit.taken(), 4u);
}

TEST(LaneCredit, OpensUntilNothingIsLeft) {
  LaneCredit credit({5, 0});
  credit.close();
  int sent = 0;
  while (credit.open()) {
    for (; credit.is_ready(); ++sent) credit.take_ready();
  }
  EXPECT_EQ(sent, 5);
  EXPECT_EQ(credit.headers(), 0u);
}

TEST(LaneCredit, AsksOnceAndForBytesBelowHalf) {
  LaneCredit credit({8, 1000});
  credit.take_bytes(500);
  EXPECT_FALSE(credit.is_short()) << "half is left";
  credit.take_bytes(1);
  EXPECT_TRUE(credit.is_short());
  Credit left;
  const Credit used = ask(credit, &left);
  EXPECT_EQ(used.bytes, 0u) << "what it had from the start was not lent";
  EXPECT_EQ(left.bytes, 499u);
  EXPECT_EQ(left.headers, 8u);
  EXPECT_FALSE(credit.is_short()) << "an answer is awaited";
  EXPECT_TRUE(credit.is_asked());
}

TEST(LaneCredit, AnAnswerWidensTheWindow) {
  LaneCredit credit({4, 0});
  spend(credit, 2);
  EXPECT_EQ(ask(credit).headers, 0u) << "what it had from the start was not lent";
  grant(credit, {14, 0}, kAnswer);
  EXPECT_EQ(credit.headers(), 16u);
  EXPECT_EQ(credit.grants(), 1u);
  EXPECT_FALSE(credit.is_short());
  spend(credit, 7);
  EXPECT_FALSE(credit.is_short());
  spend(credit, 1);
  EXPECT_TRUE(credit.is_short()) << "half of 16, which is the most that there was";
  EXPECT_EQ(credit.taken(), 10u);
  EXPECT_EQ(ask(credit).headers, 6u) << "of the 14 that were lent 8 are left";
}

TEST(LaneCredit, RefusedWithSomethingLeftIsNotTheEnd) {
  LaneCredit credit({4, 0});
  spend(credit, 2);
  ask(credit);
  grant(credit, {}, kAnswer | kHeaders);
  EXPECT_FALSE(credit.is_short()) << "it asks no more by itself";
  EXPECT_FALSE(credit.is_refused());
  spend(credit, 2);
  EXPECT_FALSE(credit.is_refused()) << "the no was to another question: the receiver does not know that it is blocked";
  EXPECT_TRUE(credit.must_ask_for_headers());
  ask(credit);
  EXPECT_FALSE(credit.must_ask_for_headers()) << "asked already";
  grant(credit, {}, kAnswer | kHeaders);
  EXPECT_TRUE(credit.is_refused());
  EXPECT_FALSE(credit.must_ask_for_headers()) << "more comes without being asked for";
  grant(credit, {3, 0}, 0);
  EXPECT_FALSE(credit.is_refused());
  EXPECT_EQ(credit.headers(), 3u);
}

TEST(LaneCredit, AGrantThatCrossesAnAskIsNoAnswerToIt) {
  LaneCredit credit({2, 0});
  spend(credit, 2);
  ask(credit);
  grant(credit, {}, kHeaders);  // of before; not an answer
  EXPECT_FALSE(credit.is_asked()) << "what was asked gets no answer";
  EXPECT_FALSE(credit.is_refused());
  EXPECT_TRUE(credit.must_ask_for_headers());
}

TEST(LaneCredit, BytesAreRefusedApartFromHeaders) {
  LaneCredit credit({8, 100});
  credit.take_bytes(100);
  ask(credit);
  grant(credit, {}, kAnswer | kBytes);
  EXPECT_TRUE(credit.has_no_bytes());
  EXPECT_FALSE(credit.is_short());
  spend(credit, 4);
  EXPECT_TRUE(credit.is_short()) << "headers were not refused";
}

// A lane, and a receiver behind queues in both directions: it answers as vci/sources.cpp does.
struct Receiver {
  explicit Receiver(std::uint64_t size) : pool(size, 1) {}
  portals::Budget::Pool pool;
  portals::Budget budget{pool};
  std::uint64_t came = 0, lent = 0, used = 0;
  std::uint16_t grants = 0;
  std::uint32_t refused = 0;
};
struct Packet {
  bool is_ask;
  Credit used, left;
  std::uint16_t grants;
};

TEST(LaneCredit, RandomRunsSendNothingWithoutCreditAndLoseNone) {
  std::mt19937 random(5);
  std::uint64_t waits = 0, crossed = 0;
  for (int run = 0; run < 3000; ++run) {
    const std::uint32_t first = 1 + random() % 8;
    constexpr std::uint32_t kMost = 12;
    LaneCredit credit({first, 0});
    credit.close();
    Receiver r(1 + random() % 64);
    std::deque<Packet> to;
    std::deque<GrantPrefix> back;
    std::uint64_t sent = 0, spoken = 0;
    const auto lend = [&](std::uint32_t want, std::uint32_t answer) {
      const std::uint32_t n = want != 0 ? r.budget.lend(want) : 0;
      r.lent += n;
      r.refused = want != 0 && n == 0 ? std::uint32_t{kHeaders} : 0;
      ++r.grants;
      back.push_back({0, {n, 0}, r.refused | answer});
    };
    const auto send = [&] {
      if (!credit.is_ready() && !credit.open()) {
        waits += credit.is_refused();
        return;
      }
      credit.take_ready();
      ++sent;
      to.push_back({});
    };
    const auto ask_if_due = [&] {
      if (!credit.is_short() && !(credit.headers() == 0 && credit.must_ask_for_headers())) return;
      Packet p{true, {}, {}, credit.grants()};
      credit.ask(&p.used, &p.left);
      spoken += p.used.headers;
      to.push_back(p);
    };
    const auto receive = [&] {
      if (to.empty()) return;
      const Packet p = to.front();
      to.pop_front();
      if (!p.is_ask) {
        ++r.came;
        r.budget.keep(1);
        return;
      }
      r.budget.used(p.used.headers);
      r.used += p.used.headers;
      if (p.grants == r.grants)
        lend(kMost - std::min(kMost, p.left.headers), kAnswer);
      else
        ++crossed;
    };
    const auto enable = [&] {
      if (r.refused != 0 && r.budget.can_lend()) lend(kMost, 0);
    };
    const auto hear = [&] {
      if (back.empty()) return;
      credit.grant(back.front());
      back.pop_front();
    };
    for (int step = 0; step < 400; ++step) {
      switch (random() % 8) {
        case 0:
        case 1:
        case 2:
          send();
          break;
        case 3:
          receive();
          break;
        case 4:
          hear();
          break;
        case 5:
          if (r.budget.kept() != 0) r.budget.release(1);
          enable();
          break;
        case 6:
          ask_if_due();
          break;
        case 7:
          credit.close();
          break;
      }
      ASSERT_LE(sent, first + r.lent) << "a message without credit";
      ASSERT_EQ(credit.taken(), sent);
    }
    // At rest: all is heard, all is received, nobody holds anything.
    for (int round = 0; round < 20; ++round) {
      ask_if_due();
      while (!to.empty()) receive();
      r.budget.release(r.budget.kept());
      enable();
      while (!back.empty()) hear();
    }
    ASSERT_FALSE(credit.is_refused()) << "all is free, and the lane is told nothing";
    ASSERT_EQ(r.came, sent);
    ASSERT_EQ(first + r.lent, sent + credit.headers()) << "credit is lost, or made";
    Credit left;
    spoken += ask(credit, &left).headers;
    const std::uint64_t still_lent = r.lent - spoken;
    ASSERT_LE(still_lent, left.headers) << "what is used was not reported";
    ASSERT_LE(left.headers - still_lent, first) << "what is left was reported as used";
    ASSERT_EQ(r.used + (r.budget.lent() - still_lent), spoken) << "the two disagree on what is lent";
  }
  EXPECT_GT(waits, 100u);
  EXPECT_GT(crossed, 10u);
}

}  // namespace
}  // namespace heddle::vci
