#include "wire/ofi.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdlib>

#include "wire/card.hpp"
#include "wire/ofi_sides.hpp"

namespace heddle::wire {
namespace {

INSTANTIATE_TEST_SUITE_P(Providers, OfiTest, testing::Values("net", "tcp;ofi_rxm"), provider_name);

// All short ones, and what lies around every power of two up to the longest.
std::vector<std::size_t> sizes() {
  std::vector<std::size_t> all;
  for (std::size_t bytes = 0; bytes <= 100; ++bytes) all.push_back(bytes);
  for (std::size_t power = 128; power <= OfiPort::kMaxPayload; power *= 2) {
    for (std::size_t bytes : {power - 1, power, power + 1}) {
      if (bytes <= OfiPort::kMaxPayload) all.push_back(bytes);
    }
  }
  return all;
}

TEST_P(OfiTest, PacketsOfAllSizesComeInOrderFromSeveralVcisAtOnce) {
  constexpr std::uint32_t kVcis = 3;
  auto a = side(0), b = side(1), c = side(2);
  const std::vector<std::size_t> all = sizes();
  struct Stream {
    Side* from;
    TxLane* lane;
    std::vector<Received>* got;
    ProcessId self;
    std::uint32_t vci;
    std::size_t sent = 0;
  };
  // From each process to each other one, from VCI v to VCI v + 1.
  Side* const sides[] = {a.get(), b.get(), c.get()};
  std::vector<Stream> streams;
  for (ProcessId from = 0; from < 3; ++from) {
    for (ProcessId to = 0; to < 3; ++to) {
      for (std::uint32_t vci = 0; vci < kVcis && to != from; ++vci) {
        streams.push_back({sides[from], &sides[from]->lane(vci, to, vci + 1), &sides[to]->got[vci + 1], from, vci});
        EXPECT_GE(streams.back().lane->max_payload(), OfiPort::kMaxPayload);
      }
    }
  }
  const auto seed = [](const Stream& s, std::size_t i) {
    return static_cast<unsigned>(s.self * 100'000 + s.vci * 10'000 + i);
  };
  std::size_t arrived = 0;
  ASSERT_TRUE(until({a.get(), b.get(), c.get()}, [&] {
    for (Stream& s : streams) {
      if (s.sent == all.size()) continue;
      const unsigned n = seed(s, s.sent);
      if (try_send(*s.lane, static_cast<int>(n), pattern(n, s.sent % (kMaxPrefix + 1)), pattern(n + 1, all[s.sent]))) {
        ++s.sent;
      }
    }
    arrived = 0;
    for (const Side* one : sides) {
      for (const auto& got : one->got) arrived += got.size();
    }
    return arrived == streams.size() * all.size();
  })) << arrived;
  for (const Stream& s : streams) {
    std::size_t next = 0;
    for (const Received& r : *s.got) {
      if (r.header.tag / 10'000 != static_cast<int>(seed(s, 0)) / 10'000) continue;  // another stream's
      const unsigned n = seed(s, next);
      ASSERT_EQ(r.header.tag, static_cast<int>(n)) << "in order, once";
      EXPECT_EQ(r.header.portal, 1);
      EXPECT_EQ(r.header.context, 77u);
      EXPECT_EQ(r.header.source, 3);
      ASSERT_EQ(r.prefix, pattern(n, next % (kMaxPrefix + 1)));
      ASSERT_EQ(r.payload, pattern(n + 1, all[next]));
      ++next;
    }
    EXPECT_EQ(next, all.size());
  }
  for (Side* one : sides) EXPECT_EQ(one->losses(), std::vector<std::string>{});
  EXPECT_TRUE(until({a.get(), b.get(), c.get()}, [&] {
    return !a->wire->owes() && !b->wire->owes() && !c->wire->owes();
  })) << "everything that was taken has gone";
}

TEST_P(OfiTest, FirstMessagesMayCross) {
  constexpr int kTimes = 15, kMessages = 10;
  for (int time = 0; time < kTimes; ++time) {
    Cards fresh;
    Side a(fresh, GetParam(), 0, 2), b(fresh, GetParam(), 1, 2);
    std::atomic<int> ready{0};
    const auto talk = [&](Side& mine, ProcessId peer) {
      TxLane& lane = mine.lane(0, peer, 0);
      for (++ready; ready < 2;) std::this_thread::yield();
      for (int i = 0; i < kMessages; ++i) {
        ASSERT_TRUE(send({&mine}, lane, i, "", pattern(peer, 100))) << i;
      }
      ASSERT_TRUE(until({&mine}, [&] { return mine.got[0].size() == kMessages && !mine.wire->owes(); }))
          << "process " << 1 - peer << " of time " << time << " has " << mine.got[0].size();
      for (++ready; ready < 4;) {
        mine.poll();
        std::this_thread::yield();
      }
    };
    std::thread other([&] { talk(b, 0); });
    talk(a, 1);
    other.join();
    for (int i = 0; i < kMessages; ++i) {
      ASSERT_EQ(a.got[0][static_cast<std::size_t>(i)].header.tag, i);
      ASSERT_EQ(b.got[0][static_cast<std::size_t>(i)].payload, pattern(1, 100));
    }
    ASSERT_EQ(a.losses(), std::vector<std::string>{});
    ASSERT_EQ(b.losses(), std::vector<std::string>{});
  }
}

TEST_P(OfiTest, NothingIsTakenBeforeThePeerIsThere) {
  auto a = side(0), b = side(1, 3, false);
  EXPECT_TRUE(a->wire->reaches(1));
  EXPECT_FALSE(a->wire->reaches(0)) << "it is near";
  EXPECT_FALSE(a->wire->reaches(3)) << "there is none";
  TxLane& lane = a->lane(0, 1, 0);
  EXPECT_EQ(&lane, &a->lane(0, 1, 0)) << "there is one lane between two VCIs";
  for (int i = 0; i < 100; ++i) {
    EXPECT_FALSE(try_send(lane, i, "", "too early"));
    a->poll();
  }
  cards.put(1, b->card);
  EXPECT_TRUE(until({a.get(), b.get()}, [&] { return try_send(lane, 5, "now", "in time"); }));
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return !b->got[0].empty(); }));
  EXPECT_EQ(b->got[0][0].prefix, "now");
  EXPECT_EQ(b->got[0][0].payload, "in time");
}

