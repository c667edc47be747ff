#include "rma/remote.hpp"

#include <new>

#include "mpi/process.hpp"
#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "rma/active.hpp"
#include "rma/active_packets.hpp"
#include "rma/post.hpp"
#include "vci/domain.hpp"

namespace heddle::rma {
namespace {

// Shorter ones are sooner there as packets (docs/decisions/windows.md).
constexpr std::size_t kLongGet = 128 << 10, kLongPut = 192 << 10;

// One that is under way.
struct Access : mpi::Request, wire::RemoteAccess {
  Access(const mpi::RequestType& t, Window& window, int to, RemoteMemory& of, bool is_shown) noexcept
      : Request(t), rank(to), target(window.target(to)), memory(of), shown(is_shown) {
    comm = window.comm;
    comm->retain();
    vci = window.comm->vci;
  }
  const int rank;
  Target& target;  // of a window that waits for it
  RemoteMemory& memory;
  const bool shown;  // the program has it as a request
};

void destroy_access(mpi::Request& request) {
  mpi::Comm& comm = *request.comm;
  delete static_cast<Access*>(&request);
  mpi::release(comm);
}
// The wire ends it, and until then the memory may be written.
bool give_up_access(mpi::Request&) { return false; }
Status explain_access(const mpi::Request& request) {
  const auto& access = static_cast<const Access&>(request);
  return access.error == MPI_SUCCESS ? Status::ok() : undone(access.error, access.rank);
}
const mpi::RequestType kAccessType{.start = nullptr,
                                   .cancel = nullptr,
                                   .destroy = destroy_access,
                                   .give_up = give_up_access,
                                   .explain = explain_access,
                                   .must_complete = "an operation on a window"};

void on_done(wire::RemoteAccess& remote, bool complete) {
  auto& access = static_cast<Access&>(remote);
  vci::Vci& vci = *access.vci;
  RemoteMemory& memory = access.memory;
  if (!complete) {
    access.error = MPI_ERR_PROC_ABORTED;
    if (!access.shown) access.target.failure.store(MPI_ERR_PROC_ABORTED, std::memory_order_relaxed);
  }
  access.shown ? p2p::finish(access) : destroy_access(access);
  memory.open.fetch_sub(1, std::memory_order_release);
  vci.wake_waiters();
}

// Which is of a wire that accesses memory, between the VCIs of the window.
bool find_lane(Window& window, int rank, vci::Lane** lane) noexcept {
  return p2p::find_lane(*window.comm, mpi::Channel::kUser, rank, 0, lane) && (*lane)->tx().accesses() &&
         &(*lane)->owner() == window.comm->vci;
}

// The first to ask makes it. Null: it is not there yet, or there is no memory for it.
RemoteMemory* memory_of(Window& window, int rank) noexcept {
  Target& target = window.target(rank);
  RemoteMemory* memory = target.remote.load(std::memory_order_acquire);
  if (memory != nullptr) return memory->is_known.load(std::memory_order_acquire) ? memory : nullptr;
  auto* made = new (std::nothrow) RemoteMemory;
  vci::Lane* lane = nullptr;
  if (made == nullptr || !find_lane(window, rank, &lane) ||
      !target.remote.compare_exchange_strong(memory, made, std::memory_order_acq_rel)) {
    delete made;
    return nullptr;
  }
  window.has_remotes.store(true, std::memory_order_relaxed);
  const RequestPrefix prefix{target.card.window, reinterpret_cast<std::uint64_t>(made), kAskMemory, 0, 0, false};
  post_packet(*lane, kRequestPortal, window.comm->rank, 0, &prefix, sizeof prefix, nullptr, 0, wire::When::kWithMore);
  // A flush asks behind it, so the window stays until the answer.
  target.counts.sent.fetch_add(1, std::memory_order_relaxed);
  return nullptr;
}

}  // namespace

Status start_remote(Window& window, const Operation& operation, mpi::Request** request, bool* went) {
  *went = false;
  const mpi::PackCursor& local = operation.has_in ? operation.in : operation.out;
  const std::size_t bytes = operation.bytes_here();
  if (operation.kind > Kind::kGet || bytes < (operation.has_in ? kLongPut : kLongGet) || !local.contiguous() ||
      !operation.target_type->contiguous || window.is_dynamic() || window.comm->spread != nullptr) {
    return Status::ok();
  }
  RemoteMemory* const memory = memory_of(window, operation.rank);
  vci::Lane* lane = nullptr;
  if (memory == nullptr || memory->flushing.load(std::memory_order_acquire) != 0 ||
      !find_lane(window, operation.rank, &lane)) {
    return Status::ok();
  }
  auto* access = new (std::nothrow) Access(kAccessType, window, operation.rank, *memory, request != nullptr);
  if (access == nullptr) return Status::ok();
  wire::RemoteAccess& remote = *access;
  remote.key = memory->key;
  remote.address = memory->address + operation.at + operation.done;
  remote.local = local.data();
  remote.bytes = bytes;
  remote.kind = operation.has_in ? wire::RemoteAccess::Kind::kWrite : wire::RemoteAccess::Kind::kRead;
  remote.done = on_done;
  memory->open.fetch_add(1, std::memory_order_relaxed);
  *went = lane->start(remote);
  if (*went) {
    if (request != nullptr) *request = access;
    return Status::ok();
  }
  memory->open.fetch_sub(1, std::memory_order_release);
  destroy_access(*access);
  return Status::ok();
}

bool begin_remote_flush(Target& target) noexcept {
  if (!has_remote(target)) return false;
  target.remote.load(std::memory_order_relaxed)->flushing.fetch_add(1, std::memory_order_acq_rel);
  return true;
}

void end_remote_flush(Window& window, int rank) noexcept {
  RemoteMemory& memory = *window.target(rank).remote.load(std::memory_order_relaxed);
  window.comm->process->domain().wait(*window.comm->vci,
                                      [&] { return memory.open.load(std::memory_order_acquire) == 0; });
  memory.flushing.fetch_sub(1, std::memory_order_release);
}

void tell_memory(Window& window, int origin, std::uint64_t token) noexcept {
  vci::Lane* lane = nullptr;
  if (window.size == 0 || !find_lane(window, origin, &lane)) return;
  if (window.exposed_by == nullptr) {
    if (!lane->tx().expose(window.base, static_cast<std::size_t>(window.size), true, &window.exposure)) return;
    window.exposed_by = lane;
    window.comm->vci->expose(true);
  }
  const MemoryPrefix prefix{token, window.exposure.key, window.exposure.address};
  post_packet(*lane, kMemoryPortal, window.comm->rank, 0, &prefix, sizeof prefix, nullptr, 0, wire::When::kWithMore);
}

void on_memory(vci::Vci&, const wire::Packet& packet) {
  const auto prefix = packet.prefix_as<MemoryPrefix>();
  auto& memory = *reinterpret_cast<RemoteMemory*>(prefix.token);
  memory.key = prefix.key;
  memory.address = prefix.address;
  memory.is_known.store(true, std::memory_order_release);
}

void conceal_memory(Window& window) noexcept {
  if (window.exposed_by == nullptr) return;
  window.exposed_by->tx().conceal(window.exposure);
  window.exposed_by = nullptr;
  window.comm->vci->expose(false);
}

void drop_remote(Window& window) noexcept {
  for (int rank = 0; window.has_remotes && rank < window.comm->size; ++rank) {
    delete window.target(rank).remote.exchange(nullptr);
  }
}

}  // namespace heddle::rma
