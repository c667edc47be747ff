// A board: which places may be written again, with operations that follow each other and with some that are apart; random orders of
// three ranks beside a plain account of who has still to read what.
#include "wire/board.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "wire/node_memory.hpp"

namespace heddle::wire {
namespace {

constexpr std::uint32_t kRanks = 3;

class BoardTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Segment::create(kRanks, &segment));
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      nodes.push_back(std::make_unique<NodeMemory>(segment, r, std::vector<ProcessId>{10, 11, 12}));
    }
  }
  void make(const Board::Shape& shape) { ASSERT_TRUE(Board::make(*nodes[0], kRanks, shape, &offset)); }
  void open_one(const Board::Shape& shape) {
    Board* board = nullptr;
    const auto r = static_cast<std::uint32_t>(boards.size());
    ASSERT_TRUE(Board::open(*nodes[r], offset, shape, r, {0, 1, 2}, &board));
    boards.emplace_back(board);
  }
  void open(std::uint32_t lines) { open_all({.lines = lines}); }
  void open_all(const Board::Shape& shape) {
    make(shape);
    for (std::uint32_t r = 0; r < kRanks; ++r) open_one(shape);
    for (const auto& board : boards) board->keep();
  }
  // What the node's memory takes of the machine's.
  std::size_t bytes_behind() const {
    const std::string card = segment->card();
    struct stat info {};
    EXPECT_EQ(fstat(std::stoi(card.substr(card.find(':') + 1)), &info), 0);
    return static_cast<std::size_t>(info.st_blocks) * 512;
  }

  std::shared_ptr<Segment> segment;
  std::vector<std::unique_ptr<NodeMemory>> nodes;
  std::vector<std::unique_ptr<Board>> boards;
  std::uint64_t offset = 0;
};

TEST_F(BoardTest, WhoeverLeavesLastGivesItBackForTheNext) {
  open(64);
  const std::uint64_t first = offset;
  boards[2]->show(boards[2]->begin(), 8);
  std::unique_ptr<Board> last = std::move(boards[1]);
  boards.clear();
  open(64);
  EXPECT_NE(offset, first) << "one still has it";
  boards[2]->show(boards[2]->begin(), 8);
  boards.clear();
  last.reset();
  const std::size_t with_both = bytes_behind();
  open(64);
  EXPECT_EQ(bytes_behind(), with_both) << "no new memory";
  boards[0]->show(boards[0]->begin(), 8);
  const std::uint64_t op = boards[1]->begin();
  EXPECT_TRUE(boards[1]->has_shown(op, 0));
  EXPECT_FALSE(boards[1]->has_shown(op, 2)) << "what was there before is gone";
}

// Whichever comes first: those that have opened it leave, or its maker drops it.
TEST_F(BoardTest, WhatSomeCouldNotOpenIsDropped) {
  const Board::Shape shape = Board::shape_for_all(kRanks);
  const std::size_t before = bytes_behind();
  for (const bool leave_first : {true, false}) {
    make(shape);
    open_one(shape);
    open_one(shape);
    EXPECT_GT(bytes_behind(), before);
    if (leave_first) boards.clear();
    Board::drop(*nodes[0], offset, kRanks, shape);
    boards.clear();
    EXPECT_EQ(bytes_behind(), before);
  }
}

// Two ranks of one process, as endpoints are: its bell wakes the one for the other, too.
TEST_F(BoardTest, ASiblingIsWoken) {
  const Board::Shape shape{.lines = 4};
  make(shape);
  const std::vector<std::uint32_t> regions = {0, 1, 1};
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    Board* board = nullptr;
    ASSERT_TRUE(Board::open(*nodes[regions[r]], offset, shape, r, regions, &board));
    boards.emplace_back(board);
    board->keep();
  }
  for (std::uint32_t region : {0u, 1u}) segment->region(region).bell.sleepers = 1;
  const auto rings = [this](std::uint32_t region) { return segment->region(region).bell.sequence.load(); };
  boards[0]->ring();
  EXPECT_EQ(rings(1), 0u) << "for this board nobody sleeps";
  const Board::Sleeps sleeps(*boards[2]);
  boards[0]->ring();
  EXPECT_EQ(rings(0), 0u) << "who comes does not sleep";
  EXPECT_GT(rings(1), 0u);
  for (std::uint32_t r : {1u, 2u}) {
    const std::uint32_t other = rings(0), own = rings(1);
    boards[r]->ring();
    EXPECT_GT(rings(0), other);
    EXPECT_GT(rings(1), own) << "the sibling of rank " << r;
  }
}

