#include "wire/board.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <utility>

#include "mpi.h"
#include "wire/node_memory.hpp"

namespace heddle::wire {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint32_t kLines = 64, kMostSets = 32;
// Bytes of the large cells of a board for all, and of each (docs/decisions/collectives.md#many-ranks-on-few-cores-the-cells).
constexpr std::size_t kAllCells = 4 << 20, kLargest = 64 << 10, kSmallest = 4096;
// Of its shorter ones, and of all of such a kind (docs/decisions/collectives.md#how-far-a-root-runs-ahead).
constexpr std::size_t kSmall = 1 << 10, kMiddle = 8 << 10, kAllShort = 2 << 20, kAllAlone = 256 << 10;

// As many sets of so many bytes as `all` has room for.
constexpr Board::Cells cells(std::size_t bytes, std::size_t ranks, std::size_t all) noexcept {
  const std::size_t sets = std::bit_floor(std::max<std::size_t>(all / (ranks * bytes), 1));
  return {std::clamp(static_cast<std::uint32_t>(sets), Board::kFewest, kMostSets), bytes};
}

constexpr std::size_t whole(std::size_t bytes, std::size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }

constexpr std::size_t bytes_of(const Board::Cells& cells, std::size_t ranks) noexcept {
  return cells.sets * ranks * cells.bytes;
}

}  // namespace

Board::Shape Board::shape_for_all(std::size_t ranks) noexcept {
  const std::size_t share = kAllCells / kFewest / ranks / kCacheLine * kCacheLine;
  const Cells middle = cells(kMiddle, ranks, kAllShort);
  return {.lines = kLines,
          .small = cells(kSmall, ranks, kAllShort),
          .middle = middle.sets > kFewest ? middle : Cells(),
          .large = {kFewest, std::clamp(share, kSmallest, kLargest)},
          .alone = cells(kMiddle, 1, kAllAlone),
          .is_on_demand = true};
}

Board::Shape Board::shape_for_meeting(std::size_t bytes) noexcept {
  // Two, as who begins the next may do so before all have read this one.
  return {.lines = 2, .large = bytes > kInline ? Cells{2, whole(bytes, kCacheLine)} : Cells()};
}

Board::Shape Board::shape_for_one(std::size_t bytes, std::size_t ranks, Shows shows) noexcept {
  Shape shape{.lines = kLines};
  const std::size_t cell = whole(bytes, kCacheLine);
  if (bytes > kInline && shows == Shows::kOne) shape.alone = cells(cell, 1, kAllAlone);
  if (bytes > kInline && shows != Shows::kOne) shape.large = cells(cell, ranks, kAllShort);
  return shape;
}

Board::Shape Board::shape_for_pieces(std::size_t bytes, std::size_t ranks, Shows shows) noexcept {
  const std::size_t cell = shows == Shows::kRow ? (bytes + ranks - 1) / ranks : bytes;
  return {.lines = kLines, .large = {kFewest, whole(cell, kCacheLine)}};
}

std::size_t Board::begin_of_cells(std::size_t ranks, const Shape& shape) noexcept {
  return whole(sizeof(Header) + BoardLines::bytes(ranks, shape.lines), kPage);
}

std::size_t Board::bytes(std::size_t ranks, const Shape& shape) noexcept {
  return begin_of_cells(ranks, shape) + bytes_of(shape.small, ranks) + bytes_of(shape.middle, ranks) +
         bytes_of(shape.large, ranks) + bytes_of(shape.alone, 1);
}

Status Board::make(NodeMemory& node, std::uint32_t ranks, const Shape& shape, std::uint64_t* offset) {
  bool is_fresh = false;
  const std::size_t reserved = shape.is_on_demand ? begin_of_cells(ranks, shape) : bytes(ranks, shape);
  HEDDLE_TRY(node.make_piece(bytes(ranks, shape), reserved, offset, &is_fresh));
  std::byte* base = nullptr;
  Status status = node.map_piece(*offset, bytes(ranks, shape), &base);
  if (!status) {
    node.drop_piece(*offset, bytes(ranks, shape));
    return status;
  }
  if (!is_fresh) std::memset(base, 0, begin_of_cells(ranks, shape));
  new (base) Header{ranks};
  node.unmap_piece(base);
  return Status::ok();
}

