#include "wire/shm.hpp"

#include <new>

namespace heddle::wire {

ShmWire::ShmWire(std::shared_ptr<Segment> segment, std::uint32_t self, std::vector<ProcessId> process_of, bool threaded,
                 std::unique_ptr<MemoryReader> reader)
    : Wire(true),
      segment_(std::move(segment)),
      region_(&segment_->region(self)),
      self_(self),
      node_(segment_, self, std::move(process_of)),
      single_copy_(segment_, self, node_.regions(), std::move(reader), threaded) {
  node_.read_through(single_copy_);
  if (!threaded) {
    connect_lock_.elide();
    cells_lock_.elide();
  }
}

ShmWire::~ShmWire() { set_away(true); }

Status ShmWire::connect(std::uint32_t, ProcessId peer, std::uint32_t vci, TxLane** lane) {
  {
    // The first cells come with the first lane: here somebody can be told that there is no memory for them. From then on
    // there is always one to wait for.
    LockGuard guard(cells_lock_);
    for (unsigned kind : {0, 1}) {
      if (pooled_[kind] == 0) HEDDLE_TRY(make_cells(kind));
    }
  }
  const auto target = static_cast<std::uint32_t>(node_.region_of(peer));
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
    const std::uint64_t cell = lane.cells_[lane.reclaimed_ % ShmLane::kMostInFlight];
    const unsigned kind = cell & 1;
    free_cells_[kind].push_back(cell - kind);
    --lane.in_flight_[kind];
  }
}

Status ShmWire::make_cells(unsigned kind) noexcept {
  const auto [bytes, per_lane, count] = kCellKinds[kind];
  std::uint64_t chunk = 0;
  HEDDLE_TRY(segment_->carve(self_, count * bytes, &chunk));
  for (std::size_t i = count; i-- > 0;) free_cells_[kind].push_back(chunk + i * bytes);
  pooled_[kind] += count * bytes;
  return Status::ok();
}

bool ShmWire::take_cell(ShmLane& lane, unsigned kind, std::uint64_t* offset) noexcept {
  LockGuard guard(cells_lock_);
  std::vector<std::uint64_t>& free = free_cells_[kind];
  // What was given back is on a line that the receiver writes: a look costs a transfer of it.
  if (lane.in_flight_[kind] >= kCellKinds[kind].per_lane / 2 || free.empty()) reclaim(lane);
  if (lane.in_flight_[kind] == kCellKinds[kind].per_lane) return false;
  if (free.empty()) {
    for (ShmLane* other : cell_lanes_) reclaim(*other);
  }
  if (free.empty()) {
    if (pooled_[0] + pooled_[1] >= kMostPooled && lane.sent_ != lane.reclaimed_) return false;
    if (!make_cells(kind)) return false;
  }
  if (lane.sent_ == 0) cell_lanes_.push_back(&lane);
  *offset = free.back();
  free.pop_back();
  lane.cells_[lane.sent_ % ShmLane::kMostInFlight] = *offset + kind;
  ++lane.in_flight_[kind];
  ++lane.sent_;
  return true;
}

bool ShmLane::send_cell(const Header& header, const void* prefix, Payload& payload) noexcept {
  CellRef ref{0, static_cast<std::uint32_t>(payload.bytes), 0};
  const unsigned kind = cell_kind_for(payload.bytes);
  if (!producer_.has_room(1) || !wire_->take_cell(*this, kind, &ref.offset)) return false;
  auto* cell = wire_->segment_->at<std::byte>(ref.offset);
  if (kind == 0 && payload.fill == nullptr) {
    filler_.fill(cell, static_cast<const std::byte*>(payload.data), payload.bytes);
  } else {
    payload.take(cell, payload.bytes);
  }
  producer_.push_cell(header, prefix, ref);
  return true;
}

}  // namespace heddle::wire