TEST_F(BoardTest, ARootRunsAheadUntilItsPlacesAreTaken) {
  open(4);
  Board& root = *boards[0];
  for (int i = 0; i < 4; ++i) {
    const std::uint64_t op = root.begin();
    EXPECT_TRUE(root.is_free(op, 8, Board::Shows::kEach)) << i;
    root.show(op, 8);
  }
  const std::uint64_t fifth = root.begin();
  // The others show the first, which they have not read yet, then the second: the first one's places are free then.
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(root.is_free(fifth, 8, Board::Shows::kEach)) << i;
    for (std::uint32_t r = 1; r < kRanks; ++r) boards[r]->show(boards[r]->begin(), 8);
  }
  EXPECT_TRUE(root.is_free(fifth, 8, Board::Shows::kEach));
}

// What is shown by each, by one, and by one in a row of cells.
struct Kind {
  Board::Shows shows;
  std::size_t bytes;
  std::uint32_t sets;  // as many operations as this go ahead of those that have to read
};
std::vector<Kind> kinds_of(const Board::Shape& shape) {
  using enum Board::Shows;
  const Board::Cells &large = shape.cells[Board::kLarge], &alone = shape.cells[Board::kAlone];
  std::vector<Kind> kinds = {
      {kEach, 8, shape.lines}, {kOne, 8, shape.lines}, {kRow, 8, large.sets}, {kRow, kRanks * large.bytes, large.sets}};
  std::size_t shorter = Board::kInline;
  for (int i = Board::kSmall; i <= Board::kLarge; ++i) {
    const Board::Cells& cells = shape.cells[i];
    if (cells.sets == 0) continue;
    kinds.push_back({kEach, shorter + 1, cells.sets});
    kinds.push_back({kEach, cells.bytes, cells.sets});
    kinds.push_back({kAll, cells.bytes, i == Board::kMiddle ? large.sets : cells.sets});
    shorter = cells.bytes;
  }
  kinds.push_back({kOne, Board::kInline + 1, alone.sets});
  kinds.push_back({kOne, alone.bytes, alone.sets});
  if (alone.bytes < large.bytes) kinds.push_back({kOne, large.bytes, large.sets});
  return kinds;
}

TEST_F(BoardTest, ShorterOnesRunFurtherAhead) {
  const Board::Shape shape = Board::shape_for_all(kRanks);
  open_all(shape);
  for (const Kind& kind : kinds_of(shape)) {
    EXPECT_GE(kind.sets, Board::kFewestSets);
    for (std::uint64_t op = 1; op <= 2 * shape.lines; ++op) {
      ASSERT_EQ(boards[0]->is_free(op, kind.bytes, kind.shows), op <= kind.sets) << kind.bytes << " bytes, " << op;
      ASSERT_EQ(boards[0]->is_free(op, 0, kind.shows), op <= shape.lines) << "who shows nothing needs a line alone";
    }
  }
  EXPECT_GT(shape.lines, shape.cells[Board::kSmall].sets);
  EXPECT_GT(shape.cells[Board::kMiddle].sets, shape.cells[Board::kLarge].sets);
  EXPECT_EQ(Board::shape_for_all(64).cells[Board::kMiddle].sets, 0u) << "no more of them than of large ones";
}

