// Somebody on the network who is no process of the job sends to one: nothing of it is believed, and the job goes on.
#include <rdma/fi_cm.h>

#include <deque>

#include "wire/card.hpp"
#include "wire/frame.hpp"
#include "wire/ofi_sides.hpp"

namespace heddle::wire {
namespace {

// An endpoint of its own, which can send anything to whoever has published a card.
class Stranger {
 public:
  Stranger(const std::string& provider, const std::string& victims_card) {
    EXPECT_TRUE(Fabric::open({"", provider, "lo"}, &fabric_) && fabric_->bind_to("127.0.0.1")) << last_error_detail();
    fi_info& info = fabric_->info();
    EXPECT_EQ(fi_domain(&fabric_->fabric(), &info, &domain_, nullptr), 0);
    fi_cq_attr queue{};
    queue.format = FI_CQ_FORMAT_DATA;
    EXPECT_EQ(fi_cq_open(domain_, &queue, &queue_, nullptr), 0);
    fi_av_attr addresses{};
    addresses.type = FI_AV_TABLE;
    EXPECT_EQ(fi_av_open(domain_, &addresses, &addresses_, nullptr), 0);
    EXPECT_EQ(fi_endpoint(domain_, &info, &endpoint_, nullptr), 0);
    EXPECT_EQ(fi_ep_bind(endpoint_, &queue_->fid, FI_TRANSMIT | FI_RECV), 0);
    EXPECT_EQ(fi_ep_bind(endpoint_, &addresses_->fid, 0), 0);
    EXPECT_EQ(fi_enable(endpoint_), 0);
    Card card;
    EXPECT_TRUE(read_card(0, victims_card, &card));
    EXPECT_EQ(fi_av_insert(addresses_, card.address.data(), 1, &victim_, 0, nullptr), 1);
  }
  ~Stranger() {
    for (fid* each : {&endpoint_->fid, &addresses_->fid, &queue_->fid, &domain_->fid}) fi_close(each);
  }
  // The data must stay as long as the stranger.
  bool try_send(const std::string& data) {
    const bool sent = fi_send(endpoint_, data.data(), data.size(), nullptr, victim_, &context_) == 0;
    poll();
    return sent;
  }
  void poll() {
    fi_cq_data_entry entry;
    if (fi_cq_read(queue_, &entry, 1) == -FI_EAVAIL) {
      fi_cq_err_entry failure{};
      fi_cq_readerr(queue_, &failure, 0);
    }
  }

 private:
  std::shared_ptr<Fabric> fabric_;
  fid_domain* domain_ = nullptr;
  fid_cq* queue_ = nullptr;
  fid_av* addresses_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  fi_addr_t victim_ = FI_ADDR_UNSPEC;
  fi_context2 context_{};
};

// A frame of a process, VCI 0, to process 0, VCI 0, with one packet, as try_send() of a Side makes it.
std::string frame(std::uint32_t sequence, int tag, const std::string& data, const SipKey& key = kJobKey,
                  std::uint8_t to = 0, ProcessId source = 1) {
  FrameHeader header;
  header.source = source;
  header.target = 0;
  header.sequence = sequence;
  header.to = to;
  header.packets = 1;
  std::string text(sizeof header + framed_bytes(0, data.size()), '\0');
  header.bytes = static_cast<std::uint32_t>(text.size() - sizeof header);
  header.mac = header.mac_under(key);
  const PacketHeader packet{{1, 0, 0, 77, 3, tag}, static_cast<std::uint32_t>(data.size()), 0};
  std::memcpy(text.data(), &header, sizeof header);
  std::memcpy(text.data() + sizeof header, &packet, sizeof packet);
  std::memcpy(text.data() + sizeof header + sizeof packet, data.data(), data.size());
  return text;
}

class OfiStrangerTest : public OfiTest {
 protected:
  void SetUp() override {
    victim = side(0);
    friendly = side(1);
    to_victim = &friendly->lane(0, 0, 0);
    hear_a_friend();
    stranger = std::make_unique<Stranger>(GetParam(), victim->card);
  }
  std::uint64_t strange() const { return victim->wire->dropped(0).strange; }
  std::uint64_t replayed() const { return victim->wire->dropped(0).replayed; }
  bool attack(const std::string& data) {
    return until({victim.get(), friendly.get()}, [&] { return stranger->try_send(data); });
  }
  // Until the victim has counted it.
  template <class Condition>
  bool seen(Condition condition) {
    return until({victim.get(), friendly.get()}, [&] {
      stranger->poll();
      return condition();
    });
  }
  // The next genuine packet, and nothing else, arrives.
  void hear_a_friend(std::size_t bytes = 1000) {
    const std::string data = pattern(static_cast<unsigned>(heard), bytes);
    ASSERT_TRUE(send({victim.get(), friendly.get()}, *to_victim, heard, "", data));
    ++heard;
    ASSERT_TRUE(
        until({victim.get(), friendly.get()}, [&] { return static_cast<int>(victim->got[0].size()) >= heard; }));
    ASSERT_EQ(static_cast<int>(victim->got[0].size()), heard);
    EXPECT_EQ(victim->got[0].back().header.tag, heard - 1);
    EXPECT_EQ(victim->got[0].back().payload, data);
    EXPECT_EQ(victim->losses(), std::vector<std::string>{});
  }

