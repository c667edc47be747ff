#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.hpp"
#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "part/request.hpp"
#include "vci/domain.hpp"

namespace heddle::part {
namespace {

Receive& as_receive(mpi::Request& request) noexcept { return static_cast<Receive&>(request); }

void destroy_now(Receive& receive) {
  mpi::Comm& comm = *receive.comm;
  mpi::Datatype& type = *receive.args.type;
  receive.vci->destroy(&receive);
  mpi::release(type);
  mpi::release_after_message(comm);
}

// One that has not matched yet stays until it has: it takes its turn among the others.
void destroy(mpi::Request& request) {
  Receive& receive = as_receive(request);
  {
    LockGuard guard(receive.vci->lock());
    if (receive.matching != nullptr) {
      receive.freed = true;
      return;
    }
    receive.conceal();
    if (receive.linked) {
      const ByePrefix bye{receive.setup.sender};
      receive.say(kBye, &bye, sizeof bye);
    }
  }
  destroy_now(receive);
}

bool give_up(mpi::Request& request) {
  Receive& receive = as_receive(request);
  if (!p2p::is_lost(*receive.comm, receive.args.peer)) return false;
  LockGuard guard(receive.vci->lock());
  if (receive.is_done()) return true;
  receive.conceal();  // who is lost may be alive, and the buffer is the program's again
  receive.error = MPI_ERR_PROC_ABORTED;
  p2p::finish(receive);
  return true;
}

Status explain(const mpi::Request& request) {
  const auto& receive = static_cast<const Receive&>(request);
  return error(
      receive.error,
      "the partitions of this receive are %llu bytes in all, and those of the send at rank %d with tag %d %llu; "
      "make the totals equal",
      static_cast<unsigned long long>(receive.args.total()), receive.args.peer, receive.args.tag,
      static_cast<unsigned long long>(receive.setup.total));
}

// Waits for the sender's set-up.
bool step_match(vci::Task& task) {
  auto& receive = static_cast<Receive&>(task);
  if (!receive.matching->is_complete() && !(p2p::has_losses(*receive.comm) && p2p::give_up(*receive.matching))) {
    return false;
  }
  const bool came = receive.matching->error == MPI_SUCCESS;
  p2p::destroy(receive.matching);
  if (came && !p2p::find_lane(*receive.comm, p2p::Channel::kPartitioned, receive.args.peer, 0, &receive.lane)) {
    receive.lane = nullptr;  // the sender was lost meanwhile
  }
  receive.vci->lock().lock();
  receive.matching = nullptr;
  if (receive.lane != nullptr) receive.link();
  const bool freed = receive.freed;
  receive.vci->lock().unlock();
  if (freed) destroy(receive);
  return true;
}

}  // namespace

const mpi::RequestType kReceiveType{
    [](mpi::Request& request) { return as_receive(request).start(); }, nullptr, destroy, false, give_up, explain};

Receive::Receive(mpi::Comm& c, const Arguments& arguments) noexcept : Request(kReceiveType), args(arguments) {
  step = step_match;
  comm = &c;
  vci = c.vci;
  make_persistent();
  cursor.init(*args.type, args.count * args.partitions, args.buffer);
  mpi::retain_for_message(c);
  mpi::retain(*args.type);
}

void Receive::say(std::uint8_t portal, const void* prefix, std::size_t n, const void* payload,
                  std::size_t payload_bytes) noexcept {
  lane->post_control({portal, static_cast<std::uint8_t>(n), 0, 0, comm->rank, 0}, prefix, payload, payload_bytes);
}

void Receive::say_clear() noexcept {
  const ClearPrefix prefix{setup.sender, epoch};
  say(kClear, &prefix, sizeof prefix);
}

void Receive::fail() noexcept {
  error = MPI_ERR_TRUNCATE;
  bytes = 0;
  p2p::finish(*this);
}

void Receive::expect(std::int64_t within, std::int64_t from) noexcept {
  expected_until = std::max(expected_until, from + within);
  vci->domain().expect_until(expected_until);
}

// Less than before is believed by halves.
std::int64_t Receive::learn(std::int64_t before, std::int64_t took) noexcept {
  return std::min(std::max(took, before / 2), kMostSpread);
}

// By the holder of the VCI's lock, as the next two.
void Receive::expose() noexcept {
  if (setup.each < kWrittenBytes || &lane->owner() != vci) return;
  wire::Exposure exposure;
  if (!lane->tx().expose(cursor.data(), args.total(), true, &exposure)) return;
  exposed = exposure.registration;
  if (setup.total / setup.each * parts_written(setup.each) <= std::numeric_limits<std::uint32_t>::max()) {
    const auto note = [](void* receive, std::uint32_t part) { static_cast<Receive*>(receive)->note_written(part); };
    told = lane->tx().tell({note, this});
  }
  const ExposedPrefix prefix{setup.sender, exposure.key, exposure.address};
  say(kExposed, &prefix, sizeof prefix, &told, sizeof told);
}

void Receive::conceal() noexcept {
  if (exposed == nullptr) return;
  wire::Exposure exposure{0, 0, std::exchange(exposed, nullptr)};
  lane->tx().conceal(exposure);
  if (told != 0) lane->tx().forget(std::exchange(told, 0));
}

void Receive::link() noexcept {
  linked = true;
  refused = setup.total != args.total();
  LinkPrefix prefix{setup.sender, reinterpret_cast<std::uint64_t>(this), 0};
  if (refused) {
    prefix.receiver = 0;
    prefix.address = args.total();
  } else if (cursor.contiguous()) {
    prefix.address = reinterpret_cast<std::uint64_t>(cursor.data());
  }
  say(kLink, &prefix, sizeof prefix, &args.partitions, sizeof args.partitions);
  if (prefix.address != 0 && !refused) expose();
  if (!active || is_done()) return;
  refused ? fail() : say_clear();
}

Status Receive::start() noexcept {
  if (p2p::has_losses(*comm) && p2p::is_lost(*comm, args.peer)) return p2p::loss_error(*comm, args.peer);
  LockGuard guard(vci->lock());
  error = MPI_SUCCESS;
  source = args.peer;
  tag = args.peer == MPI_PROC_NULL ? MPI_ANY_TAG : args.tag;
  bytes = args.peer == MPI_PROC_NULL ? 0 : static_cast<MPI_Count>(args.total());
  all = 0;
  first_at = 0;
  for (std::uint32_t i = 0; i < args.partitions; ++i) counts[i].store(0, std::memory_order_relaxed);
  complete.store(0, std::memory_order_relaxed);
  ++epoch;
  active = true;
  if (args.peer == MPI_PROC_NULL) {
    complete.store(1, std::memory_order_release);
  } else if (linked) {
    refused ? fail() : say_clear();
  }
  if (is_done()) return Status::ok();
  started_at = now_ns();
  if (whole < kMostSpread) expect(2 * whole, started_at);
  return Status::ok();
}

bool Receive::has(std::uint32_t partition) const noexcept {
  if (args.each != 0 && counts[partition].load(std::memory_order_acquire) == args.each) return true;
  return is_complete() && error == MPI_SUCCESS;
}

bool Receive::is_linked() const noexcept {
  LockGuard guard(vci->lock());
  return linked;
}

void Receive::note(std::uint64_t at, std::uint64_t n) noexcept {
  for_each_covered(at, n, args.each, [&](std::uint32_t partition, std::uint64_t some) {
    std::atomic<std::uint64_t>& count = counts[partition];
    count.store(count.load(std::memory_order_relaxed) + some, std::memory_order_release);
  });
  vci::Domain& domain = vci->domain();
  if (all == 0 && n != args.total()) {
    first_at = now_ns();
    expect(2 * spread, first_at);
  }
  all += n;
  if (all != args.total()) return;
  const std::int64_t now = now_ns();
  whole = learn(whole, now - started_at);
  if (first_at != 0) spread = learn(spread, now - first_at);
  domain.expect_no_more(expected_until);
  p2p::finish(*this);
}

void Receive::note_written(std::uint32_t part) noexcept {
  const std::uint64_t parts = parts_written(setup.each);
  if (part >= args.total() / setup.each * parts) return;  // a stranger's guess
  const std::uint64_t within = part % parts * wire::RemoteAccess::kToldPart;
  note(part / parts * setup.each + within, std::min(setup.each - within, wire::RemoteAccess::kToldPart));
}

void on_part(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<PartPrefix>();
  auto& receive = *reinterpret_cast<Receive*>(prefix.receiver);
  receive.cursor.seek(prefix.at);
  receive.cursor.unpack(packet.payload, packet.payload_bytes);
  receive.note(prefix.at, packet.payload_bytes);
}

void on_placed(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<PlacedPrefix>();
  reinterpret_cast<Receive*>(prefix.receiver)->note(prefix.at, prefix.bytes);
}

void install(vci::Vci& vci) noexcept {
  LockGuard guard(vci.lock());
  portals::PortalTable& table = vci.table();
  table.set(kLink, on_link);
  table.set(kExposed, on_exposed);
  table.set(kClear, on_clear);
  table.set(kPart, on_part);
  table.set(kPlaced, on_placed);
  table.set(kBye, on_bye);
}

}  // namespace heddle::part
