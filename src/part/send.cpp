#include <algorithm>
#include <utility>

#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "part/request.hpp"
#include "vci/domain.hpp"

namespace heddle::part {
namespace {

constexpr std::uint64_t kPacketBytes = 256 << 10;  // a longer group does not go by packets where it can be placed

Send& as_send(mpi::Request& request) noexcept { return static_cast<Send&>(request); }

// The next packet of the group, by `put(header, prefix, payload)`. False: it found no room.
template <class Put>
bool send_packet(Send::Group& group, std::size_t most, Put put) {
  Send& send = *group.send;
  const std::size_t n = std::min<std::uint64_t>(most, group.end - group.at);
  mpi::PackCursor cursor = send.cursor;
  cursor.seek(group.at);
  const auto fill = [](void* state, std::byte* to, std::size_t bytes) {
    static_cast<mpi::PackCursor*>(state)->pack(to, bytes);
  };
  wire::Payload payload{nullptr, n, fill, &cursor};
  const PartPrefix prefix{send.receiver, group.at};
  const wire::Header header{kPart, sizeof prefix, 0, 0, send.comm->rank, 0};
  if (!put(header, &prefix, payload)) return false;
  group.at += n;
  return true;
}

vci::SendOp::Pushed push_group(vci::SendOp& op, vci::Lane& lane) {
  auto& group = static_cast<Send::Group&>(op);
  const bool sent =
      send_packet(group, lane.max_packet(), [&](const auto& header, const void* prefix, wire::Payload& payload) {
        return lane.send(header, prefix, payload);
      });
  if (!sent) return vci::SendOp::Pushed::kBlocked;
  if (group.at != group.end) return vci::SendOp::Pushed::kMore;
  group.send->done();
  return vci::SendOp::Pushed::kFinished;
}

// A group that the network writes.
struct Writing : wire::RemoteAccess {
  Send::Group* group = nullptr;
};

// With the lock of the VCI held, which keeps the send.
void on_written(wire::RemoteAccess& access, bool is_there) NO_THREAD_SAFETY_ANALYSIS {
  Send::Group& group = *static_cast<Writing&>(access).group;
  Send& send = *group.send;
  const bool was_told = access.is_told();
  delete &static_cast<Writing&>(access);
  send.writing.fetch_sub(1, std::memory_order_release);
  if (!is_there) {
    if (was_told) return;                                     // and the receiver is lost
    send.is_exposed.store(false, std::memory_order_relaxed);  // the others need not break off, too
    return send.lane->stream(group);
  }
  const std::uint64_t bytes = group.end - group.at;
  send.vci->count_written_partitions(bytes / send.args.each, bytes);
  if (!was_told) {
    const PlacedPrefix prefix{send.receiver, group.at, bytes};
    send.lane->post_control({kPlaced, sizeof prefix, 0, 0, send.comm->rank, 0}, &prefix);
  }
  send.done();
}

// Gives back what the send holds, and the send itself when nobody names it any more.
void bury(Send& send) {
  mpi::Comm& comm = *send.comm;
  mpi::Datatype& type = *send.args.type;
  vci::Vci& vci = *send.vci;
  const bool lost = p2p::has_losses(comm) && p2p::is_lost(comm, send.args.peer);
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
  send.late = false;
  const bool freed = send.freed;
  vci.lock().unlock();
  if (freed) bury(send);
  return true;
}

bool give_up(mpi::Request& request) {
  Send& send = as_send(request);
  if (!p2p::is_lost(*send.comm, send.args.peer)) return false;
  if (send.writing.load(std::memory_order_acquire) != 0) return false;  // the wire ends them
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
    groups[i].push = push_group;
  }
  linked = true;
}

Status Send::start() noexcept {
  if (p2p::has_losses(*comm) && p2p::is_lost(*comm, args.peer)) return p2p::loss_error(*comm, args.peer);
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

// Packets are the faster way to a receiver that takes them at once: both sides copy. One that does not is not waited for, as nobody
// may push them for as long as this side computes. So what finds no room is placed.
void Send::send(Group& group) noexcept {
  if (args.peer == MPI_PROC_NULL) return done();
  const bool lost = p2p::has_losses(*comm) && p2p::is_lost(*comm, args.peer);  // its process id may be another's now
  if (!lost && is_exposed.load(std::memory_order_acquire) && write(group)) return;
  if (address == 0 || lost) return lane->stream(group);
  const auto post = [&](const auto& header, const void* prefix, wire::Payload& payload) {
    return lane->try_post(header, prefix, payload);
  };
  const bool by_packets = group.end - group.at <= kPacketBytes;
  bool unsent = true;  // no bytes are a packet, too
  while (unsent && by_packets && send_packet(group, lane->max_packet(), post)) unsent = group.at != group.end;
  if (unsent && !place(group)) return lane->stream(group);
  done();
}

// Writes the rest into the receiver's buffer. False: not all of it, or there is none.
bool Send::place(Group& group) noexcept {
  const std::uint64_t n = group.end - group.at;
  mpi::PackCursor from = cursor;
  from.seek(group.at);
  const std::size_t placed = lane->tx().memory()->write_at(address + group.at, from.data(), n);
  if (placed != 0) {
    const PlacedPrefix prefix{receiver, group.at, placed};
    lane->post_control({kPlaced, sizeof prefix, 0, 0, comm->rank, 0}, &prefix);
    group.at += placed;
  }
  return placed == n && n != 0;
}

// By the network, and the receiver is told of it: by the network, part by part, where that can and one partition goes alone; else
// by a packet when it is there. False: not begun.
bool Send::write(Group& group) noexcept {
  auto* one = group.end - group.at < kWrittenBytes ? nullptr : new (std::nothrow) Writing;
  if (one == nullptr) return false;
  mpi::PackCursor from = cursor;
  from.seek(group.at);
  one->group = &group;
  one->key = key;
  one->address = exposed_at + group.at;
  if (told != 0 && group.end - group.at == args.each) {
    one->told = told;
    one->number = static_cast<std::uint32_t>(group.at / args.each * parts_written(args.each));
  }
  one->local = from.data();
  one->bytes = group.end - group.at;
  one->kind = wire::RemoteAccess::Kind::kWrite;
  one->done = on_written;
  writing.fetch_add(1, std::memory_order_relaxed);
  if (lane->start(*one)) return true;
  if (std::exchange(one->told, 0) != 0) {  // this provider cannot tell
    one->failed = false;
    if (lane->start(*one)) return true;
  }
  writing.fetch_sub(1, std::memory_order_release);
  delete one;
  return false;
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

void on_exposed(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<ExposedPrefix>();
  auto& send = *reinterpret_cast<Send*>(prefix.sender);
  if (send.freed || !send.cursor.contiguous() || &send.lane->owner() != send.vci) return;
  send.key = prefix.key;
  send.exposed_at = prefix.address;
  if (packet.payload_bytes == sizeof send.told) std::memcpy(&send.told, packet.payload, sizeof send.told);
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
