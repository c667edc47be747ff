// Pieces and blocks of the node's memory, and what lies in another process: a second view of a segment, a real other
// process, limits, and addresses that nobody has.
#include "wire/node_memory.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "mpi.h"

namespace heddle::wire {
namespace {

class NodeMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Segment::create(2, &segment));
    a = std::make_unique<NodeMemory>(segment, 0, std::vector<ProcessId>{10, 11});
    b = std::make_unique<NodeMemory>(segment, 1, std::vector<ProcessId>{10, 11});
  }
  std::size_t bytes_behind() const {
    const std::string card = segment->card();
    struct stat info {};
    EXPECT_EQ(fstat(std::stoi(card.substr(card.find(':') + 1)), &info), 0);
    return static_cast<std::size_t>(info.st_blocks) * 512;
  }

  std::shared_ptr<Segment> segment;
  std::unique_ptr<NodeMemory> a, b;
};

bool is_zero(const std::byte* at, std::size_t bytes) {
  return std::all_of(at, at + bytes, [](std::byte byte) { return byte == std::byte{0}; });
}

TEST_F(NodeMemoryTest, PiecesAreZeroedDistinctAndSeenByAll) {
  constexpr std::size_t kBytes = 10'001;
  std::uint64_t offsets[2];
  bool is_fresh = false;
  std::byte *mine[2], *theirs[2];
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE((i == 0 ? a : b)->make_piece(kBytes, &offsets[i], &is_fresh));
    ASSERT_TRUE(a->map_piece(offsets[i], kBytes, &mine[i]));
    ASSERT_TRUE(b->map_piece(offsets[i], kBytes, &theirs[i]));
    EXPECT_EQ(mine[i], theirs[i]) << "a process maps a piece once";
    EXPECT_TRUE(is_zero(mine[i], kBytes));
    std::memset(mine[i], i + 1, kBytes);
  }
  EXPECT_GE(offsets[1], offsets[0] + kBytes);
  EXPECT_GE(offsets[0], 2 * Segment::kRegionBytes) << "behind the regions";
  for (int i = 0; i < 2; ++i) {
    const std::vector<std::byte> expected(kBytes, static_cast<std::byte>(i + 1));
    EXPECT_EQ(std::memcmp(theirs[i], expected.data(), kBytes), 0) << i;
    a->unmap_piece(mine[i]);
    EXPECT_EQ(std::memcmp(theirs[i], expected.data(), kBytes), 0) << i;
    b->unmap_piece(theirs[i]);
    a->drop_piece(offsets[i], kBytes);
  }
}

TEST_F(NodeMemoryTest, APieceHasItsMemoryAtOnceAndGivesItBack) {
  constexpr std::size_t kBytes = 1 << 20;
  const std::size_t before = bytes_behind();
  std::uint64_t offset = 0;
  bool is_fresh = false;
  ASSERT_TRUE(a->make_piece(kBytes, &offset, &is_fresh));
  EXPECT_EQ(bytes_behind(), before + kBytes) << "no later access can fail for want of memory";
  a->drop_piece(offset, kBytes);
  EXPECT_EQ(bytes_behind(), before);
}

TEST_F(NodeMemoryTest, WhatIsGivenBackIsForTheNextOfAsManyPages) {
  constexpr std::size_t kBytes = 1 << 20, kTooLong = 16 << 20;
  std::uint64_t offset = 0, other = 0, again = 0;
  bool is_fresh = false;
  ASSERT_TRUE(a->make_piece(kBytes - 5, &offset, &is_fresh));
  EXPECT_TRUE(is_fresh);
  const std::size_t behind = bytes_behind();
  b->give_piece_back(offset, kBytes - 5);
  EXPECT_EQ(bytes_behind(), behind);
  ASSERT_TRUE(b->make_piece(kBytes / 2, &other, &is_fresh));
  EXPECT_TRUE(is_fresh) << "it has other pages";
  ASSERT_TRUE(a->make_piece(kBytes, &again, &is_fresh));
  EXPECT_FALSE(is_fresh);
  EXPECT_EQ(again, offset);
  ASSERT_TRUE(a->make_piece(kBytes, &again, &is_fresh));
  EXPECT_TRUE(is_fresh) << "nobody has it twice";
  ASSERT_TRUE(a->make_piece(kTooLong, &again, &is_fresh));
  const std::size_t with_long = bytes_behind();
  a->give_piece_back(again, kTooLong);
  EXPECT_EQ(bytes_behind(), with_long - kTooLong) << "what is long goes back to the system";
}

