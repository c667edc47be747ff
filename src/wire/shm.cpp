#include "wire/shm.hpp"

#include <new>

namespace heddle::wire {

ShmWire::ShmWire(std::shared_ptr<Segment> segment, std::uint32_t self, std::vector<ProcessId> process_of, bool threaded,
                 std::unique_ptr<MemoryReader> reader)
    : Wire(true),
      segment_(std::move(segment)),
      region_(&segment_->region(self)),
      self_(self),
      process_of_(std::move(process_of)),
      single_copy_(segment_, self, static_cast<std::uint32_t>(process_of_.size()), std::move(reader), threaded) {
  if (!threaded) {
    connect_lock_.elide();
    cells_lock_.elide();
  }
}

ShmWire::~ShmWire() { region_->departed.store(1, std::memory_order_relaxed); }

int ShmWire::region_of(ProcessId peer) const noexcept {
  // Usually the ids of a node are consecutive.
  const std::uint32_t guess = peer - process_of_.front();
  if (guess < process_of_.size() && process_of_[guess] == peer) return static_cast<int>(guess);
  for (std::size_t i = 0; i < process_of_.size(); ++i) {
    if (process_of_[i] == peer) return static_cast<int>(i);
  }
  return -1;
}

Status ShmWire::connect(ProcessId peer, std::uint32_t vci, TxLane** lane) {
  {
    // The first cells come with the first lane: here somebody can be told that there is no memory for them. From then on
    // there is always one to wait for.
    LockGuard guard(cells_lock_);
    if (cells_carved_ == 0) HEDDLE_TRY(make_cells());
  }
  const auto target = static_cast<std::uint32_t>(region_of(peer));
  std::uint64_t offset = 0;
  HEDDLE_TRY(segment_->carve(target, sizeof(RingBlock), &offset));
  auto* block = new (segment_->at<void>(offset)) RingBlock;
  block->sender = self_;
  LockGuard guard(connect_lock_);
  RegionHeader& region = segment_->region(target);
  lanes_.emplace_back(*this, *block, region, single_copy_.memory_of(target));
  region.new_rings[vci].push(offset, block->next);
  *lane = &lanes_.back();
  return Status::ok();
}

void ShmWire::adopt_new_rings(std::uint32_t vci) noexcept {
  region_->new_rings[vci].take_all([&](std::uint64_t offset) -> const std::uint64_t& {
    auto* block = segment_->at<RingBlock>(offset);
    receivers_[vci].rings.push_back({RingConsumer<>(block->ring), block});
    return block->next;
  });
}

void ShmWire::announce_room(RxRing& rx) noexcept {
  rx.block->announce_room(rx.ring, segment_->region(rx.block->sender).bell);
}

void ShmWire::reclaim(ShmLane& lane) noexcept {
  for (const std::uint32_t given_back = lane.producer_.cells_given_back(); lane.reclaimed_ != given_back;
       ++lane.reclaimed_) {
    free_cells_.push_back(lane.in_flight_[lane.reclaimed_ % kCellsPerLane]);
  }
}

Status ShmWire::make_cells() noexcept {
  std::uint64_t chunk = 0;
  HEDDLE_TRY(segment_->carve(self_, kCellsPerCarve * kCellBytes, &chunk));
  for (std::size_t i = kCellsPerCarve; i-- > 0;) free_cells_.push_back(chunk + i * kCellBytes);
  cells_carved_ += kCellsPerCarve;
  return Status::ok();
}

bool ShmWire::take_cell(ShmLane& lane, std::uint64_t* offset) noexcept {
  LockGuard guard(cells_lock_);
  // What was given back is on a line that the receiver writes: a look costs a transfer of it.
  if (lane.cells_in_flight() >= kCellsPerLane / 2 || free_cells_.empty()) reclaim(lane);
  if (lane.cells_in_flight() == kCellsPerLane) return false;
  if (free_cells_.empty()) {
    for (ShmLane* other : cell_lanes_) reclaim(*other);
  }
  if (free_cells_.empty()) {
    if (cells_carved_ >= kMaxPooledCells && lane.cells_in_flight() > 0) return false;
    if (!make_cells()) return false;
  }
  if (lane.sent_ == 0) cell_lanes_.push_back(&lane);
  *offset = free_cells_.back();
  free_cells_.pop_back();
  lane.in_flight_[lane.sent_ % kCellsPerLane] = *offset;
  ++lane.sent_;
  return true;
}

bool ShmLane::send_cell(const Header& header, const void* prefix, Payload& payload) noexcept {
  CellRef ref{0, static_cast<std::uint32_t>(payload.bytes), 0};
  if (!producer_.has_room(1) || !wire_->take_cell(*this, &ref.offset)) return false;
  payload.take(wire_->segment_->at<std::byte>(ref.offset), payload.bytes);
  producer_.push_cell(header, prefix, ref);
  return true;
}

}  // namespace heddle::wire
