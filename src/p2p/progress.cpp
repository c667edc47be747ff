// What sends and receives have in common: completion, waiting, answers to the peer, and the portals of this layer.
#include <atomic>
#include <cstdlib>
#include <cstring>

#include "mpi/process.hpp"
#include "mpi/spread.hpp"
#include "p2p/buffer.hpp"
#include "p2p/install.hpp"
#include "p2p/loss.hpp"
#include "p2p/ownership.hpp"
#include "p2p/protocol.hpp"
#include "p2p/request.hpp"
#include "p2p/search.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

void destroy_nothing(Request&) {}
constexpr mpi::RequestType kImmortalType{nullptr, nullptr, destroy_nothing};

bool reap(Task& task) {
  auto& reaper = static_cast<Request::Reaper&>(task);
  reaper.request->vci->domain().abandoned().remove(reaper);
  reaper.request->type->destroy(*reaper.request);
  return true;
}

// False: it was complete already.
bool let_go(Request& request) noexcept {
  if (request.type == &kReceiveType) {
    LockGuard guard(request.vci->lock());
    if (request.is_complete()) return false;
    request.marks |= Request::kAbandoned;
    return true;
  }
  return Ownership<>::abandon(request.complete);
}

}  // namespace

void install(vci::Domain& domain) {
  for (std::uint32_t i = 0; i < domain.vci_count(); ++i) {
    portals::PortalTable& table = domain.vci(i).table();
    for (Portal portal : {kEager, kEagerSync, kRts, kRtsFetch}) table.set(portal, on_message);
    static_assert(kEager == portals::kShortPortal);
    table.set_short(on_eager);
    table.set(kCts, on_cts);
    table.set(kData, on_data);
    table.set(kWritten, on_written);
    table.set(kAck, on_ack);
    table.set(kPush, on_push);
    table.set(kFin, on_fin);
    table.set(kTakeBack, on_take_back);
    table.set(kTakenBack, on_taken_back);
    table.set(kRtsEager, on_rts_eager);
    table.set(kEagerData, on_eager_data);
    install_search(domain.vci(i));
  }
}

constinit Immortal the_immortal{kImmortalType};

[[gnu::hot]] void finish(Request& request) noexcept {
  vci::Vci& vci = *request.vci;
  if (!vci.threaded()) {  // nobody else is awake or asleep; 4 % more messages/s
    if (Ownership<>::complete_alone(request.complete) == Ownership<>::kAbandoned) [[unlikely]]
      reap_later(request);
    return;
  }
  if (Ownership<>::complete(request.complete) == Ownership<>::kAbandoned) [[unlikely]]
    return reap_later(request);
  vci.wake_waiters();
}

// Wakes whoever waits, too.
void reap_later(Request& request) noexcept {
  request.reaper.request = &request;
  request.reaper.step = reap;
  request.vci->domain().add_task(request.reaper);
}

void abandon(Request& request) noexcept {
  vci::Domain& domain = request.vci->domain();
  vci::AbandonedList& list = domain.abandoned();
  request.reaper.request = &request;
  request.reaper.on_loss = [](vci::Abandoned& one) { give_up(*static_cast<Request::Reaper&>(one).request); };
  list.add(request.reaper);
  if (let_go(request)) {
    if (domain.losses().count() != 0) list.tell_of_loss();  // it may have come too late for those
    return;
  }
  list.remove(request.reaper);
  request.type->destroy(request);
}

static int peer_of(const Request& request) noexcept {
  if (request.type == &kSendType) return static_cast<const SendRequest&>(request).args.peer;
  return request.type == &kReceiveType ? request.source : MPI_ANY_SOURCE;
}

