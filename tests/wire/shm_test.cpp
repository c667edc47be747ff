#include "wire/shm.hpp"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

namespace heddle::wire {
namespace {

struct Collect final : Sink {
  void deliver(const Packet& packet) noexcept override {
    headers.push_back(packet.header);
    payloads.emplace_back(packet.payload, packet.payload + packet.payload_bytes);
  }
  std::vector<Header> headers;
  std::vector<std::vector<std::byte>> payloads;
};

class ShmTest : public testing::Test {
 protected:
  void SetUp() override {
    std::shared_ptr<Segment> first;
    ASSERT_TRUE(Segment::create(2, &first));
    std::shared_ptr<Segment> second;
    ASSERT_TRUE(Segment::attach(first->card(), 2, &second)) << last_error_detail();
    ASSERT_EQ(first, second) << "one program must share one mapping";
    a = std::make_unique<ShmWire>(first, 0, std::vector<ProcessId>{0, 1}, true);
    b = std::make_unique<ShmWire>(second, 1, std::vector<ProcessId>{0, 1}, true);
  }

  static bool send(TxLane& lane, int tag, const std::vector<std::byte>& data) {
    Payload payload{data.data(), data.size()};
    return lane.try_send(Header{0, 0, 0, 7, 0, tag}, nullptr, payload);
  }

  std::unique_ptr<ShmWire> a, b;
};

TEST_F(ShmTest, LanesAreMadeOnDemandAndKeepApart) {
  TxLane *to_vci_0 = nullptr, *to_vci_3 = nullptr;
  ASSERT_TRUE(a->connect(0, 1, 0, &to_vci_0));
  ASSERT_TRUE(a->connect(0, 1, 3, &to_vci_3));
  ASSERT_TRUE(send(*to_vci_3, 33, {std::byte{3}}));
  ASSERT_TRUE(send(*to_vci_0, 11, {std::byte{1}}));
  Collect zero, three, other;
  EXPECT_EQ(b->poll(0, zero, 10), 1u);
  EXPECT_EQ(b->poll(3, three, 10), 1u);
  EXPECT_EQ(b->poll(1, other, 10), 0u);
  ASSERT_EQ(zero.headers.size(), 1u);
  EXPECT_EQ(zero.headers[0].tag, 11);
  EXPECT_EQ(three.payloads[0], std::vector<std::byte>{std::byte{3}});
}

TEST_F(ShmTest, LongPayloadsGoThroughCells) {
  TxLane* lane = nullptr;
  ASSERT_TRUE(a->connect(0, 1, 0, &lane));
  for (const auto& [bytes, share, made, first] : kCellKinds) {
    int sent = 0;
    auto data = [most = bytes](int i) {
      return std::vector<std::byte>(most - static_cast<std::size_t>(i), std::byte(i));
    };
    while (send(*lane, sent, data(sent))) ++sent;
    EXPECT_EQ(sent, static_cast<int>(share)) << "a lane may not take more cells than its share";
    Collect sink;
    EXPECT_EQ(b->poll(0, sink, 100), share);
    for (int i = 0; i < sent; ++i) ASSERT_EQ(sink.payloads[static_cast<std::size_t>(i)], data(i));
    EXPECT_TRUE(send(*lane, 99, data(1))) << "the receiver has given the cells back";
    EXPECT_EQ(b->poll(0, sink, 100), 1u);
  }
}

TEST_F(ShmTest, ShortAndLongCellsAreGivenBackEachToItsOwn) {
  TxLane* lane = nullptr;
  ASSERT_TRUE(a->connect(0, 1, 0, &lane));
  auto data = [](int i) {
    return std::vector<std::byte>(i % 3 == 0 ? kCellBytes : kCellKinds[1].bytes - 1, std::byte(i));
  };
  int arrived = 0;
  auto receive = [&] {
    Collect sink;
    b->poll(0, sink, 100);
    for (const auto& payload : sink.payloads) EXPECT_EQ(payload, data(arrived++));
  };
  for (int i = 0; i < 2000; ++i) {
    if (!send(*lane, i, data(i))) {
      receive();
      ASSERT_EQ(arrived, i);
      ASSERT_TRUE(send(*lane, i, data(i)));
    }
    if (i % 100 == 7) receive();
  }
  receive();
  EXPECT_EQ(arrived, 2000);
}

TEST_F(ShmTest, OneStalledReceiverDoesNotStarveAnother) {
  TxLane *stalled = nullptr, *self = nullptr;
  ASSERT_TRUE(a->connect(0, 1, 0, &stalled));
  ASSERT_TRUE(a->connect(0, 0, 0, &self));
  const std::vector<std::byte> data(kCellBytes, std::byte{9});
  while (send(*stalled, 0, data)) {
  }
  Collect sink;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(send(*self, i, data));
    ASSERT_EQ(a->poll(0, sink, 1), 1u);
  }
  EXPECT_EQ(sink.payloads.size(), 100u);
}

TEST_F(ShmTest, NobodyWaitsForRoomAtAPeerThatHasLeft) {
  TxLane* lane = nullptr;
  ASSERT_TRUE(a->connect(0, 1, 0, &lane));
  const std::vector<std::byte> small(8), large(kCellBytes);
  while (send(*lane, 0, small)) {
  }
  EXPECT_FALSE(send(*lane, 0, large));
  b.reset();
  EXPECT_TRUE(send(*lane, 0, small));
  EXPECT_TRUE(send(*lane, 0, large));
}

TEST_F(ShmTest, NotHereIsSaidSo) {
  EXPECT_TRUE(a->reaches(1));
  EXPECT_FALSE(a->reaches(2));
}

// In a child: takes the segment that the descriptor names, as one of `ranks`, and 64 bytes of every region.
int adopt_and_carve(int fd, std::uint32_t ranks) {
  std::shared_ptr<Segment> segment;
  if (!Segment::adopt(fd, ranks, &segment)) return 1;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    std::uint64_t offset = 0;
    if (!segment->carve(rank, 64, &offset)) return 2;
    auto* word = segment->at<std::atomic<std::uint64_t>>(offset);
    if (word->fetch_add(1) != 0) return 3;  // somebody else's, too
  }
  return 0;
}

