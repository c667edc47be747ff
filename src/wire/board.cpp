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
// Bytes of each small, middle and lone one, and of all of such a kind at most (docs/decisions/collectives.md#how-far-a-root-runs-ahead).
constexpr std::size_t kOfSmall = 1 << 10, kOfMiddle = 8 << 10, kAllShort = 2 << 20, kAllAlone = 256 << 10;

// As many sets of so many bytes as `all` has room for.
constexpr Board::Cells sets_of(std::size_t bytes, std::size_t ranks, std::size_t all) noexcept {
  const std::size_t sets = std::bit_floor(std::max<std::size_t>(all / (ranks * bytes), 1));
  return {std::clamp(static_cast<std::uint32_t>(sets), Board::kFewestSets, kMostSets), bytes};
}

constexpr std::size_t whole(std::size_t bytes, std::size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }

// All of a kind.
constexpr std::size_t bytes_of(const Board::Shape& shape, int kind, std::size_t ranks) noexcept {
  const Board::Cells& cells = shape.cells[kind];
  return cells.sets * cells.bytes * (kind == Board::kAlone ? 1 : ranks);
}

}  // namespace

Board::Shape Board::shape_for_all(std::size_t ranks) noexcept {
  const std::size_t share = kAllCells / kFewestSets / ranks / kCacheLine * kCacheLine;
  Shape shape{.lines = kLines, .is_on_demand = true};
  shape.cells[kSmall] = sets_of(kOfSmall, ranks, kAllShort);
  const Cells middle = sets_of(kOfMiddle, ranks, kAllShort);
  if (middle.sets > kFewestSets) shape.cells[kMiddle] = middle;
  shape.cells[kLarge] = {kFewestSets, std::clamp(share, kSmallest, kLargest)};
  shape.cells[kAlone] = sets_of(kOfMiddle, 1, kAllAlone);
  return shape;
}

Board::Shape Board::shape_for_meeting(std::size_t bytes) noexcept {
  // Two, as who begins the next may do so before all have read this one.
  Shape shape{.lines = 2};
  if (bytes > kInline) shape.cells[kLarge] = {2, whole(bytes, kCacheLine)};
  return shape;
}

Board::Shape Board::shape_for_one(std::size_t bytes, std::size_t ranks, Shows shows) noexcept {
  Shape shape{.lines = kLines};
  const std::size_t cell = whole(bytes, kCacheLine);
  const bool is_alone = shows == Shows::kOne;
  if (bytes > kInline && is_alone) shape.cells[kAlone] = sets_of(cell, 1, kAllAlone);
  if (bytes > kInline && !is_alone)
    shape.cells[kLarge] = cell <= kOfMiddle ? sets_of(cell, ranks, kAllShort) : Cells{kFewestSets, cell};
  return shape;
}

Board::Shape Board::shape_for_pieces(std::size_t bytes, std::size_t ranks, Shows shows) noexcept {
  const std::size_t cell = shows == Shows::kRow ? (bytes + ranks - 1) / ranks : bytes;
  Shape shape{.lines = kLines};
  shape.cells[kLarge] = {kFewestSets, whole(cell, kCacheLine)};
  return shape;
}

std::size_t Board::begin_of_cells(std::size_t ranks, const Shape& shape) noexcept {
  return whole(sizeof(Header) + BoardLines::bytes(ranks, shape.lines), kPage);
}

std::size_t Board::bytes(std::size_t ranks, const Shape& shape) noexcept {
  std::size_t all = begin_of_cells(ranks, shape);
  for (int kind = 0; kind < kKinds; ++kind) all += bytes_of(shape, kind, ranks);
  return all;
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
      regions_(std::move(regions)) {
  std::byte* begin = base + begin_of_cells(ranks(), shape);
  for (int kind = 0; kind < kKinds; ++kind) {
    begin_[kind] = begin;
    begin += bytes_of(shape, kind, ranks());
  }
  for (std::atomic<bool>& has : has_memory_) has.store(!shape.is_on_demand, std::memory_order_relaxed);
}

Board::~Board() {
  // What is not kept may be a hole by now, where a write would bring a page back.
  const bool last = is_kept_ && header().users.fetch_sub(1, std::memory_order_acq_rel) == 1;
  node_.unmap_piece(base_);
  if (last) node_.give_piece_back(offset_, bytes(ranks(), shape_), shape_.is_on_demand);
}

bool Board::reserve(Kind kind) noexcept {
  const auto has_behind = [&](std::size_t at, std::size_t bytes) {
    return node_.reserve(offset_ + static_cast<std::size_t>(begin_[kind == kRow ? kLarge : kind] - base_) + at, bytes);
  };
  bool has = true;
  if (kind == kRow) {
    has = has_behind(0, bytes_of(shape_, kLarge, ranks()));
  } else if (kind == kAlone) {
    has = has_behind(0, bytes_of(shape_, kAlone, ranks()));
  } else if (kind == kLarge) {
    for (std::size_t set = 0; has && set < shape_.cells[kLarge].sets; ++set) {
      has = has_behind(set * row_bytes() + rank() * cell_bytes(), cell_bytes());
    }
  } else {
    const std::size_t own = bytes_of(shape_, kind, 1);
    has = has_behind(rank() * own, own);
  }
  if (has) has_memory_[kind].store(true, std::memory_order_relaxed);
  return has;
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
