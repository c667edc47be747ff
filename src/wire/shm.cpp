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
    for (CellPool& pool : pools_) pool.lock.elide();
  }
}

ShmWire::~ShmWire() { set_away(true); }

Status ShmWire::connect(std::uint32_t from, ProcessId peer, std::uint32_t vci, TxLane** lane) {
  CellPool& pool = pools_[from];
  {
    // The first cells come with the first lane: here somebody can be told that there is no memory for them. From then on
    // there is always one to wait for.
    LockGuard guard(pool.lock);
    for (unsigned kind : {0, 1}) {
      if (!pool.begun[kind]) HEDDLE_TRY(make_cells(pool, kind));
    }
  }
  const auto target = static_cast<std::uint32_t>(node_.region_of(peer));
  std::uint64_t offset = 0;
  HEDDLE_TRY(segment_->carve(target, sizeof(RingBlock), &offset));
  auto* block = new (segment_->at<void>(offset)) RingBlock;
  block->sender = self_;
  LockGuard guard(connect_lock_);
  RegionHeader& region = segment_->region(target);
  lanes_.emplace_back(*this, pool, *block, region, single_copy_.memory_of(target));
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

void ShmWire::reclaim(CellPool& pool, ShmLane& lane) noexcept {
  for (const std::uint32_t given_back = lane.producer_.cells_given_back(); lane.reclaimed_ != given_back;
       ++lane.reclaimed_) {
    const std::uint64_t cell = lane.cells_[lane.reclaimed_ % ShmLane::kMostInFlight];
    const unsigned kind = cell & 1;
    pool.free[kind].push_back(cell - kind);
    --lane.in_flight_[kind];
  }
}

Status ShmWire::make_cells(CellPool& pool, unsigned kind) noexcept {
  const CellKind& made = kCellKinds[kind];
  const std::uint32_t count = pool.begun[kind] ? made.per_carve : made.at_first;
  std::uint64_t chunk = 0;
  HEDDLE_TRY(segment_->carve(self_, count * made.bytes, &chunk));
  for (std::size_t i = count; i-- > 0;) pool.free[kind].push_back(chunk + i * made.bytes);
  pool.begun[kind] = true;
  pooled_.fetch_add(count * made.bytes, std::memory_order_relaxed);
  return Status::ok();
}

bool ShmWire::take_cell(ShmLane& lane, unsigned kind, std::uint64_t* offset) noexcept {
  CellPool& pool = *lane.pool_;
  LockGuard guard(pool.lock);
  std::vector<std::uint64_t>& free = pool.free[kind];
  // What was given back is on a line that the receiver writes: a look costs a transfer of it.
  if (lane.in_flight_[kind] >= kCellKinds[kind].per_lane / 2 || free.empty()) reclaim(pool, lane);
  if (lane.in_flight_[kind] == kCellKinds[kind].per_lane) return false;
  if (free.empty()) {
    for (ShmLane* other : pool.lanes) reclaim(pool, *other);
  }
  if (free.empty()) {
    if (pooled_.load(std::memory_order_relaxed) >= kMostPooled && lane.sent_ != lane.reclaimed_) return false;
    if (!make_cells(pool, kind)) return false;
  }
  if (lane.sent_ == 0) pool.lanes.push_back(&lane);
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
    wire_->single_copy_.costs().time(Copy::kFill, payload.bytes, [&] {
      filler_.fill(cell, static_cast<const std::byte*>(payload.data), payload.bytes);
      return payload.bytes;
    });
  } else {
    payload.take(cell, payload.bytes);
  }
  producer_.push_cell(header, prefix, ref);
  return true;
}

}  // namespace heddle::wire
