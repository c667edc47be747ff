// How a group of partitions leaves, once its last one is ready.
//
// Packets are the faster way to a receiver that takes them at once: both sides copy. One that does not is not waited for, as nobody may
// push them for as long as this side computes. So what finds no room is placed into the receiver's buffer, and so is what is long.
// To another host long ones are written by the network.
#include <algorithm>
#include <utility>

#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "part/request.hpp"
#include "vci/domain.hpp"

namespace heddle::part {
namespace {

using Group = Send::Group;

constexpr std::uint64_t kPacketBytes = 256 << 10;  // a longer group does not go by packets where it can be placed
constexpr std::uint64_t kLeftBytes = 16 << 10;     // nor does one that the holder of the lane's lock would have to copy

// The next packet of the group, by `put(header, prefix, payload)`. False: it found no room.
template <class Put>
bool send_packet(Group& group, std::size_t most, Put put) {
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

// A group that the network writes.
struct Writing : wire::RemoteAccess {
  Group* group = nullptr;
};

// With the lock of the VCI held.
void on_written(wire::RemoteAccess& access, bool is_there) NO_THREAD_SAFETY_ANALYSIS {
  Group& group = *static_cast<Writing&>(access).group;
  Send& send = *group.send;
  const bool was_told = access.is_told();
  delete &static_cast<Writing&>(access);
  if (!is_there) {
    if (!was_told) {                                            // else the receiver is lost
      send.is_exposed.store(false, std::memory_order_relaxed);  // the others need not break off, too
      send.lane->stream(group);
    }
    return send.let_go();
  }
  const std::uint64_t bytes = group.end - group.at;
  send.vci->count_written_partitions(bytes / send.args.each, bytes);
  if (!was_told) {
    const PlacedPrefix prefix{send.receiver, group.at, bytes};
    send.lane->post_control({kPlaced, sizeof prefix, 0, 0, send.comm->rank, 0}, &prefix);
  }
  send.done();
  send.let_go();
}

// Begins it. The receiver is told of it by the network, part by part, where that can and one partition goes alone; else by a packet when
// it is there. False: not begun.
bool write(Group& group) {
  Send& send = *group.send;
  auto* one = new (std::nothrow) Writing;
  if (one == nullptr) return false;
  const std::uint64_t each = send.args.each;
  mpi::PackCursor from = send.cursor;
  from.seek(group.at);
  one->group = &group;
  one->key = send.key;
  one->address = send.exposed_at + group.at;
  if (send.told != 0 && group.end - group.at == each) {
    one->told = send.told;
    one->number = static_cast<std::uint32_t>(group.at / each * parts_written(each));
  }
  one->local = from.data();
  one->bytes = group.end - group.at;
  one->kind = wire::RemoteAccess::Kind::kWrite;
  one->done = on_written;
  bool is_begun = send.lane->tx().start(*one);
  if (!is_begun && std::exchange(one->told, 0) != 0) {  // this provider cannot tell
    one->failed = false;
    is_begun = send.lane->tx().start(*one);
  }
  if (is_begun) {
    send.keep();               // until on_written(), which runs under the same lock
    send.vci->wake_waiters();  // if the network could not take it now, who sleeps has to offer it again
    return true;
  }
  delete one;
  return false;
}

// Writes what is left into the receiver's buffer, as far as that goes; not when its process id may be another's by now.
void place(Group& group) {
  Send& send = *group.send;
  mpi::PackCursor from = send.cursor;
  from.seek(group.at);
  wire::PeerMemory& memory = *send.lane->tx().memory();
  const std::uint64_t n = group.end - group.at;
  group.placed = send.has_lost_receiver() ? 0 : memory.write_at(send.address + group.at, from.data(), n);
  group.at += group.placed;
  group.step = Group::Step::kTell;
}

}  // namespace

vci::SendOp::Pushed Group::push_next(vci::SendOp& op, vci::Lane& lane) {
  auto& group = static_cast<Group&>(op);
  const bool sent =
      send_packet(group, lane.max_packet(), [&](const auto& header, const void* prefix, wire::Payload& payload) {
        return lane.send(header, prefix, payload);
      });
  if (!sent) return Pushed::kBlocked;
  if (group.at != group.end) return Pushed::kMore;
  group.send->done();
  return Pushed::kFinished;
}

// One step. The lock is the VCI's for kWrite, the lane's for all others.
LockedWork::Next Group::step_on(bool inside) NO_THREAD_SAFETY_ANALYSIS {
  vci::Lane& way = *send->lane;
  switch (step) {
    case Step::kWrite:
      if (inside) return write(*this) ? Next::kDone : Next::kOutside;
      send->send_by_lane(*this);
      return Next::kDone;
    case Step::kPackets: {
      const auto post = [&](const auto& header, const void* prefix, wire::Payload& payload)
                            NO_THREAD_SAFETY_ANALYSIS { return way.try_post_locked(header, prefix, payload); };
      if (!send_packet(*this, way.max_packet(), post)) {
        step = way.is_closed() ? Step::kStream : Step::kPlace;
        return step == Step::kPlace ? Next::kOutside : Next::kInside;
      }
      if (at != end) return Next::kInside;
      send->done();
      return Next::kDone;
    }
    case Step::kPlace:
      place(*this);
      return Next::kInside;
    case Step::kTell:
      if (placed != 0) {
        const PlacedPrefix prefix{send->receiver, at - placed, placed};
        way.post_control_locked({kPlaced, sizeof prefix, 0, 0, send->comm->rank, 0}, &prefix);
        if (at == end) {
          send->done();
          return Next::kDone;
        }
      }
      [[fallthrough]];
    case Step::kStream:
      way.stream_locked(*this);
      return Next::kDone;
  }
  __builtin_unreachable();
}

// Of one that was left.
LockedWork::Next Group::go_on(LockedWork& work, bool inside) {
  auto& group = static_cast<Group&>(work);
  Send& send = *group.send;
  vci::Vci& vci = *send.vci;
  const Next next = group.step_on(inside);
  if (next != Next::kDone) return next;
  send.let_go();
  if (vci.domain().losses().count() != 0) vci.wake_waiters();  // who gives the send up waits for that
  return next;
}

void Send::send(Group& group) noexcept {
  if (args.peer == MPI_PROC_NULL) return done();
  if (group.end - group.at < kWrittenBytes || !is_exposed.load(std::memory_order_acquire) || has_lost_receiver()) {
    return send_by_lane(group);
  }
  group.step = Group::Step::kWrite;
  carry_on(group, vci->lock());
}

void Send::send_by_lane(Group& group) noexcept {
  group.step = address == 0 || has_lost_receiver()    ? Group::Step::kStream
               : group.end - group.at <= kPacketBytes ? Group::Step::kPackets
                                                      : Group::Step::kPlace;
  carry_on(group, lane->lock());
}

// As far as this thread can without waiting for the lock. Its holder does the rest, but does not copy much for others.
void Send::carry_on(Group& group, Lock& lock) noexcept {
  using Next = LockedWork::Next;
  Next then = group.step == Group::Step::kPlace ? Next::kOutside : Next::kInside;
  while (then != Next::kDone) {
    if (then == Next::kOutside) {
      then = group.step_on(false);
    } else if (lock.try_lock()) {
      then = group.step_on(true);
      lock.unlock();
    } else if (group.step == Group::Step::kPackets && group.end - group.at > kLeftBytes) {
      group.step = Group::Step::kPlace;
      then = Next::kOutside;
    } else {
      keep();
      return lock.leave(group);
    }
  }
}

bool Send::has_lost_receiver() const noexcept { return p2p::has_losses(*comm) && p2p::is_lost(*comm, args.peer); }

}  // namespace heddle::part