  std::unique_ptr<Side> victim, friendly;
  TxLane* to_victim = nullptr;
  std::unique_ptr<Stranger> stranger;
  int heard = 0;
};
INSTANTIATE_TEST_SUITE_P(Providers, OfiStrangerTest, testing::Values("net", "tcp;ofi_rxm"), provider_name);

TEST_P(OfiStrangerTest, GarbageIsDroppedAndCounted) {
  std::vector<std::string> garbage;
  for (const std::size_t bytes : {1u, 8u, 31u, 32u, 33u, 56u, 1000u, 30'000u, 66'000u}) {
    garbage.push_back(pattern(static_cast<unsigned>(bytes), bytes));
  }
  for (std::size_t i = 0; i < garbage.size(); ++i) {
    ASSERT_TRUE(attack(garbage[i]));
    ASSERT_TRUE(seen([&] { return strange() == i + 1; })) << garbage[i].size() << " bytes, " << strange();
    hear_a_friend();
  }
  EXPECT_EQ(replayed(), 0u);
}

TEST_P(OfiStrangerTest, ForgeriesAreDropped) {
  const auto right = static_cast<std::uint32_t>(heard);
  std::vector<std::string> forged{frame(right, 666, "forged", {kJobKey.low, 0}), frame(right, 666, "forged", {}),
                                  frame(right, 666, "forged", kJobKey, 5)};
  forged.push_back(frame(right, 666, "forged") + "longer!!");
  forged.push_back(frame(right, 666, "forged").substr(0, 56));
  for (std::size_t i = 0; i < forged.size(); ++i) {
    ASSERT_TRUE(attack(forged[i]));
    ASSERT_TRUE(seen([&] { return strange() == i + 1; })) << i;
  }
  hear_a_friend();
}

TEST_P(OfiStrangerTest, ReplaysAreDropped) {
  for (int i = 0; i < 5; ++i) hear_a_friend();
  std::vector<std::string> copies;
  for (std::uint32_t i = 0; i < static_cast<std::uint32_t>(heard); ++i) {
    copies.push_back(frame(i, static_cast<int>(i), pattern(i, 1000)));
  }
  for (std::size_t i = 0; i < copies.size(); ++i) {
    ASSERT_TRUE(attack(copies[i]));
    ASSERT_TRUE(seen([&] { return replayed() == i + 1; })) << i << ", strange: " << strange();
    hear_a_friend();
  }
  EXPECT_EQ(strange(), 0u);
  // That these were true copies: the next one, which only the job's secret can make, is believed.
  const std::string next = frame(static_cast<std::uint32_t>(heard), 4711, "from the secret");
  ASSERT_TRUE(attack(next));
  ASSERT_TRUE(seen([&] { return static_cast<int>(victim->got[0].size()) == heard + 1; }));
  EXPECT_EQ(victim->got[0].back().payload, "from the secret");
}

TEST_P(OfiStrangerTest, MessagesThatAreTooLongTakeNoBufferAway) {
  const std::string just = pattern(1, OfiPort::kFrameBytes + 1), long_one = pattern(2, 300'000),
                    huge = pattern(3, 4 << 20);
  for (int i = 0; i < 8; ++i) {
    for (const std::string* data : {&just, &long_one, &huge}) {
      ASSERT_TRUE(attack(*data)) << i;
      hear_a_friend();
    }
  }
  EXPECT_TRUE(seen([&] { return strange() > 0; }));
}

TEST_P(OfiStrangerTest, WhoLeavesInTheMiddleDoesNoHarm) {
  const std::string data = pattern(1, 66'600);  // more than ofi_rxm sends before it is asked for
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(attack(data));
    for (int polls = 0; polls < i; ++polls) stranger->poll(), victim->poll();
    stranger = std::make_unique<Stranger>(GetParam(), victim->card);
    hear_a_friend();
  }
}

// More than the sockets hold, so that it ends in the middle of a message, of which the victim has a part.
TEST_P(OfiStrangerTest, WhoIsCutOffInTheMiddleOfAMessageTakesNoBufferAway) {
  const std::string data = pattern(1, OfiPort::kFrameBytes);
  for (int i = 0; i < 8 && !HasFailure(); ++i) {
    const std::uint64_t before = strange();
    ASSERT_TRUE(attack(data));
    ASSERT_TRUE(seen([&] { return strange() > before; }));
    std::size_t taken = 0;
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
         taken < 200 && std::chrono::steady_clock::now() < end;) {
      taken += stranger->try_send(data) ? 1 : 0;
    }
    ASSERT_GT(taken, 0u);
    while (victim->poll() != 0) {
    }
    for (int messages = 0; messages < 5; ++messages)
      hear_a_friend(OfiPort::kMaxPayload);  // behind that part, to the buffer's end
    stranger = std::make_unique<Stranger>(GetParam(), victim->card);
    hear_a_friend();
    EXPECT_LT(strange() - before, 1 + taken) << "nothing was cut off";
  }
}

// Two send at the same moment, and their messages lie side by side in a buffer, neither at its end. One is cut off; the other
// goes on when that buffer is full and many more have come.
TEST_P(OfiStrangerTest, WhoIsCutOffLeavesWhatOthersHaveBegunAlone) {
  constexpr int kFirstTag = 100'000, kRounds = 8;
  Stranger slow(GetParam(), victim->card);  // as process 2
  std::deque<std::string> sent;
  const auto try_send = [&](Stranger& by, const std::string& data) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
    do {
      if (by.try_send(data)) return true;
    } while (std::chrono::steady_clock::now() < end);
    return false;
  };
  const auto send_slowly = [&](std::size_t bytes) {
    const auto i = static_cast<unsigned>(sent.size());
    sent.push_back(frame(i, kFirstTag + static_cast<int>(i), pattern(i, bytes), kJobKey, 0, 2));
    if (try_send(slow, sent.back())) return true;
    sent.pop_back();
    return false;
  };
  std::size_t of_slow = 0, looked = 0;
  const auto look = [&] {
    for (; looked < victim->got[0].size(); ++looked) {
      const auto& got = victim->got[0][looked];
      if (got.header.tag < kFirstTag) continue;
      ASSERT_EQ(got.header.tag, kFirstTag + static_cast<int>(of_slow));
      ASSERT_EQ(got.payload, pattern(static_cast<unsigned>(of_slow), of_slow == 0 ? 10 : OfiPort::kMaxPayload));
      ++of_slow;
    }
  };
  const auto hear_slow = [&] {
    return until({victim.get(), friendly.get()}, [&] { return slow.poll(), look(), of_slow == sent.size(); });
  };
  ASSERT_TRUE(until({victim.get(), friendly.get()}, [&] { return send_slowly(10); }) && hear_slow());
  const std::string garbage = pattern(1, OfiPort::kFrameBytes);
  for (int round = 0; round < kRounds && !HasFailure(); ++round) {
    const auto hear = [&](int messages) {
      for (int i = 0; i < messages; ++i, ++heard) {
        const std::string data = pattern(static_cast<unsigned>(heard), OfiPort::kMaxPayload);
        ASSERT_TRUE(send({victim.get(), friendly.get()}, *to_victim, heard, "", data));
      }
      ASSERT_TRUE(until({victim.get(), friendly.get()},
                        [&] { return look(), victim->got[0].size() == static_cast<std::size_t>(heard) + of_slow; }))
          << "round " << round << ": " << victim->got[0].size() - of_slow << " of " << heard << " from the friend";
    };
    hear(round);  // so that the places are others in each round
    stranger = std::make_unique<Stranger>(GetParam(), victim->card);
    const std::uint64_t before = strange();
    ASSERT_TRUE(attack(garbage) && seen([&] { return strange() > before; }));
    const std::size_t had = of_slow;
    while (sent.size() < had + 200 && send_slowly(OfiPort::kMaxPayload)) {
    }
    for (int i = 0; i < 200 && try_send(*stranger, garbage); ++i) {
    }
    while (victim->poll() != 0) {
    }
    look();
    stranger.reset();
    hear(30);  // all buffers come round
    if (of_slow == sent.size()) std::cout << "the sockets hold all of round " << round << "\n";
    ASSERT_TRUE(hear_slow()) << "round " << round << ": " << of_slow << " of " << sent.size() << " arrived, "
                             << replayed() << " replayed";
  }
  EXPECT_EQ(victim->losses(), std::vector<std::string>{});
}

}  // namespace
}  // namespace heddle::wire