TEST_F(NodeMemoryTest, NoMoreThanSomeStay) {
  constexpr int kPieces = 3 * RegionHeader::kSpares;
  const std::size_t before = bytes_behind();
  std::uint64_t offsets[kPieces];
  bool is_fresh = false;
  for (int i = 0; i < kPieces; ++i)
    ASSERT_TRUE(a->make_piece(static_cast<std::size_t>(i + 1) << 12, &offsets[i], &is_fresh));
  for (int i = 0; i < kPieces; ++i) a->give_piece_back(offsets[i], static_cast<std::size_t>(i + 1) << 12);
  EXPECT_LE(bytes_behind(), before + (std::size_t{kPieces} << 12) * RegionHeader::kSpares);
  std::uint64_t last = 0;
  ASSERT_TRUE(a->make_piece(std::size_t{kPieces} << 12, &last, &is_fresh));
  EXPECT_EQ(last, offsets[kPieces - 1]) << "a new one takes the place of an old one";
}

TEST_F(NodeMemoryTest, NoBytesAreAPieceWithoutAddress) {
  std::uint64_t offset = 0;
  bool is_fresh = false;
  auto* base = reinterpret_cast<std::byte*>(this);
  ASSERT_TRUE(a->make_piece(0, &offset, &is_fresh));
  ASSERT_TRUE(a->map_piece(offset, 0, &base));
  EXPECT_EQ(base, nullptr);
  a->unmap_piece(base);
  a->drop_piece(offset, 0);
}

TEST_F(NodeMemoryTest, WhatCannotBeHadIsAnErrorAndTakesNothing) {
  std::uint64_t first = 0, second = 0, refused = 0;
  bool is_fresh = false;
  ASSERT_TRUE(a->make_piece(4096, &first, &is_fresh));
  const Status huge = a->make_piece(std::size_t{1} << 48, &refused, &is_fresh);
  EXPECT_EQ(huge.error_class(), MPI_ERR_NO_MEM);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  rlimit low = before;
  low.rlim_cur = first + (1 << 20);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &low), 0);
  const Status limited = a->make_piece(2 << 20, &refused, &is_fresh);
  const std::string why = last_error_detail();
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
  EXPECT_EQ(limited.error_class(), MPI_ERR_NO_MEM);
  EXPECT_NE(why.find("ulimit -f"), std::string::npos) << why;
  ASSERT_TRUE(a->make_piece(4096, &second, &is_fresh));
  EXPECT_EQ(second, first + 4096);
}

TEST_F(NodeMemoryTest, BlocksAreReusedAndZeroed) {
  std::uint64_t first = 0, other = 0, second = 0;
  ASSERT_TRUE(b->take_block(256, &first));
  EXPECT_EQ(first / Segment::kRegionBytes, 1u) << "of its own region";
  EXPECT_TRUE(is_zero(a->at<std::byte>(first), 256));
  std::memset(a->at<void>(first), 0x5a, 256);
  ASSERT_TRUE(b->take_block(256, &other));
  EXPECT_NE(other, first);
  b->give_block_back(256, first);
  ASSERT_TRUE(b->take_block(512, &second));
  EXPECT_NE(second, first) << "of another size";
  ASSERT_TRUE(b->take_block(256, &second));
  EXPECT_EQ(second, first);
  EXPECT_TRUE(is_zero(a->at<std::byte>(second), 256));
}

