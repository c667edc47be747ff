// The wire between the processes of one node.
//
// Problem: the fastest way between two cores, without memory for pairs that never talk.
// Method:  a lane is a ring (ring.hpp) in the receiver's region, carved by its sender when the first packet goes, and
//          pushed onto the receiver's list of new rings; the receiver finds it at its next poll. Payloads above
//          kMaxInline go through cells of 1 or 16 KiB: they belong to the *sender's* process, are filled, named in a
//          slot, copied out by the receiver in the order of the ring, and given back by one counter. So cells need no
//          shared free list. A lane has so many of each in flight at most, and one with none in flight always gets one:
//          a receiver that does not listen can't starve the others.
// Threads: see wire.hpp. Each VCI that sends has a pool of cells with a lock of its own, taken once per cell: threads of
//          different VCIs meet nowhere.
// Cost:    a ring takes 16.1 KiB, a VCI that sends 48 KiB more for its first cells.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <vector>

#include "base/lock.hpp"
#include "wire/cell_filler.hpp"
#include "wire/node_memory.hpp"
#include "wire/ring_block.hpp"
#include "wire/segment.hpp"
#include "wire/single_copy.hpp"
#include "wire/wire.hpp"

namespace heddle::wire {

inline constexpr std::size_t kCellBytes = 16 << 10;

// Long messages need few cells, which stay in the caches; of short ones many are on their way before a receiver that
// shares the core runs again.
struct CellKind {
  std::size_t bytes;
  std::uint32_t per_lane;   // in flight
  std::uint32_t per_carve;  // made at once, but the first time
  std::uint32_t at_first;
};
inline constexpr CellKind kCellKinds[] = {{kCellBytes, 8, 8, 2}, {1 << 10, 56, 64, 16}};
constexpr unsigned cell_kind_for(std::size_t bytes) noexcept { return bytes <= kCellKinds[1].bytes ? 1 : 0; }

// In a slot of kind kCell: where the payload lies.
struct CellRef {
  std::uint64_t offset;  // in the segment
  std::uint32_t bytes;
  std::uint32_t unused;
};
static_assert(sizeof(CellRef) == 16);

class ShmLane;
class ShmWire;

// The cells of one VCI's lanes. Apart: each is written by threads of its own.
struct alignas(kApart) CellPool {
  Lock lock;
  std::vector<std::uint64_t> free[2] GUARDED_BY(lock);  // by kind
  std::vector<ShmLane*> lanes GUARDED_BY(lock);         // that have ever had a cell
  bool begun[2] GUARDED_BY(lock) = {};                  // cells of that kind have been made
};

class ShmLane final : public TxLane {
 public:
  ShmLane(ShmWire& wire, CellPool& pool, RingBlock& block, RegionHeader& receiver, PeerMemory* memory) noexcept
      : TxLane(true, kCellBytes),
        wire_(&wire),
        producer_(block.ring),
        block_(&block),
        receiver_(&receiver),
        memory_(memory),
        pool_(&pool) {}
  PeerMemory* memory() noexcept override { return memory_; }
  bool fills_slowly() const noexcept override { return filler_.goes_past(CellFiller::kLong); }
  bool has_room() noexcept override { return producer_.has_room(1) || drop(); }

  bool try_send(const Header& header, const void* prefix, Payload& payload) noexcept override {
    if (header.prefix_bytes + payload.bytes <= kMaxInline) [[likely]] {
      if (!producer_.try_push(header, prefix, payload)) return drop();
    } else if (!send_cell(header, prefix, payload)) {
      return drop();
    }
    receiver_->bell.ring();
    return true;
  }
  // try_send() of what fits one slot, for callers that want it inlined; after kNot try_send() may still find room.
  [[gnu::always_inline]] Sent send_short(const Header header, const void* data, std::size_t bytes) noexcept {
    if (!producer_.push_short(header, data, bytes)) [[unlikely]]
      return Sent::kNot;
    return receiver_->bell.heard() ? Sent::kWakeWanted : Sent::kYes;
  }
  void wake() noexcept override { receiver_->bell.ring(); }
  bool is_away() const noexcept override { return receiver_->departed.load(std::memory_order_relaxed) != 0; }

 private:
  friend class ShmWire;
  // There is no room. True: there never will be, so the packet counts as sent.
  [[gnu::noinline, gnu::cold]] bool drop() noexcept {
    block_->ask_for_room();
    return is_away();
  }
  bool send_cell(const Header& header, const void* prefix, Payload& payload) noexcept;