[[gnu::hot]] Status outcome(const Request& request) noexcept {
  if (request.error == MPI_SUCCESS) [[likely]]
    return Status::ok();
  // Of what a loss has ended nothing is known.
  if (request.type->is_collective && request.type->explain != nullptr && request.error != MPI_ERR_PROC_ABORTED) {
    const Status status = request.type->explain(request);
    if (status.error_class() == request.error) return status;
  }
  if (request.type->is_collective && (request.error == MPI_ERR_TRUNCATE || request.error == MPI_ERR_NOT_SAME)) {
    return error(request.error,
                 "a message of the collective was %s than this rank's arguments say; its counts and "
                 "datatypes have to match at all ranks",
                 request.error == MPI_ERR_TRUNCATE ? "longer" : "shorter");
  }
  if (request.error == MPI_ERR_PROC_ABORTED && has_losses(*request.comm)) {
    return loss_error(*request.comm, peer_of(request));
  }
  if (request.type->explain != nullptr && !request.type->is_collective) return request.type->explain(request);
  if (request.type != &kReceiveType || request.error != MPI_ERR_TRUNCATE) {
    return error(request.error, "%s", "");  // so that an older sentence of this thread is not taken for it
  }
  const auto& receive = static_cast<const ReceiveRequest&>(request);
  return error(
      MPI_ERR_TRUNCATE,
      "a message of %llu bytes from rank %d with tag %d met a receive for at most %lld; make the receive's count "
      "larger",
      static_cast<unsigned long long>(receive.expected), receive.source, receive.tag,
      static_cast<long long>(receive.bytes));
}

[[gnu::hot]] void wait(Request& request) {
  if (request.is_complete()) return;
  vci::Domain& domain = request.vci->domain();
  domain.wait(
      *request.vci, [&] { return request.is_complete() || (domain.losses().count() != 0 && give_up(request)); },
      [&] { expect(request); });
}

bool wait_or_keep_copy(SendRequest& send) noexcept {
  bool kept = false;
  // A longer message waits for its receive anyway.
  if (!send.is_complete() && send.lane != nullptr && send.cursor.total() <= send.lane->max_packet()) {
    send.vci->domain().wait(*send.vci, [&] {
      return send.is_complete() || (kept = keep_copy(send)) ||
             (send.vci->domain().losses().count() != 0 && give_up(send));
    });
  } else {
    wait(send);
  }
  return kept;
}

bool test(Request& request) {
  if (request.is_complete()) return true;
  vci::Domain& domain = request.vci->domain();
  domain.progress_once(*request.vci);
  return request.is_complete() || (domain.losses().count() != 0 && give_up(request));
}

void destroy(Request* request) { request->type->destroy(*request); }

Status find_lane(Comm& comm, Channel channel, int peer, int tag, vci::Lane** lane) noexcept {
  std::atomic<vci::Lane*>& entry = mpi::lane_of(comm, channel, peer, tag);
  *lane = entry.load(std::memory_order_acquire);
  if (*lane != nullptr) return Status::ok();
  const mpi::Group& members = comm.is_inter() ? *comm.remote_group : *comm.group;
  vci::Vci& owner = *mpi::stream_of(comm, channel, peer, tag).vci;
  HEDDLE_TRY(
      owner.lane_to(members.members[static_cast<std::size_t>(peer)], mpi::remote_vci(comm, channel, peer, tag), lane));
  // Of two threads that made one at once (in a spread communicator, each for a VCI of its own) the first one's is used.
  vci::Lane* first = nullptr;
  if (!entry.compare_exchange_strong(first, *lane, std::memory_order_acq_rel, std::memory_order_acquire)) *lane = first;
  return Status::ok();
}

void answer(ReceiveRequest& receive, std::uint8_t portal, const void* prefix, std::size_t bytes) noexcept {
  Comm& comm = *receive.comm;
  vci::Lane* lane = nullptr;
  if (Status s = find_lane(comm, receive.args.channel, receive.source, receive.tag, &lane); !s) {
    if (s.error_class() == MPI_ERR_PROC_ABORTED) return;  // to whom there was none
    comm.vci->domain().fatal(last_error_detail());
  }
  lane->post_control({portal, static_cast<std::uint8_t>(bytes), 0, 0, comm.rank, 0}, prefix);
}

void add_task(Comm& comm, Task& task) { comm.process->domain().add_task(task); }

}  // namespace heddle::p2p