TEST_F(NodeMemoryTest, ARegionThatIsFullIsAnErrorOfThatProcessAlone) {
  std::uint64_t offset = 0;
  EXPECT_EQ(a->take_block(Segment::kRegionBytes, &offset).error_class(), MPI_ERR_NO_MEM);
  EXPECT_TRUE(b->take_block(64, &offset));
}

TEST_F(NodeMemoryTest, ProcessesAreFoundByTheirIds) {
  EXPECT_EQ(a->region_of(10), 0);
  EXPECT_EQ(a->region_of(11), 1);
  EXPECT_EQ(a->region_of(9), -1);
  EXPECT_EQ(a->region_of(12), -1);
  const NodeMemory scattered(segment, 0, {5, 9, 6});
  EXPECT_EQ(scattered.region_of(9), 1);
  EXPECT_EQ(scattered.region_of(6), 2);
  EXPECT_EQ(scattered.region_of(7), -1);
}

// Region 0's process, as region 1's sees it.
class Peer : public NodeMemoryTest {
 protected:
  PeerMemory& peer(const char* control) {
    std::unique_ptr<MemoryReader> reader;
    EXPECT_TRUE(make_memory_reader(control, &reader)) << last_error_detail();
    mine = std::make_unique<SingleCopy>(segment, 0, 2, std::make_unique<MemoryReader>(), true);
    theirs = std::make_unique<SingleCopy>(segment, 1, 2, std::move(reader), true);
    b->read_through(*theirs);
    return *b->memory_of(0);
  }
  static void both_ways(PeerMemory& memory) {
    std::vector<std::byte> there(100'003), here(there.size());
    for (std::size_t i = 0; i < there.size(); ++i) there[i] = static_cast<std::byte>(i * 7 + (i >> 8));
    const auto address = reinterpret_cast<std::uint64_t>(there.data());
    ASSERT_EQ(memory.read_at(address, here.data(), here.size()), here.size());
    EXPECT_EQ(here, there);
    std::reverse(here.begin(), here.end());
    ASSERT_EQ(memory.write_at(address, here.data(), here.size()), here.size());
    EXPECT_EQ(there, here);
  }

  std::unique_ptr<SingleCopy> mine, theirs;
};

TEST_F(Peer, TheProcessItselfIsCopiedPlainly) {
  PeerMemory& memory = peer("auto");
  ASSERT_EQ(memory.way(), PeerMemory::Way::kMapped);
  both_ways(memory);
}

TEST_F(Peer, ThroughTheKernel) {
  PeerMemory& memory = peer("test:none");
  if (memory.way() == PeerMemory::Way::kRefused) GTEST_SKIP() << "this system refuses single copy";
  ASSERT_EQ(memory.way(), PeerMemory::Way::kRead);
  both_ways(memory);
}

TEST_F(Peer, NoMoreThanWhatIsThere) {
  PeerMemory& memory = peer("test:none");
  if (memory.way() == PeerMemory::Way::kRefused) GTEST_SKIP() << "this system refuses single copy";
  constexpr std::size_t kPage = 4096;
  void* pages = mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  ASSERT_EQ(munmap(static_cast<std::byte*>(pages) + kPage, kPage), 0);
  const auto address = reinterpret_cast<std::uint64_t>(pages);
  std::vector<std::byte> here(2 * kPage, std::byte{3});
  EXPECT_EQ(memory.write_at(address, here.data(), here.size()), kPage);
  EXPECT_EQ(memory.read_at(address, here.data(), here.size()), kPage);
  EXPECT_EQ(memory.read_at(8, here.data(), 64), 0u);
  EXPECT_EQ(memory.write_at(8, here.data(), 64), 0u);
  EXPECT_EQ(memory.way(), PeerMemory::Way::kRead) << "a wrong address is no refusal";
  munmap(pages, kPage);
}

TEST_F(Peer, OffHasNoMemory) {
  std::unique_ptr<MemoryReader> none;
  theirs = std::make_unique<SingleCopy>(segment, 1, 2, std::move(none), true);
  b->read_through(*theirs);
  EXPECT_EQ(b->memory_of(0), nullptr);
}

}  // namespace
}  // namespace heddle::wire
