#include "wire/board.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "mpi.h"
#include "wire/node_memory.hpp"

namespace heddle::wire {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint32_t kLines = 64, kSmallCells = 16;  // of a board for all
// Bytes of the cells of a board for all, and of each (docs/decisions/collectives.md#many-ranks-on-few-cores-the-cells).
constexpr std::size_t kAllCells = 4 << 20, kLargest = 64 << 10, kSmallest = 4096;

constexpr std::size_t whole(std::size_t bytes, std::size_t unit) noexcept { return (bytes + unit - 1) / unit * unit; }

}  // namespace

Board::Shape Board::shape_for_all(std::size_t ranks) noexcept {
  const std::size_t share = kAllCells / kCells / ranks / kCacheLine * kCacheLine;
  return {kLines, kSmallCells, kCells, std::clamp(share, kSmallest, kLargest)};
}

Board::Shape Board::shape_for_one(std::size_t bytes, bool all_wait) noexcept {
  // Two, where all wait for all: who begins the next may do so before all have read this one. A second turn shows a part of what
  // the first does, which may need a smaller place.
  const bool in_line = bytes <= kInline, is_small = !in_line && bytes <= kSmall, is_large = !in_line && !is_small;
  const std::uint32_t small = all_wait ? 2 : is_small ? kSmallCells : 0;
  return {all_wait ? 2 : kLines, in_line ? 0 : small, is_large ? (all_wait ? 2 : kCells) : 0, whole(bytes, kCacheLine)};
}

Board::Shape Board::shape_for_row(std::size_t bytes, std::size_t ranks) noexcept {
  return {kLines, 0, kCells, whole((bytes + ranks - 1) / ranks, kCacheLine)};
}

std::size_t Board::small_bytes(std::size_t ranks, const Shape& shape) noexcept {
  return whole(sizeof(Header) + BoardLines::bytes(ranks, shape.lines) + ranks * shape.small_cells * kSmall, kPage);
}

std::size_t Board::bytes(std::size_t ranks, const Shape& shape) noexcept {
  return small_bytes(ranks, shape) + shape.cells * ranks * shape.cell_bytes;
}

Status Board::make(NodeMemory& node, std::uint32_t ranks, const Shape& shape, std::uint64_t* offset) {
  bool is_fresh = false;
  HEDDLE_TRY(node.make_piece(bytes(ranks, shape), offset, &is_fresh));
  std::byte* base = nullptr;
  Status status = node.map_piece(*offset, bytes(ranks, shape), &base);
  if (!status) {
    node.drop_piece(*offset, bytes(ranks, shape));
    return status;
  }
  if (!is_fresh) std::memset(base, 0, small_bytes(ranks, shape));
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
      small_cells_(base + sizeof(Header) + BoardLines::bytes(regions.size(), shape.lines)),
      cells_(base + small_bytes(regions.size(), shape)),
      shape_(shape),
      regions_(std::move(regions)) {}

Board::~Board() {
  // What is not kept may be a hole by now, where a write would bring a page back.
  const bool last = is_kept_ && header().users.fetch_sub(1, std::memory_order_acq_rel) == 1;
  node_.unmap_piece(base_);
  if (last) node_.give_piece_back(offset_, bytes(ranks(), shape_));
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