  ShmWire* wire_;
  RingProducer<> producer_;
  RingBlock* block_;
  RegionHeader* receiver_;
  PeerMemory* memory_;
  CellPool* pool_;
  CellFiller filler_;
  // Guarded by pool_->lock: the cells in flight, oldest first, as offset + kind, and how many of each kind.
  static constexpr std::uint32_t kMostInFlight = kCellKinds[0].per_lane + kCellKinds[1].per_lane;
  std::uint64_t cells_[kMostInFlight] = {};
  std::uint32_t sent_ = 0, reclaimed_ = 0;
  std::uint32_t in_flight_[2] = {};
};

class ShmWire final : public Wire {
 public:
  // `self` and the peers are numbered 0..ranks-1, as the segment's regions; process_of[i] names them for the layers
  // above. `reader` null: no single copy.
  ShmWire(std::shared_ptr<Segment> segment, std::uint32_t self, std::vector<ProcessId> process_of, bool threaded,
          std::unique_ptr<MemoryReader> reader = nullptr);
  ~ShmWire() override;

  bool reaches(ProcessId peer) const noexcept override { return node_.region_of(peer) >= 0; }
  Status connect(std::uint32_t from, ProcessId peer, std::uint32_t to, TxLane** lane) override;
  unsigned poll(std::uint32_t vci, Sink& sink, unsigned limit) noexcept override {
    return poll_with(vci, limit, [&sink](const auto&... packet) noexcept { sink(packet...); });
  }

  // poll() for callers that want their handler inlined.
  template <class Deliver>
  [[gnu::always_inline]] unsigned poll_with(std::uint32_t vci, unsigned limit, Deliver&& deliver) noexcept {
    Receiver& receiver = receivers_[vci];
    if (!region_->new_rings[vci].empty()) [[unlikely]]
      adopt_new_rings(vci);
    unsigned count = 0;
    for (RxRing& rx : receiver.rings) {
      unsigned left = limit;
      for (PlainSlot* slot; left != 0 && (slot = rx.ring.front()) != nullptr; --left) {
        if (slot->first.is_short()) [[likely]] {
          deliver(slot->first.header, slot->first.data, slot->first.bytes);
          rx.ring.pop_front(1);
        } else {
          deliver_other(rx.ring, *slot, deliver);
        }
      }
      if (left == limit) continue;
      count += limit - left;
      if (rx.block->room_is_wanted()) [[unlikely]]
        announce_room(rx);
    }
    return count;
  }

  void set_away(bool away) noexcept override { region_->departed.store(away, std::memory_order_relaxed); }
  Doorbell* bell() noexcept override { return &region_->bell; }
  NodeMemory* node() noexcept override { return &node_; }
  CopyCosts* copy_costs() noexcept override { return &single_copy_.costs(); }
  const SingleCopy& single_copy() const noexcept { return single_copy_; }

 private:
  friend class ShmLane;
  // Apart: threads that poll different VCIs write into theirs for each packet.
  struct alignas(kApart) RxRing {
    RingConsumer<> ring;
    RingBlock* block;
  };
  struct alignas(kApart) Receiver {
    std::vector<RxRing> rings;
  };

  // The next packet, of whatever kind.
  template <class Deliver>
  [[gnu::noinline]] void deliver_other(RingConsumer<>& ring, PlainSlot& slot, Deliver deliver) noexcept {
    const PlainSlot::First& first = slot.first;
    const std::byte* bytes = first.data;
    std::byte whole[kMaxInline];
    const std::uint32_t slots = first.slots;
    if (slots != 1) {
      ring.gather(slot, whole);
      bytes = whole;
    }
    const std::uint8_t prefix = first.header.prefix_bytes;
    Packet packet{first.header, bytes, bytes + prefix, static_cast<std::size_t>(first.bytes - prefix)};
    const bool in_cell = first.kind == SlotKind::kCell;
    if (in_cell) {
      CellRef ref;
      std::memcpy(&ref, packet.payload, sizeof ref);
      packet.payload = segment_->at<const std::byte>(ref.offset);
      packet.payload_bytes = ref.bytes;
    }
    if (prefix == 0 && first.header.portal == 0) {
      deliver(first.header, packet.payload, packet.payload_bytes);
    } else {
      deliver(packet);
    }
    if (in_cell) ring.give_cell_back();
    ring.pop_front(slots);
  }

  [[gnu::noinline]] void adopt_new_rings(std::uint32_t vci) noexcept;
  [[gnu::noinline]] void announce_room(RxRing& rx) noexcept;
  bool take_cell(ShmLane& lane, unsigned kind, std::uint64_t* offset) noexcept;
  Status make_cells(CellPool& pool, unsigned kind) noexcept REQUIRES(pool.lock);
  static void reclaim(CellPool& pool, ShmLane& lane) noexcept REQUIRES(pool.lock);

  static constexpr std::size_t kMostPooled = 16 << 20;  // bytes of a region; beyond it one cell a lane

  std::shared_ptr<Segment> segment_;
  RegionHeader* region_;
  std::uint32_t self_;
  NodeMemory node_;
  Receiver receivers_[kMaxVcis];
  SingleCopy single_copy_;

  Lock connect_lock_;
  std::deque<ShmLane> lanes_ GUARDED_BY(connect_lock_);
  CellPool pools_[kMaxVcis];            // of the VCI that a lane begins at
  std::atomic<std::size_t> pooled_{0};  // bytes of them all
};

}  // namespace heddle::wire
