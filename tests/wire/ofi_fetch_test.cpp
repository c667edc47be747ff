// Memory of another host: what is read and written is what is exposed, and nothing else.
#include <deque>

#include "wire/ofi_sides.hpp"

namespace heddle::wire {
namespace {

INSTANTIATE_TEST_SUITE_P(Providers, OfiTest, testing::Values("net", "tcp;ofi_rxm"), provider_name);

struct Got : RemoteAccess {
  Got(const Exposure& from, std::size_t wanted) : memory(wanted + 16, '#') {
    key = from.key;
    address = from.address;
    local = reinterpret_cast<std::byte*>(memory.data()) + 8;
    bytes = wanted;
    done = [](RemoteAccess& access, bool whole) {
      auto& got = static_cast<Got&>(access);
      ++got.ends;
      got.complete = whole;
    };
  }
  std::string data() const { return memory.substr(8, bytes); }
  bool stayed_inside() const { return memory.starts_with("########") && memory.ends_with("########"); }
  std::string memory;
  int ends = 0;
  bool complete = false;
};

struct Put : Got {
  Put(const Exposure& to, const std::string& data) : Got(to, data.size()) {
    memory.replace(8, bytes, data);
    kind = Kind::kWrite;
  }
};

TEST_P(OfiTest, FetchesWhatIsExposed) {
  auto a = side(0), b = side(1);
  TxLane &there = a->lane(1, 1, 0), &back = b->lane(0, 0, 1);
  for (const std::size_t bytes : {1u, 7u, 4096u, (1u << 20) - 1, 1u << 20, (1u << 20) + 1, 20u << 20}) {
    const std::string data = pattern(static_cast<unsigned>(bytes), bytes);
    Exposure exposure;
    ASSERT_TRUE(back.expose(data.data(), data.size(), false, &exposure));
    Got got(exposure, bytes);
    ASSERT_TRUE(there.start(got));
    ASSERT_TRUE(until({a.get(), b.get()}, [&] { return got.ends != 0; })) << bytes;
    EXPECT_TRUE(got.complete);
    ASSERT_TRUE(got.data() == data) << bytes;
    EXPECT_TRUE(got.stayed_inside());
    back.conceal(exposure);
    EXPECT_EQ(got.ends, 1);
  }
}

// When it is said to be done the bytes are there: the target's memory is looked at before anybody polls again.
TEST_P(OfiTest, WritesWhatIsExposedToBeWritten) {
  auto a = side(0), b = side(1);
  TxLane &there = a->lane(1, 1, 0), &back = b->lane(0, 0, 1);
  std::string memory(21 << 20, '-');
  Exposure exposure;
  ASSERT_TRUE(back.expose(memory.data(), memory.size(), true, &exposure));
  for (const std::size_t bytes : {1u, 7u, 4096u, (1u << 20) - 1, 1u << 20, (1u << 20) + 1, 20u << 20}) {
    const std::string data = pattern(static_cast<unsigned>(bytes), bytes);
    Put put(exposure, data);
    put.address += 100;
    ASSERT_TRUE(there.start(put));
    ASSERT_TRUE(until({a.get(), b.get()}, [&] { return put.ends != 0; })) << bytes;
    EXPECT_TRUE(put.complete);
    ASSERT_TRUE(memory.compare(100, bytes, data) == 0) << bytes;
    EXPECT_EQ(memory[99], '-');
    EXPECT_EQ(memory[100 + bytes], '-');
    EXPECT_TRUE(put.data() == data);
  }
  back.conceal(exposure);
}

// Of each part once, when its bytes are there, and by its number; and of nothing under a name that is forgotten.
TEST_P(OfiTest, IsToldOfWhatIsWritten) {
  auto a = side(0), b = side(1);
  TxLane &there = a->lane(1, 1, 0), &back = b->lane(0, 0, 1);
  std::string memory(5 << 20, '-');
  Exposure exposure;
  ASSERT_TRUE(back.expose(memory.data(), memory.size(), true, &exposure));
  std::string data;
  struct Told {
    const std::string& data;
    const std::string& memory;
    std::vector<std::uint32_t> numbers;
  } told{data, memory, {}};
  const std::uint32_t name = back.tell({[](void* owner, std::uint32_t number) {
                                          auto& to = *static_cast<Told*>(owner);
                                          to.numbers.push_back(number);
                                          const std::size_t at = (number - 70) * RemoteAccess::kToldPart;
                                          ASSERT_LT(at, to.data.size());
                                          const std::string part = to.data.substr(at, RemoteAccess::kToldPart);
                                          EXPECT_TRUE(to.memory.compare(at, part.size(), part) == 0) << number;
                                        },
                                        &told});
  ASSERT_NE(name, 0u);
  const auto write = [&](std::size_t bytes) {
    data = pattern(static_cast<unsigned>(bytes), bytes);
    told.numbers.clear();
    Put put(exposure, data);
    put.told = name;
    put.number = 70;
    EXPECT_TRUE(there.start(put));
    const std::size_t parts = (bytes + RemoteAccess::kToldPart - 1) / RemoteAccess::kToldPart;
    const auto strange = [&] { return b->wire->dropped(0).strange; };
    const std::uint64_t before = strange();
    EXPECT_TRUE(
        until({a.get(), b.get()}, [&] { return put.ends != 0 && told.numbers.size() + strange() - before == parts; }));
    EXPECT_TRUE(put.complete);
    return strange() - before;
  };
  for (const std::size_t bytes : {1u, 4096u, (512u << 10) - 1, 512u << 10, (512u << 10) + 1, 4u << 20}) {
    EXPECT_EQ(write(bytes), 0u);
    std::ranges::sort(told.numbers);
    for (std::size_t i = 0; i < told.numbers.size(); ++i) EXPECT_EQ(told.numbers[i], 70 + i) << bytes;
  }
  back.forget(name);
  EXPECT_EQ(write(1), 1u);
  EXPECT_TRUE(told.numbers.empty());
  back.conceal(exposure);
}

// What may only be read stays as it is.
TEST_P(OfiTest, NothingIsWrittenWhereOnlyReadsAreAllowed) {
  auto a = side(0), b = side(1);
  TxLane &there = a->lane(1, 1, 0), &back = b->lane(0, 0, 1);
  std::string memory(1 << 20, '-');
  Exposure exposure;
  ASSERT_TRUE(back.expose(memory.data(), memory.size(), false, &exposure));
  Got put(exposure, 4096);
  put.kind = RemoteAccess::Kind::kWrite;
  ASSERT_TRUE(there.start(put));
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  EXPECT_TRUE(until({a.get(), b.get()}, [&] { return put.ends != 0 || std::chrono::steady_clock::now() > end; }));
  EXPECT_FALSE(put.complete);
  EXPECT_EQ(memory, std::string(1 << 20, '-'));
  a.reset();  // before what it may still send from
  back.conceal(exposure);
}

TEST_P(OfiTest, ManyFetchesAndPacketsShareAPort) {
  constexpr int kFetches = 30;
  auto a = side(0), b = side(1), c = side(2);
  TxLane &to_b = a->lane(0, 1, 0), &to_c = a->lane(0, 2, 0);
  std::deque<Got> fetches;
  std::vector<std::pair<TxLane*, Exposure>> exposures;
  std::vector<std::string> data;
  for (int i = 0; i < kFetches; ++i) {
    data.push_back(pattern(static_cast<unsigned>(i), static_cast<std::size_t>(1 + i * 100'003)));
  }
  for (std::size_t i = 0; i < kFetches; ++i) {
    TxLane& owner = (i % 2 == 0 ? b : c)->lane(0, 0, 0);
    Exposure exposure;
    ASSERT_TRUE(owner.expose(data[i].data(), data[i].size(), false, &exposure));
    exposures.emplace_back(&owner, exposure);
    ASSERT_TRUE((i % 2 == 0 ? to_b : to_c).start(fetches.emplace_back(exposure, data[i].size())));
  }
  std::size_t sent = 0;
  ASSERT_TRUE(until({a.get(), b.get(), c.get()}, [&] {
    if (sent < 1000 && try_send(to_b, static_cast<int>(sent), "", pattern(0, sent))) ++sent;
    return std::ranges::all_of(fetches, [](const Got& got) { return got.ends != 0; }) && b->got[0].size() == 1000;
  }));
  for (std::size_t i = 0; i < kFetches; ++i) {
    EXPECT_TRUE(fetches[i].complete);
    EXPECT_EQ(fetches[i].ends, 1);
    ASSERT_TRUE(fetches[i].data() == data[i]) << i;
    EXPECT_TRUE(fetches[i].stayed_inside());
    exposures[i].first->conceal(exposures[i].second);
  }
  for (std::size_t i = 0; i < 1000; ++i) ASSERT_EQ(b->got[0][i].payload.size(), i);
}

// A packet with its message behind it; the sender's memory, and what became of it.
struct Pushed : Got {
  Pushed(TxLane& from, const std::string& data) : Got({}, data.size()), lane(from) {
    memory.replace(8, bytes, data);
    EXPECT_TRUE(lane.expose(local, bytes, false, &exposure));
    kind = Kind::kPush;
    key = exposure.key;
  }
  ~Pushed() { lane.conceal(exposure); }
  bool try_to_send(int tag) {
    Payload payload{&exposure.key, sizeof exposure.key};
    return lane.try_send_before(*this, {1, 0, 0, 77, 3, tag}, nullptr, payload);
  }
  TxLane& lane;
  Exposure exposure;
};

struct Landing : Got {
  Landing(const Received& packet, std::size_t wanted) : Got({}, wanted) {
    std::memcpy(&key, packet.payload.data(), sizeof key);
    kind = Kind::kLand;
  }
};

// By net alone: ofi_rxm asks its receiver first.
TEST_P(OfiTest, WhatComesBehindAPacketLandsWhereItIsWantedInTime) {
  auto a = side(0), b = side(1);
  TxLane &there = a->lane(1, 1, 0), &back = b->lane(0, 0, 1);
  if (!there.begin_message(100'000)) {
    EXPECT_STREQ(GetParam(), "tcp;ofi_rxm");
    return;
  }
  EXPECT_FALSE(there.begin_message(100'000)) << "another one is under way";
  there.end_message();
  there.end_message();
  EXPECT_FALSE(there.begin_message(std::size_t{1} << 20)) << "too long";
  there.end_message();
  int tag = 0;
  for (const std::size_t bytes : {65'537u, 300'000u, 700'000u}) {
    for (const bool wanted : {true, false, true}) {
      const std::string data = pattern(static_cast<unsigned>(tag), bytes);
      Pushed pushed(there, data);
      ASSERT_TRUE(until({a.get(), b.get()}, [&] { return pushed.try_to_send(tag); }));
      ASSERT_TRUE(send({a.get()}, there, tag + 1, "", "behind"));
      b->got[0].clear();
      ASSERT_TRUE(until({a.get(), b.get()}, [&] { return !b->got[0].empty(); }));
      const Received packet = b->got[0].front();
      Landing other(packet, bytes - 1), stranger(packet, bytes), landing(packet, bytes);
      stranger.key ^= 1;
      EXPECT_FALSE(back.start(other)) << "as long as it is, or not at all";
      EXPECT_FALSE(back.start(stranger)) << "what has not come";
      if (!wanted) b->poll();
      EXPECT_EQ(back.start(landing), wanted);
      EXPECT_FALSE(back.start(landing)) << "it comes once";
      ASSERT_TRUE(until({a.get(), b.get()},
                        [&] { return pushed.ends != 0 && (!wanted || landing.ends != 0) && b->got[0].size() == 2; }));
      EXPECT_TRUE(pushed.complete);
      EXPECT_EQ(landing.complete, wanted);
      EXPECT_TRUE(!wanted || landing.data() == data) << bytes;
      EXPECT_TRUE(landing.stayed_inside());
      EXPECT_EQ(b->got[0][1].payload, "behind");
      Got got(pushed.exposure, bytes);  // all the same
      ASSERT_TRUE(back.start(got));
      ASSERT_TRUE(until({a.get(), b.get()}, [&] { return got.ends != 0; }));
      EXPECT_TRUE(got.complete && got.data() == data);
      tag += 2;
    }
  }
  ASSERT_TRUE(there.begin_message(100'000));
  there.note_pushed(false);
  there.end_message();
  int announced = 0;
  for (; !there.begin_message(100'000); ++announced) there.end_message();
  there.end_message();
  EXPECT_EQ(announced, 16) << "after one that nobody waited for";
}

// Who waits for it is told that it does not come.
TEST_P(OfiTest, WhatALostPeerHasPushedEnds) {
  auto a = side(0), b = side(1);
  TxLane &there = a->lane(1, 1, 0), &back = b->lane(0, 0, 1);
  if (!there.begin_message(100'000)) return;
  const std::string data = pattern(1, 700'000);
  auto pushed = std::make_unique<Pushed>(there, data);
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return pushed->try_to_send(1); }));
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return !b->got[0].empty(); }));
  Landing landing(b->got[0].front(), data.size());
  ASSERT_TRUE(back.start(landing));
  ASSERT_TRUE(until({b.get()}, [&] { return b->wire->lose(0, 0, false); }));
  EXPECT_EQ(landing.ends, 1) << "come or taken back";
  EXPECT_TRUE(!landing.complete || landing.data() == data);
  EXPECT_FALSE(back.start(landing));
  b.reset();
  ASSERT_TRUE(until({a.get()}, [&] { return pushed->ends != 0; }));
  pushed.reset();
}

TEST_P(OfiTest, AFetchWaitsForAPeerThatWasNeverSentTo) {
  auto a = side(0), b = side(1, 3, false);
  const std::string data = pattern(1, 3 << 20);
  Exposure exposure;
  ASSERT_TRUE(b->lane(0, 0, 0).expose(data.data(), data.size(), false, &exposure));
  Got first(exposure, data.size()), second(exposure, 10);
  TxLane& there = a->lane(0, 1, 0);
  ASSERT_TRUE(there.start(first));
  ASSERT_TRUE(there.start(second));
  for (int i = 0; i < 100; ++i) a->poll(), b->poll();
  EXPECT_EQ(first.ends, 0) << "where the peer is has not been said";
  EXPECT_TRUE(a->wire->arm(1)) << "who waits for that may sleep";
  EXPECT_FALSE(a->wire->rings()) << "but not for long";
  cards.put(1, b->card);
  ASSERT_TRUE(until({a.get(), b.get()}, [&] { return first.ends != 0 && second.ends != 0; }));
  EXPECT_TRUE(first.complete && second.complete);
  EXPECT_TRUE(a->wire->rings());
  EXPECT_TRUE(first.data() == data);
  EXPECT_EQ(second.data(), data.substr(0, 10));
  b->lane(0, 0, 0).conceal(exposure);
}

// Begun before the loss it ends, as lose() comes once and nobody answers; after it none begins.
TEST_P(OfiTest, AFetchFromALostPeerEnds) {
  auto a = side(0), b = side(1, 3, false);
  const std::string data = pattern(1, 1000);
  Exposure exposure;
  ASSERT_TRUE(b->lane(0, 0, 0).expose(data.data(), data.size(), false, &exposure));
  TxLane& there = a->lane(0, 1, 0);
  Got before(exposure, data.size()), after(exposure, data.size());
  ASSERT_TRUE(there.start(before));
  EXPECT_TRUE(a->wire->lose(0, 1, true));
  EXPECT_FALSE(there.start(after));
  ASSERT_TRUE(until({a.get()}, [&] { return before.ends != 0; }));
  EXPECT_FALSE(before.complete);
  EXPECT_EQ(after.ends, 0);
  EXPECT_EQ(before.memory, std::string(data.size() + 16, '#')) << "nothing has come";
  b->lane(0, 0, 0).conceal(exposure);
}

TEST_P(OfiTest, WhatIsConcealedIsNotFetched) {
  auto a = side(0), b = side(1);
  TxLane &there = a->lane(0, 1, 0), &back = b->lane(0, 0, 0);
  ASSERT_TRUE(send({a.get(), b.get()}, there, 0, "", "hello"));
  const std::string data = pattern(1, 100'000);
  Exposure exposure;
  ASSERT_TRUE(back.expose(data.data(), data.size(), false, &exposure));
  Exposure guessed = exposure;
  guessed.key += 1;
  back.conceal(exposure);
  // A provider that goes by TCP hangs up, and the fetches end with the connection.
  std::deque<Got> fetches;
  for (const Exposure& wrong : {exposure, guessed}) {
    ASSERT_TRUE(there.start(fetches.emplace_back(wrong, data.size())));
  }
  EXPECT_TRUE(until({a.get(), b.get()}, [&] { return fetches[0].ends != 0 && fetches[1].ends != 0; }));
  a.reset();
  for (const Got& got : fetches) {
    EXPECT_EQ(got.ends, 1);
    EXPECT_FALSE(got.complete);
    EXPECT_EQ(got.memory, std::string(data.size() + 16, '#')) << "nothing has come";
  }
}

TEST_P(OfiTest, ExposuresHaveKeysThatNobodyGuesses) {
  auto a = side(0);
  TxLane& lane = a->lane(0, 1, 0);
  const std::string data(64, 'x');
  std::vector<Exposure> exposures(100);
  std::vector<std::uint64_t> keys;
  for (Exposure& e : exposures) {
    ASSERT_TRUE(lane.expose(data.data(), data.size(), false, &e));
    keys.push_back(e.key);
  }
  std::ranges::sort(keys);
  EXPECT_EQ(std::ranges::adjacent_find(keys), keys.end());
  int small_steps = 0;
  for (std::size_t i = 1; i < keys.size(); ++i) small_steps += keys[i] - keys[i - 1] < (1ull << 40) ? 1 : 0;
  EXPECT_EQ(small_steps, 0) << "keys that follow each other can be guessed";
  for (Exposure& e : exposures) lane.conceal(e);
}

}  // namespace
}  // namespace heddle::wire