Status Board::open(NodeMemory& node, std::uint64_t offset, const Shape& shape, std::uint32_t rank,
                   const std::vector<std::uint32_t>& regions, Board** out) noexcept {
  std::byte* base = nullptr;
  try {
    HEDDLE_TRY(node.map_piece(offset, bytes(regions.size(), shape), &base));
    *out = new Board(node, offset, base, shape, rank, regions);
    return Status::ok();
  } catch (const std::bad_alloc&) {
    node.unmap_piece(base);
    return error(MPI_ERR_NO_MEM, "no memory for what %zu ranks show each other", regions.size());
  }
}

void Board::drop(NodeMemory& node, std::uint64_t offset, std::uint32_t ranks, const Shape& shape) noexcept {
  node.drop_piece(offset, bytes(ranks, shape));
}

Board::Board(NodeMemory& node, std::uint64_t offset, std::byte* base, const Shape& shape, std::uint32_t rank,
             std::vector<std::uint32_t> regions) noexcept
    : node_(node),
      offset_(offset),
      base_(base),
      lines_(base + sizeof(Header), static_cast<std::uint32_t>(regions.size()), shape.lines, rank),
      shape_(shape),
      small_(base + begin_of_cells(regions.size(), shape)),
      middle_(small_ + bytes_of(shape.small, regions.size())),
      large_(middle_ + bytes_of(shape.middle, regions.size())),
      alone_(large_ + bytes_of(shape.large, regions.size())),
      regions_(std::move(regions)),
      has_memory_{!shape.is_on_demand, !shape.is_on_demand, !shape.is_on_demand} {}

Board::~Board() {
  // What is not kept may be a hole by now, where a write would bring a page back.
  const bool last = is_kept_ && header().users.fetch_sub(1, std::memory_order_acq_rel) == 1;
  node_.unmap_piece(base_);
  if (last) node_.give_piece_back(offset_, bytes(ranks(), shape_));
}

bool Board::reserve(Shows shows) noexcept {
  const auto has = [this](const std::byte* begin, std::size_t bytes) {
    return node_.reserve(offset_ + static_cast<std::size_t>(begin - base_), bytes);
  };
  const Cells &small = shape_.small, &middle = shape_.middle, &large = shape_.large;
  bool all = true;
  if (shows == Shows::kOne) all = has(alone_, bytes_of(shape_.alone, 1));
  if (shows == Shows::kRow) all = has(large_, bytes_of(large, ranks()));
  if (shows == Shows::kEach) {
    all = has(small_ + rank() * bytes_of(small, 1), bytes_of(small, 1)) &&
          has(middle_ + rank() * bytes_of(middle, 1), bytes_of(middle, 1));
    for (std::uint32_t set = 0; set < large.sets; ++set) {
      all = all && has(large_ + (set * ranks() + rank()) * large.bytes, large.bytes);
    }
  }
  if (all) has_memory_[static_cast<int>(shows)].store(true, std::memory_order_relaxed);
  return all;
}

void Board::begin_apart(Apart& apart, unsigned numbers) noexcept { lines_.begin_apart(apart, numbers); }

void Board::end_apart(Apart& apart) noexcept {
  lines_.end_apart(apart);
  if (lines_.has_waiting()) ring_everybody();
}

void Board::wake() noexcept {
  for (std::uint32_t rank = 0; rank < ranks(); ++rank) {
    if (rank != this->rank()) ring_rank(rank);  // a sibling's is this process's own
  }
}

void Board::ring_rank(std::uint32_t rank) noexcept { node_.ring(regions_[rank]); }

void Board::ring_everybody() noexcept {
  for (const std::uint32_t region : regions_) node_.ring(region);
}

void Board::wake_once(std::uint64_t op) noexcept {
  lines_.wake_once(
      op, [this](std::uint32_t rank) { return node_.sleeps(regions_[rank]); },
      [this](std::uint32_t rank) { ring_rank(rank); });
}

bool Board::finds_all() noexcept {
  return std::all_of(regions_.begin(), regions_.end(), [this](std::uint32_t region) {
    PeerMemory* memory = node_.memory_of(region);
    return memory != nullptr && memory->way() != PeerMemory::Way::kRefused;
  });
}

bool Board::read(std::uint32_t rank, std::uint64_t address, std::byte* here, std::size_t bytes) noexcept {
  return node_.memory_of(regions_[rank])->read_at(address, here, bytes) == bytes;
}

bool Board::write(std::uint32_t rank, std::uint64_t address, const std::byte* here, std::size_t bytes) noexcept {
  return node_.memory_of(regions_[rank])->write_at(address, here, bytes) == bytes;
}

}  // namespace heddle::wire