TEST_P(OfiTest, VcisAreOpenedWhenTheyAreAskedFor) {
  auto a = side(0), b = side(1);
  for (const std::uint32_t to : {5u, kMaxVcis - 1}) {
    TxLane& late = a->lane(2, 1, to);
    EXPECT_FALSE(try_send(late, 1, "", "early")) << "nobody has told where that is";
    ASSERT_TRUE(send({a.get(), b.get()}, late, 2, "", "there"));
    ASSERT_TRUE(until({a.get(), b.get()}, [&] { return !b->got[to].empty(); }));
    EXPECT_EQ(b->got[to][0].header.tag, 2);
    EXPECT_EQ(b->got[to][0].payload, "there");
  }
  EXPECT_TRUE(b->got[0].empty()) << "questions and answers are the wire's own";
  EXPECT_TRUE(a->got[0].empty());
}

TEST_P(OfiTest, WhoSleepsIsRungByAPacket) {
  auto a = side(0), b = side(1);
  ASSERT_TRUE(b->wire->rings());
  TxLane& lane = a->lane(0, 1, 3);
  ASSERT_TRUE(send({a.get(), b.get()}, lane, 0, "", "first"));
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return b->got[3].size() == 1 && !a->wire->owes(); }));
  // b polls only before it sleeps and after it was rung, which may be for nothing, but not often.
  constexpr int kTimes = 100;
  int sleeps = 0;
  for (int i = 1; i <= kTimes; ++i) {
    const auto wanted = static_cast<std::size_t>(i) + 1;
    for (bool sent = false; b->got[3].size() < wanted; b->poll()) {
      const int before = b->rings;
      if (!b->wire->arm(1u | 1u << 3)) continue;
      ASSERT_TRUE(std::exchange(sent, true) || send({a.get()}, lane, i, "", "wake up"));
      ASSERT_TRUE(until({a.get()}, [&] { return b->rings > before; })) << "b sleeps, and has not been rung at " << i;
      ++sleeps;
    }
    EXPECT_EQ(b->got[3].back().header.tag, i);
  }
  EXPECT_GE(sleeps, kTimes / 2);
  EXPECT_LT(sleeps, kTimes * 10);
}

