// Offers and reads between two processes of one program, and a real other process.
#include "wire/single_copy.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace heddle::wire {
namespace {

class SingleCopyTest : public testing::Test {
 protected:
  // Region 0 offers, region 1 reads as `control` says.
  void open(const char* control) {
    ASSERT_TRUE(Segment::create(2, &segment));
    std::unique_ptr<MemoryReader> reader;
    ASSERT_TRUE(make_memory_reader(control, &reader)) << last_error_detail();
    a = std::make_unique<SingleCopy>(segment, 0, 2, std::make_unique<MemoryReader>(), true);
    b = std::make_unique<SingleCopy>(segment, 1, 2, std::move(reader), true);
  }
  // All of an offer of `units` units, of which one goes otherwise.
  std::size_t read_all(Offer offer, std::uint32_t units, std::vector<std::byte>& to) {
    PeerMemory& peer = *b->memory_of(0);
    Claims<> claims = peer.claims(offer, units);
    if (peer.way() == PeerMemory::Way::kRefused || claims.claim(units).count != units - 1) return 0;
    return peer.read(offer, claims.address(), 0, to.data(), to.size());
  }

  std::shared_ptr<Segment> segment;
  std::unique_ptr<SingleCopy> a, b;
};

std::vector<std::byte> bytes_of(std::size_t n) {
  std::vector<std::byte> data(n);
  for (std::size_t i = 0; i < n; ++i) data[i] = static_cast<std::byte>(i * 7 + (i >> 8));
  return data;
}

TEST_F(SingleCopyTest, WhatIsInThisProcessIsCopied) {
  open("auto");
  const auto data = bytes_of(100'000);
  std::vector<std::byte> got(data.size());
  EXPECT_EQ(read_all(a->offer(data.data(), 1), 7, got), data.size());
  EXPECT_EQ(got, data);
  EXPECT_EQ(b->stats().bytes_mapped, data.size());
  EXPECT_EQ(b->stats().bytes_copied, 0u);
}

TEST_F(SingleCopyTest, WhatLiesInTheSegmentIsCopiedWhoeverOwnsIt) {
  open("test:none");  // not as one process
  std::uint64_t offset = 0;
  ASSERT_TRUE(segment->carve(0, 65536, &offset));
  const auto data = bytes_of(65536);
  std::memcpy(segment->at<void>(offset), data.data(), data.size());
  std::vector<std::byte> got(data.size());
  EXPECT_EQ(read_all(a->offer(segment->at<void>(offset), 1), 4, got), data.size());
  EXPECT_EQ(got, data);
  EXPECT_EQ(b->stats().bytes_mapped, data.size());
}

TEST_F(SingleCopyTest, ReadsGoOnAfterAPart) {
  open("test:short@1,short@2,short@3");
  const auto data = bytes_of(90'001);
  std::vector<std::byte> got(data.size());
  EXPECT_EQ(read_all(a->offer(data.data(), 1), 6, got), data.size());
  EXPECT_EQ(got, data);
  EXPECT_EQ(b->stats().failures, 0u);
}

TEST_F(SingleCopyTest, AFaultEndsOneReadAndARefusalAll) {
  open("test:stop@1,refuse@4");
  const auto data = bytes_of(90'000);
  std::vector<std::byte> got(data.size());
  const std::size_t part = read_all(a->offer(data.data(), 1), 6, got);
  EXPECT_EQ(part, 60'000u);
  EXPECT_TRUE(std::equal(got.begin(), got.begin() + 60'000, data.begin()));
  EXPECT_EQ(got[60'000], std::byte{0});
  EXPECT_EQ(read_all(a->offer(data.data(), 1), 6, got), data.size()) << "a fault is one message's";
  EXPECT_EQ(read_all(a->offer(data.data(), 1), 6, got), 0u);
  EXPECT_EQ(b->memory_of(0)->way(), PeerMemory::Way::kRefused);
}

// Rows of different lengths, cut short in the middle of one; a fault ends them there, and what came before counts.
TEST_F(SingleCopyTest, RowsGoOnAfterAPartOfOne) {
  for (const char* control :
       {"test:none", "test:short@3", "test:short@1,short@2,short@6", "test:stop@4", "test:refuse@4"}) {
    open(control);
    PeerMemory& peer = *b->memory_of(0);
    ASSERT_EQ(peer.way(), PeerMemory::Way::kRead);
    const auto data = bytes_of(100);
    std::vector<std::byte> got(data.size());
    iovec here[10], there[10];
    std::size_t begin = 0;
    for (std::size_t i = 0; i < 10; begin += ++i) {
      here[i] = {got.data() + begin, i + 1};
      there[i] = {const_cast<std::byte*>(data.data()) + begin, i + 1};
    }
    const bool stops = std::strcmp(control, "test:stop@4") == 0, refuses = std::strcmp(control, "test:refuse@4") == 0;
    const bool fails = stops || refuses;
    const std::size_t done = peer.read_rows(here, there, 10);
    EXPECT_EQ(done, stops ? 3u : refuses ? 0u : 10u) << control;
    const std::size_t bytes = stops ? 6 : refuses ? 0 : 55;
    EXPECT_TRUE(std::equal(got.begin(), got.begin() + static_cast<long>(bytes), data.begin())) << control;
    EXPECT_EQ(peer.way(), refuses ? PeerMemory::Way::kRefused : PeerMemory::Way::kRead);
    if (fails) continue;
    std::vector<std::byte> back(data.size());
    for (std::size_t i = 0; i < 10; ++i)
      there[i].iov_base = back.data() + (static_cast<std::byte*>(here[i].iov_base) - got.data());
    EXPECT_EQ(peer.write_rows(here, there, 10), 10u) << control;
    EXPECT_TRUE(std::equal(back.begin(), back.begin() + 55, data.begin())) << control;
  }
}

TEST_F(SingleCopyTest, AWrongProcessIsNoticedByTheCookie) {
  open("test:none");
  segment->region(0).memory.cookie ^= 1;
  EXPECT_EQ(b->memory_of(0)->way(), PeerMemory::Way::kRefused);
}

TEST_F(SingleCopyTest, OffHasNoMemory) {
  open("off");
  EXPECT_EQ(b->memory_of(0), nullptr);
}

TEST_F(SingleCopyTest, BlocksComeBackWithANewGeneration) {
  open("auto");
  const Offer first = a->offer(this, 1);
  Claims<> old = b->memory_of(0)->claims(first, 100);
  a->withdraw(first);
  const Offer second = a->offer(this, 1);
  EXPECT_EQ(first.offset(), second.offset());
  EXPECT_NE(first.bits(), second.bits());
  EXPECT_EQ(old.claim(1).count, 0u);
  EXPECT_EQ(b->memory_of(0)->claims(second, 100).claim(1).count, 1u);
  std::vector<Offer> many;
  for (int i = 0; i < 200; ++i) many.push_back(a->offer(this, 1));
  for (const Offer& offer : many) EXPECT_NE(offer.offset(), second.offset());
}

TEST_F(SingleCopyTest, AnotherProcess) {
  const char* why = "";
  if (!single_copy_works(&why)) GTEST_SKIP() << "this system refuses single copy: " << why;
  open("auto");
  const auto data = bytes_of(1 << 20);
  const Offer offer = a->offer(data.data(), 1);
  int done[2];
  ASSERT_EQ(pipe(done), 0);
  PeerMemory& peer = *b->memory_of(0);
  const MemoryCard card = segment->region(0).memory;
  const pid_t child = fork();
  if (child == 0) {  // it is the owner now: the parent's copy changes, the child's doesn't
    char byte;
    close(done[1]);
    _exit(read(done[0], &byte, 1) == 0 ? 0 : 1);
  }
  const auto expected = data;
  std::memset(const_cast<std::byte*>(data.data()), 0, data.size());
  segment->region(0).memory.pid = child;
  segment->region(0).memory.process = 1;
  EXPECT_EQ(peer.way(), PeerMemory::Way::kRead) << card.pid;
  std::vector<std::byte> got(data.size());
  EXPECT_EQ(read_all(offer, 64, got), got.size());
  EXPECT_EQ(got, expected);
  EXPECT_EQ(peer.read(offer, 8, 0, got.data(), 4096), 0u) << "an address that nobody has";
  close(done[1]);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(peer.read(offer, reinterpret_cast<std::uint64_t>(data.data()), 0, got.data(), 4096), 0u);
  EXPECT_EQ(peer.way(), PeerMemory::Way::kRefused) << "the process is gone";
  close(done[0]);
}

TEST(MemoryReader, ControlsThatMeanNothingAreErrors) {
  std::unique_ptr<MemoryReader> reader;
  for (const char* control :
       {"", "on", "test", "test:refuse", "test:refuse@", "test:refuse@x", "test:bad@1", "test:none,x"}) {
    EXPECT_FALSE(make_memory_reader(control, &reader)) << control;
    EXPECT_NE(std::strstr(last_error_detail(), "HEDDLE_SINGLE_COPY"), nullptr);
  }
  EXPECT_TRUE(make_memory_reader(nullptr, &reader));
  EXPECT_NE(reader, nullptr);
}

}  // namespace
}  // namespace heddle::wire
