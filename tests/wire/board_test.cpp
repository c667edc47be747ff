// A board: which places may be written again, with operations that follow each other and with some that are apart; random orders of
// three ranks beside a plain account of who has still to read what.
#include "wire/board.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <memory>
#include <random>
#include <vector>

#include "wire/node_memory.hpp"

namespace heddle::wire {
namespace {

constexpr std::uint32_t kRanks = 3;

class BoardTest : public testing::Test {
 protected:
  void open(std::uint32_t lines) {
    const Board::Shape shape{.lines = lines, .small_cells = 0, .cells = 0, .cell_bytes = 0};
    ASSERT_TRUE(Segment::create(kRanks, &segment));
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      nodes.push_back(std::make_unique<NodeMemory>(segment, r, std::vector<ProcessId>{10, 11, 12}));
    }
    std::uint64_t offset = 0;
    ASSERT_TRUE(Board::make(*nodes[0], kRanks, shape, &offset));
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      Board* board = nullptr;
      ASSERT_TRUE(Board::open(*nodes[r], offset, shape, r, {0, 1, 2}, &board));
      boards.emplace_back(board);
    }
  }

  std::shared_ptr<Segment> segment;
  std::vector<std::unique_ptr<NodeMemory>> nodes;
  std::vector<std::unique_ptr<Board>> boards;
};

TEST_F(BoardTest, ARootRunsAheadUntilItsPlacesAreTaken) {
  open(4);
  Board& root = *boards[0];
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t op = root.begin();
    EXPECT_TRUE(root.is_free(op, 8)) << i;
    root.show(op, 8);
  }
  const std::uint64_t fifth = root.begin();
  // The others show the first, which they have not read yet, then the second: the first one's places are free then.
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(root.is_free(fifth, 8)) << i;
    for (std::uint32_t r = 1; r < kRanks; ++r) boards[r]->show(boards[r]->begin(), 8);
  }
  EXPECT_TRUE(root.is_free(fifth, 8));
}

TEST_F(BoardTest, WhatIsApartKeepsItsPlaces) {
  open(4);
  std::array<Board::Apart, kRanks> apart;
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    boards[r]->begin_apart(apart[r], 2);
    EXPECT_EQ(apart[r].first, 1u);
    boards[r]->show_apart(1, 8);
  }
  for (const std::uint64_t op : {3u, 4u}) {  // while 1 and 2 are under way
    for (auto& board : boards) {
      ASSERT_EQ(board->begin(), op);
      ASSERT_TRUE(board->is_free(op, 8));
      board->show(op, 8);
    }
  }
  std::uint32_t next = 0;
  EXPECT_TRUE(boards[0]->all_have_shown(4, &next));
  const std::uint64_t fifth = boards[0]->begin();
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    EXPECT_FALSE(boards[0]->is_free(fifth, 8)) << "all have shown what came after, but have not all read the first";
    boards[r]->end_apart(apart[r]);
  }
  EXPECT_TRUE(boards[0]->is_free(fifth, 8));
}

// Whatever is_free() allows, nobody has still to read what lies there.
TEST_F(BoardTest, RandomOrders) {
  constexpr std::uint32_t kLines = 8;
  open(kLines);
  struct Kept : Board::Apart {
    bool has_shown = false;
  };
  struct Rank {
    std::deque<std::unique_ptr<Kept>> apart;  // begun and not ended
    std::uint64_t begun = 0;
    std::uint64_t read = 0;     // all operations in order through this one
    std::uint64_t waiting = 0;  // one in order that waits for its place; 0: none
  };
  std::array<Rank, kRanks> ranks;
  std::vector<bool> is_apart = {false};  // by operation, the same for all
  std::mt19937 random(1);
  const auto has_to_read = [&](const Rank& rank, std::uint64_t op) {
    if (op > rank.begun) return true;
    if (!is_apart[op]) return op > rank.read;
    return std::any_of(rank.apart.begin(), rank.apart.end(), [op](const auto& kept) { return kept->first == op; });
  };
  const auto is_free = [&](std::uint32_t r, std::uint64_t op) {
    if (!boards[r]->is_free(op, 8)) return false;
    for (const Rank& rank : ranks) {
      EXPECT_FALSE(op > kLines && has_to_read(rank, op - kLines)) << "rank " << r << ", operation " << op;
    }
    return true;
  };
  std::uint64_t shown = 0;
  for (int step = 0; step < 200'000 && !HasFailure(); ++step) {
    const std::uint32_t r = random() % kRanks;
    Rank& rank = ranks[r];
    if (rank.waiting != 0) {  // who is in an operation begins no other
      if (is_free(r, rank.waiting)) {
        boards[r]->show(rank.waiting, 8);
        rank.read = rank.waiting - 1;
        rank.waiting = 0;
        ++shown;
      }
    } else if (random() % 2 == 0) {
      const std::uint64_t op = ++rank.begun;
      if (is_apart.size() == op) is_apart.push_back(random() % 3 == 0);
      if (is_apart[op]) {
        rank.apart.push_back(std::make_unique<Kept>());
        boards[r]->begin_apart(*rank.apart.back(), 1);
        ASSERT_EQ(rank.apart.back()->first, op);
        rank.read = op;
      } else {
        ASSERT_EQ(boards[r]->begin(), op);
        rank.waiting = op;
      }
    }
    if (rank.apart.empty()) continue;
    const auto which = rank.apart.begin() + static_cast<std::ptrdiff_t>(random() % rank.apart.size());
    Kept& kept = **which;
    std::uint32_t next = 0;
    if (!kept.has_shown) {
      kept.has_shown = is_free(r, kept.first);
      if (kept.has_shown) boards[r]->show_apart(kept.first, 8);
    } else if (boards[r]->all_have_shown(kept.first, &next)) {
      boards[r]->end_apart(kept);
      rank.apart.erase(which);
    }
  }
  EXPECT_GT(shown, 1000u) << "and they get on";
}

}  // namespace
}  // namespace heddle::wire