TEST_P(OfiTest, WhatWasTakenIsOwedUntilItHasGone) {
  auto a = side(0), b = side(1);
  TxLane& lane = a->lane(0, 1, 0);
  ASSERT_TRUE(send({a.get(), b.get()}, lane, 0, "", "hello"));
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return b->got[0].size() == 1 && !a->wire->owes(); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // so that nothing is gathered
  ASSERT_TRUE(try_send(lane, 1, "", "x"));
  EXPECT_TRUE(a->wire->owes()) << "the provider has not said yet that it has gone, however short it is";
  EXPECT_TRUE(until({a.get(), b.get()}, [&] { return b->got[0].size() == 2 && !a->wire->owes(); }));
}

// In one frame, as poll() counts them. The waker may come between: so it is tried some times.
TEST_P(OfiTest, WhatMayWaitGoesWithWhatMayNot) {
  auto a = side(0), b = side(1);
  TxLane& there = a->lane(0, 1, 0);
  const auto offer = [&](int tag, When when) {
    Payload payload{.data = "four", .bytes = 4, .when = when};
    return there.try_send({1, 0, 0, 77, 3, tag}, nullptr, payload);
  };
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return offer(0, When::kSoon); }));
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return b->got[0].size() == 1; }));
  bool in_one = false;
  int tag = 0;
  for (int i = 0; i < 50 && !in_one; ++i) {
    std::this_thread::sleep_for(std::chrono::microseconds(200));  // the lane is quiet: what goes at once goes alone
    ASSERT_TRUE(until({a.get()}, [&] { return offer(tag + 1, When::kWithMore); }));
    ASSERT_TRUE(until({a.get()}, [&] { return offer(tag + 2, When::kNow); }));
    tag += 2;
    unsigned frames = 0;
    ASSERT_TRUE(until({}, [&] {
      frames += b->poll();
      return b->got[0].size() == static_cast<std::size_t>(tag + 1);
    }));
    in_one = frames == 1;
  }
  EXPECT_TRUE(in_one);
  for (int t = 0; t <= tag; ++t) EXPECT_EQ(b->got[0][static_cast<std::size_t>(t)].header.tag, t);
}

TEST_P(OfiTest, WhoIsRefusedMaySleepAndHearsOfRoom) {
  auto a = side(0), b = side(1);
  TxLane& lane = a->lane(0, 1, 0);
  ASSERT_TRUE(send({a.get(), b.get()}, lane, 0, "", "hello"));
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return b->got[0].size() == 1 && !a->wire->owes(); }));
  EXPECT_TRUE(a->wire->rings());
  // b does not look, until a has neither buffers nor room in its sockets.
  const std::string data = pattern(1, 3000);
  std::size_t sent = 1;
  for (int refusals = 0; refusals < 2000; ++refusals) {
    while (try_send(lane, static_cast<int>(sent), "", data)) ++sent, refusals = 0;
    a->poll();
  }
  EXPECT_TRUE(a->wire->owes());
  EXPECT_TRUE(until({a.get()}, [&] { return a->wire->arm(1); })) << "a blocked frame is no reason to stay awake";
  unsigned moved = 0;
  EXPECT_TRUE(until({b.get()}, [&] {
    moved += a->poll();
    return moved != 0;
  })) << "that there is room is news";
  EXPECT_TRUE(until({a.get(), b.get()}, [&] { return b->got[0].size() == sent && !a->wire->owes(); }));
  EXPECT_TRUE(a->wire->rings());
}

