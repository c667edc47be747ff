#include "vci/vci.hpp"

#include "mpi.h"
#include "vci/domain.hpp"

namespace heddle::vci {
namespace {

void on_stray(Vci& vci, const wire::Packet& packet) {
  error(MPI_ERR_INTERN, "a packet came for portal %u, which does not exist; are all ranks of one Heddle version?",
        packet.header.portal)
      .ignore();
  vci.domain().fatal(last_error_detail());
}

void on_stray_short(Vci& vci, wire::Header header, const std::byte* payload, std::size_t bytes) {
  on_stray(vci, {header, payload, payload, bytes});
}

// Of a lane of this process, by its name; or, asked by a lane, of this process's memory.
void on_flow(Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  if (packet.header.code == portals::kAsk) return vci.sources().on_ask(packet);
  if (packet.header.code == portals::kRecall) return vci.sources().on_recall(packet);
  reinterpret_cast<Lane*>(packet.prefix_as<portals::DecisionPrefix>().lane)->on_flow(packet);
}

}  // namespace

Vci::Vci(Domain& domain, std::uint32_t index, const match::Choice& engine, bool threaded) noexcept
    : domain_(domain),
      index_(index),
      bell_(threaded ? &domain.bell() : nullptr),
      sources_(*this, domain.header_pool(), domain.byte_pool(), domain.flow()),
      matching_(sources_),
      table_(on_stray, on_stray_short) {
  table_.set(portals::kFlowPortal, on_flow);
  // The list of lanes keeps its lock: a tool's thread may read it (counts) while the one thread of MPI adds to it.
  if (!threaded || kWithout == Without::kLocks) lock_.elide();
  if (!threaded) idle_tasks_.elide();
  LockGuard guard(lock_);
  matching_.matcher().use(engine);  // without memory for it the default does the same
}

Status Vci::lane_to(wire::ProcessId peer, std::uint32_t remote_vci, Lane** out) {
  LockGuard guard(lanes_lock_);
  for (Lane& lane : lanes_) {
    if (lane.peer() == peer && lane.remote_vci() == remote_vci) {
      *out = &lane;
      return Status::ok();
    }
  }
  wire::TxLane* tx = nullptr;
  HEDDLE_TRY(domain_.connect(index_, peer, remote_vci, &tx));
  const portals::FlowLimits& flow = domain_.flow();
  *out = &lanes_.emplace_back(*this, *tx, peer, remote_vci, portals::Credit{flow.first_headers(), flow.first_bytes()});
  if (bell_ == nullptr || kWithout == Without::kLocks) (*out)->lock().elide();
  return Status::ok();
}

void Vci::lose(wire::ProcessId process) noexcept {
  {
    LockGuard guard(lanes_lock_);
    for (Lane& lane : lanes_) {
      if (lane.peer() == process) lane.close();
    }
  }
  lock_.lock();
  for (unsigned i = 0; i < kLastPolls && poll_alone() != 0; ++i) {
  }
  const auto deadline = std::chrono::steady_clock::now() + kLastAnswers;
  for (bool over = false; !over;) {
    const bool finally = std::chrono::steady_clock::now() > deadline;
    over = true;
    for (wire::Wire* wire : domain_.wires()) over &= wire->lose(index_, process, finally);
    poll_alone();
  }
  unlock_and_wake();
}

Counts Vci::counts(bool home) noexcept {
  Counts counts;
  {
    LockGuard guard(lanes_lock_);
    for (Lane& lane : lanes_) {
      const LaneCounts one = lane.counts();
      counts.sent += one.sent;
      counts.held += one.held;
      counts.offers += one.offers;
    }
  }
  const wire::Dropped dropped = domain_.dropped(index_);
  counts.strange = dropped.strange;
  counts.replayed = dropped.replayed;
  counts.contended_polls = contended_polls_.load(std::memory_order_relaxed);
  counts.foreign_polls = foreign_polls_.load(std::memory_order_relaxed);
  LockGuard guard(lock_);
  counts.received = received_;
  counts.unexpected = unexpected_;
  counts.written_partitions = written_partitions_;
  counts.written_partition_bytes = written_partition_bytes_;
  counts.kept_headers = sources_.kept_headers();
  counts.kept_bytes = sources_.kept_bytes();
  counts.lent_headers = sources_.lent_headers();
  counts.lent_bytes = sources_.lent_bytes();
  counts.disables = sources_.disables();
  counts.byte_disables = sources_.byte_disables();
  counts.searches = sources_.searches();
  counts.dropped_bytes = arriving_.dropped();
  if (!home) {
    counts.queues = matching_.matcher().plain_stats();
    return counts;
  }
  counts.queues = matching_.matcher().stats();
  counts.matching_ns = matching_.matcher().ns();
  return counts;
}

unsigned Vci::push_lanes(bool* contended) noexcept {
  if (!lanes_lock_.try_lock()) {
    *contended = true;
    return 0;
  }
  unsigned moved = 0;
  for (Lane& lane : lanes_) {
    if (lane.busy()) moved += lane.progress(contended);
  }
  lanes_lock_.unlock();
  return moved;
}

unsigned Vci::poll_others() noexcept { return domain_.poll_others(*this); }

[[gnu::hot]] unsigned Vci::poll_alone() noexcept {
  const auto wires = domain_.wires();
  auto deliver = [this](const auto&... packet) noexcept { table_.dispatch(*this, packet...); };
  const unsigned count = wire::poll(*wires.front(), index_, kPollLimit, deliver);
  return wires.size() == 1 ? count : count + poll_networks();
}

unsigned Vci::poll_networks() noexcept {
  unsigned count = 0;
  bool taken = false;
  auto deliver = [this, &taken](const auto&... packet) noexcept {
    taken = true;
    table_.dispatch(*this, packet...);
  };
  for (wire::Wire* wire : domain_.wires().subspan(1)) count += wire::poll_other(*wire, index_, kPollLimit, deliver);
  if (taken) note_completed();  // who sleeps until a descriptor is readable is not told of what was taken before
  return count;
}

}  // namespace heddle::vci