// Two operations that may be under way at once have no byte in common, whatever each shows, nor two ranks in one.
TEST_F(BoardTest, PlacesDoNotOverlap) {
  struct Place {
    const std::byte* begin;
    const std::byte* end;
    std::uint64_t op;
    std::uint32_t sets;
    std::size_t kind;
  };
  for (const std::size_t as_of : {3u, 17u, 33u, 200u, 1000u}) {  // ranks, whose cells differ
    const Board::Shape shape = Board::shape_for_all(as_of);
    boards.clear();
    open_all(shape);
    const std::vector<Kind> kinds = kinds_of(shape);
    std::vector<Place> places;
    for (std::uint64_t op = 1; op <= shape.lines; ++op) {
      for (std::size_t k = 0; k < kinds.size(); ++k) {
        const Kind& kind = kinds[k];
        for (std::uint32_t r = 0; r < (kind.shows <= Board::Shows::kAll ? kRanks : 1); ++r) {
          const std::byte* const at = boards[0]->place(op, r, kind.bytes, kind.shows);
          places.push_back({at, at + kind.bytes, op, kind.sets, k});
        }
      }
    }
    std::ranges::sort(places, {}, &Place::begin);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const Place& a = places[i];
      for (std::size_t j = i + 1; j < places.size() && places[j].begin < a.end; ++j) {
        const Place& b = places[j];
        if (a.op == b.op) {
          ASSERT_NE(a.kind, b.kind) << "of two ranks";
          continue;
        }
        ASSERT_EQ(a.sets, b.sets) << "operations " << a.op << " and " << b.op;
        ASSERT_EQ(a.op % a.sets, b.op % a.sets);
      }
    }
  }
}

// Behind cells there is memory when a rank asks for it, behind each place that it may write then.
TEST_F(BoardTest, MemoryComesOnDemand) {
  const Board::Shape shape = Board::shape_for_all(kRanks);
  const std::size_t before = bytes_behind();
  open_all(shape);
  const std::size_t with_lines = bytes_behind();
  const Board::Cells& large = shape.cells[Board::kLarge];
  EXPECT_LT(with_lines - before, large.sets * large.bytes);
  for (const Kind& kind : kinds_of(shape)) {
    for (std::uint32_t r = 0; r < kRanks; ++r) {
      ASSERT_TRUE(boards[r]->has_memory(kind.bytes, kind.shows));
      const std::size_t with_it = bytes_behind();
      for (std::uint64_t op = 1; op <= shape.lines; ++op)
        std::memset(boards[r]->place(op, r, kind.bytes, kind.shows), 0, kind.bytes);
      ASSERT_EQ(bytes_behind(), with_it) << kind.bytes << " bytes: the write had to find memory";
    }
  }
  EXPECT_GT(bytes_behind(), with_lines + kRanks * large.sets * large.bytes);
}

// Whoever asks for a piece of as many pages with memory behind all of it does not get one without.
TEST_F(BoardTest, ItsMemoryIsNotForWhoNeedsAll) {
  const Board::Shape shape = Board::shape_for_all(kRanks);
  const std::size_t before = bytes_behind();
  open_all(shape);
  const std::size_t with_lines = bytes_behind();
  boards.clear();
  Board::Shape whole = shape;  // as a persistent collective's
  whole.is_on_demand = false;
  const std::uint64_t first = offset;
  make(whole);
  EXPECT_NE(offset, first);
  EXPECT_GT(bytes_behind() - with_lines, with_lines - before);
  make(shape);
  EXPECT_EQ(offset, first) << "and the next board does";
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
      ASSERT_TRUE(board->is_free(op, 8, Board::Shows::kEach));
      board->show(op, 8);
    }
  }
  std::uint32_t next = 0;
  EXPECT_TRUE(boards[0]->all_have_shown(4, &next));
  const std::uint64_t fifth = boards[0]->begin();
  for (std::uint32_t r = 0; r < kRanks; ++r) {
    EXPECT_FALSE(boards[0]->is_free(fifth, 8, Board::Shows::kEach))
        << "all have shown what came after, but have not all read the first";
    boards[r]->end_apart(apart[r]);
  }
  EXPECT_TRUE(boards[0]->is_free(fifth, 8, Board::Shows::kEach));
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
    if (!boards[r]->is_free(op, 8, Board::Shows::kEach)) return false;
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
