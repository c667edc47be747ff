#include <algorithm>

#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "part/request.hpp"
#include "vci/domain.hpp"

namespace heddle::part {
namespace {

Send& as_send(mpi::Request& request) noexcept { return static_cast<Send&>(request); }

// Gives back what the send holds, and the send itself when nobody names it any more.
void bury(Send& send) {
  mpi::Comm& comm = *send.comm;
  mpi::Datatype& type = *send.args.type;
  vci::Vci& vci = *send.vci;
  const bool lost = send.has_lost_receiver();
  send.readiness.drop();
  send.groups.reset();
  vci.lock().lock();
  send.empty = true;
  const bool over = send.over || lost;
  vci.lock().unlock();
  if (over) vci.destroy(&send);
  mpi::release(type);
  mpi::release_after_message(comm);
}

void destroy(mpi::Request& request) {
  Send& send = as_send(request);
  {
    LockGuard guard(send.vci->lock());
    send.freed = true;
    if (send.late) return;
    if (send.is_kept()) {
      send.late = true;
      send.vci->domain().add_task(send);
      return;
    }
  }
  bury(send);
}

// With no lock held, as it copies. What was cleared meanwhile is seen to as well.
bool step_late(vci::Task& task) {
  auto& send = static_cast<Send&>(task);
  vci::Vci& vci = *send.vci;
  for (;;) {
    const std::uint32_t cleared = send.readiness.cleared(std::memory_order_acquire);
    send.catch_up(cleared);
    vci.lock().lock();
    if (send.readiness.cleared(std::memory_order_relaxed) == cleared) break;
    vci.lock().unlock();
  }
  const bool freed = send.freed, stays = freed && send.is_kept();
  send.late = stays;
  vci.lock().unlock();
  if (stays) return false;
  if (freed) bury(send);
  return true;
}

bool give_up(mpi::Request& request) {
  Send& send = as_send(request);
  if (!p2p::is_lost(*send.comm, send.args.peer) || send.is_kept()) return false;
  if (!send.readiness.end()) return send.is_complete();
  send.error = MPI_ERR_PROC_ABORTED;
  p2p::finish(send);
  return true;
}

Status explain(const mpi::Request& request) {
  const auto& send = static_cast<const Send&>(request);
  return error(
      send.error,
      "the partitions of this send are %llu bytes in all, and those of the receive at rank %d with tag %d %llu; "
      "make the totals equal",
      static_cast<unsigned long long>(send.args.total()), send.args.peer, send.args.tag,
      static_cast<unsigned long long>(send.setup.total));
}

}  // namespace

const mpi::RequestType kSendType{
    [](mpi::Request& request) { return as_send(request).start(); }, nullptr, destroy, false, give_up, explain};

Send::Send(mpi::Comm& c, const Arguments& arguments) noexcept : Request(kSendType), args(arguments) {
  step = step_late;
  comm = &c;
  vci = c.vci;
  make_persistent();
  cursor.init(*args.type, args.count * args.partitions, args.buffer);
  setup = {reinterpret_cast<std::uint64_t>(this), args.total(), cursor.contiguous() ? args.each : 0};
  mpi::retain_for_message(c);
  mpi::retain(*args.type);
}

void Send::make_groups(std::uint32_t receivers) noexcept {
  grouping = Grouping(args.partitions, receivers, args.each, args.aggregate);
  const std::uint32_t n = messages();
  groups.reset(new (std::nothrow) Group[n]);
  if (groups == nullptr) vci->domain().fatal("no memory for a partitioned send");
  for (std::uint32_t i = 0; i < n; ++i) {
    groups[i].send = this;
    groups[i].push = Group::push_next;
    groups[i].run = Group::go_on;
  }
  linked = true;
}

Status Send::start() noexcept {
  if (has_lost_receiver()) return p2p::loss_error(*comm, args.peer);
  LockGuard guard(vci->lock());
  error = MPI_SUCCESS;
  complete.store(0, std::memory_order_relaxed);
  readiness.start(linked ? messages() : 1);
  for (std::uint32_t i = 0; linked && i < grouping.groups(); ++i) groups[i].taken.start();
  ++epoch;
  active = true;
  if (refused) fail();
  if (linked && args.partitions == 0 && is_cleared()) send_empty();
  return Status::ok();
}

Status Send::ready(std::uint32_t partition) noexcept {
  const std::uint32_t e = epoch;
  if (!readiness.mark(partition, e)) {
    return heddle::error(MPI_ERR_ARG, "partition %u has been made ready before, since the send to rank %d was started",
                         partition, args.peer);
  }
  const bool writes = args.each >= kWrittenBytes && is_exposed.load(std::memory_order_relaxed);
  vci::Vci& mine = *vci;  // whoever waits may free the send as soon as the last partition is taken
  if (args.peer == MPI_PROC_NULL || readiness.is_clear(e)) {
    take(partition, e);
  } else {
    mine.progress();  // the receiver may have said it
    if (readiness.is_clear(e)) catch_up(e);
  }
  if (writes) mine.progress();  // what the others have begun to write is told when it is there
  return Status::ok();
}

void Send::catch_up(std::uint32_t e) noexcept {
  for (std::uint32_t i = 0; i < args.partitions; ++i) {
    if (readiness.is_marked(i, e)) take(i, e);
  }
}

void Send::take(std::uint32_t partition, std::uint32_t e) noexcept {
  if (!readiness.take(partition, e)) return;
  const std::uint32_t g = grouping.of(partition), count = grouping.count(g);
  Group& group = groups[g];
  if (!group.taken.is_last(count)) return;
  group.at = grouping.first(g) * args.each;
  group.end = group.at + count * args.each;
  send(group);
}

// A message of no partitions.
void Send::send_empty() noexcept {
  if (args.peer == MPI_PROC_NULL) return done();
  groups[0].at = groups[0].end = 0;
  lane->stream(groups[0]);
}

void Send::done() noexcept {
  if (readiness.is_last_sent()) p2p::finish(*this);
}

void Send::fail() noexcept {
  if (!readiness.end()) return;
  error = MPI_ERR_TRUNCATE;
  p2p::finish(*this);
}

void Send::link(const LinkPrefix& prefix, std::uint32_t receivers) noexcept {
  if (freed) return;
  receiver = prefix.receiver;
  if (receiver == 0) {
    refused = true;
    setup.total = prefix.address;
    if (active) fail();
    return;
  }
  wire::PeerMemory* memory = lane->tx().memory();
  const bool writes = cursor.contiguous() && memory != nullptr && memory->way() != wire::PeerMemory::Way::kRefused;
  address = writes ? prefix.address : 0;
  make_groups(receivers);
  lane->expect_work();
  if (active) readiness.link(messages());
}

void Send::clear(std::uint32_t e) noexcept {
  if (freed) return;
  readiness.clear(e);
  if (args.partitions == 0 && active && epoch == e) return send_empty();
  for (std::uint32_t i = 0; i < args.partitions && !late; ++i) {
    if (!readiness.is_marked(i, e)) continue;
    late = true;
    vci->domain().add_task(*this);
  }
}

void on_link(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<LinkPrefix>();
  std::uint32_t receivers = 0;
  if (packet.payload_bytes == sizeof receivers) std::memcpy(&receivers, packet.payload, sizeof receivers);
  reinterpret_cast<Send*>(prefix.sender)->link(prefix, receivers);
}

void on_exposed(vci::Vci&, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  const auto prefix = packet.prefix_as<ExposedPrefix>();
  auto& send = *reinterpret_cast<Send*>(prefix.sender);
  if (send.freed || !send.cursor.contiguous() || &send.lane->owner() != send.vci) return;
  send.key = prefix.key;
  send.exposed_at = prefix.address;
  if (packet.payload_bytes == sizeof send.told) std::memcpy(&send.told, packet.payload, sizeof send.told);
  send.vci->lock().expect_work();
  send.is_exposed.store(true, std::memory_order_release);
}

void on_clear(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<ClearPrefix>();
  reinterpret_cast<Send*>(prefix.sender)->clear(prefix.epoch);
}

void on_bye(vci::Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  auto* send = reinterpret_cast<Send*>(packet.prefix_as<ByePrefix>().sender);
  send->over = true;
  if (send->empty) vci.pool().destroy(send);
}

}  // namespace heddle::part