TEST(Segment, WhoeverComesFirstMakesIt) {
  constexpr std::uint32_t kRanks = 8;
  for (int round = 0; round < 20; ++round) {
    const int fd = memfd_create("test", 0);
    ASSERT_GE(fd, 0);
    // As one leaves it who was killed between sizing it and making the headers.
    ASSERT_EQ(ftruncate(fd, round % 2 == 1 ? kRanks * Segment::kRegionBytes : 0), 0);
    std::vector<pid_t> children;
    for (std::uint32_t i = 0; i < kRanks; ++i) {
      const pid_t pid = fork();
      if (pid == 0) _exit(adopt_and_carve(fd, kRanks));
      children.push_back(pid);
    }
    for (pid_t pid : children) {
      int status = -1;
      ASSERT_EQ(waitpid(pid, &status, 0), pid);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    }
    std::shared_ptr<Segment> segment;
    ASSERT_TRUE(Segment::adopt(fd, kRanks, &segment));
    for (std::uint32_t rank = 0; rank < kRanks; ++rank) {
      EXPECT_EQ(segment->region(rank).carved, ((sizeof(RegionHeader) + 4095) & ~std::size_t{4095}) + kRanks * 64);
    }
  }
}

TEST(Segment, OneOfAnotherSizeIsRefused) {
  const int fd = memfd_create("test", 0);
  ASSERT_EQ(ftruncate(fd, 4096), 0);
  std::shared_ptr<Segment> segment;
  EXPECT_FALSE(Segment::adopt(fd, 2, &segment));
  EXPECT_STREQ(last_error_detail(),
               "the node's shared memory has 4096 bytes where 134217728 belong; are all ranks of one Heddle version?");
}

TEST(Segment, BadCardsAreRefusedWithASentence) {
  std::shared_ptr<Segment> segment;
  for (const char* card : {"", ":", "1", "1:", "x:3", "0:0", "-5:3", "12:4x", "99999999999999999999:1"}) {
    EXPECT_FALSE(Segment::attach(card, 2, &segment)) << card;
    EXPECT_NE(std::string(last_error_detail()).find("malformed"), std::string::npos) << card;
  }
  EXPECT_FALSE(Segment::attach("1999999999:7", 2, &segment));
  EXPECT_NE(std::string(last_error_detail()).find("/proc/1999999999/fd/7"), std::string::npos);
}

TEST(Segment, CarvesUntilTheRegionIsUsedUp) {
  std::shared_ptr<Segment> segment;
  ASSERT_TRUE(Segment::create(1, &segment));
  std::uint64_t first = 0, second = 0;
  ASSERT_TRUE(segment->carve(0, 4096, &first));
  ASSERT_TRUE(segment->carve(0, 64, &second));
  EXPECT_EQ(second, first + 4096);
  EXPECT_EQ(*segment->at<std::uint64_t>(second), 0u);
  EXPECT_FALSE(segment->carve(0, Segment::kRegionBytes, &first));
  EXPECT_NE(std::string(last_error_detail()).find("used up"), std::string::npos);
}

}  // namespace
}  // namespace heddle::wire