TEST_P(OfiTest, WhoWaitsWatchesThoseToWhomItHasSent) {
  auto a = side(0), b = side(1), c = side(2);
  TxLane &to_b = a->lane(0, 1, 0), &to_c = a->lane(0, 2, 3);
  ASSERT_TRUE(send({a.get(), b.get()}, to_b, 0, "", "hello"));
  ASSERT_TRUE(send({a.get(), c.get()}, to_c, 0, "", "hello"));
  ASSERT_TRUE(until({a.get(), b.get(), c.get()}, [&] { return !b->got[0].empty() && !c->got[3].empty(); }));
  EXPECT_EQ(a->wire->watches(), 0u);
  // The others compute.
  EXPECT_TRUE(until({a.get()}, [&] { return b->wire->watchers() == 1 && c->wire->watchers() == 1; }));
  EXPECT_EQ(a->wire->watches(), 2u);
  EXPECT_EQ(a->wire->watchers(), 0u);
  b.reset();
  EXPECT_TRUE(until({a.get()}, [&] { return a->wire->watches() == 1; })) << "it has left in order";
  EXPECT_EQ(a->losses(), std::vector<std::string>{});
}

TEST_P(OfiTest, ACardOfAnotherKindIsAnError) {
  auto a = side(0);
  std::size_t losses = 0;
  for (const char* card : {"2-0.0.9|x|00", "V|another|0200", "nonsense", "V|", "BAD-LENGTH"}) {
    Card shorter;
    ASSERT_TRUE(read_card(0, a->card, &shorter));
    shorter.address.pop_back();
    const std::string text = *card == 'V' ? std::string(card_version()) + (card + 1) : card;
    cards.put(1, text == "BAD-LENGTH" ? write_card(shorter) : text);
    EXPECT_FALSE(try_send(a->lane(0, 1, 0), 1, "", "x")) << card;
    ASSERT_EQ(a->losses().size(), ++losses) << card;
  }
  EXPECT_NE(a->losses()[0].find("another version of Heddle ('2-0.0.9'"), std::string::npos) << a->losses()[0];
  EXPECT_NE(a->losses()[1].find("HEDDLE_FABRIC_PROVIDER"), std::string::npos) << a->losses()[1];
  EXPECT_NE(a->losses().back().find("not as many bytes"), std::string::npos) << a->losses().back();
}

// Ends this process, with 0 where it is told of its own failure, and of none of the peer.
[[noreturn]] void meet_with_few_descriptors(const char* provider) {
  Cards cards;
  Side a(cards, provider, 0, 2), b(cards, provider, 1, 2);
  TxLane& lane = a.lane(0, 1, 0);
  const int free = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
  close(free);
  const auto few = static_cast<rlim_t>(free) + 4;
  const rlimit limit{few, few};
  EXPECT_EQ(setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_FALSE(try_send(lane, 1, "", "data"));
  const std::vector<std::string> failures = a.failures();
  EXPECT_EQ(failures.size(), 1U);
  for (const std::string& why : failures) EXPECT_NE(why.find("more file descriptors"), std::string::npos) << why;
  EXPECT_EQ(a.losses(), std::vector<std::string>{});
  std::_Exit(testing::Test::HasFailure() ? 1 : 0);
}

TEST_P(OfiTest, WhoHasNoDescriptorsLeftFailsItselfAndLosesNobody) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(meet_with_few_descriptors(GetParam()), testing::ExitedWithCode(0), "");
}

TEST_P(OfiTest, APeerThatIsGoneIsReported) {
  if (GetParam() == std::string("net")) GTEST_SKIP() << "it tries to connect again for ever; the watch tells";
  auto a = side(0), b = side(1);
  TxLane& lane = a->lane(0, 1, 0);
  ASSERT_TRUE(send({a.get(), b.get()}, lane, 0, "", "hello"));
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return !b->got[0].empty(); }));
  b.reset();
  const std::string data(1000, 'x');
  EXPECT_TRUE(until({a.get()}, [&] {
    try_send(lane, 1, "", data);
    return !a->losses().empty();
  }));
  EXPECT_TRUE(a->losses().empty() || a->losses()[0].starts_with("1: "));
}

}  // namespace
}  // namespace heddle::wire
