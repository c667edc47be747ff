#include <algorithm>

#include "p2p/completion.hpp"
#include "p2p/protocol.hpp"
#include "p2p/rendezvous.hpp"
#include "p2p/request.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

Status start_receive(Request& request) { return static_cast<ReceiveRequest&>(request).start(); }

void cancel_receive(Request& request) {
  auto& receive = static_cast<ReceiveRequest&>(request);
  if (receive.args.peer == MPI_PROC_NULL) return;
  bool unlinked;
  {
    LockGuard guard(receive.vci->lock());
    unlinked = receive.queued() && receive.vci->matching().unlink(receive);
  }
  if (!unlinked) return;
  receive.cancelled = true;
  finish(receive);
}

void destroy_receive(Request& request) {
  auto& receive = static_cast<ReceiveRequest&>(request);
  mpi::release(*receive.args.type);
  Comm& comm = *receive.comm;
  receive.vci->pool().destroy(&receive);
  mpi::release_after_message(comm);
}

}  // namespace

const mpi::RequestType kReceiveType{start_receive, cancel_receive, destroy_receive};

ReceiveRequest::ReceiveRequest(Comm& c, const Arguments& arguments) noexcept : Request(kReceiveType), args(arguments) {
  comm = &c;
  vci = c.vci;
}

ReceiveRequest* make_receive(Comm& comm, const Arguments& arguments) noexcept {
  auto* request = comm.vci->pool().make<ReceiveRequest>(comm, arguments);
  if (request == nullptr) return nullptr;
  mpi::retain_for_message(comm);
  mpi::retain(*arguments.type);
  return request;
}

void ReceiveRequest::prepare() noexcept {
  complete.store(0, std::memory_order_relaxed);
  active = true;
  cancelled = false;
  error = 0;
  arrived = 0;
  cursor.init(*args.type, args.count, args.buffer);
}

Status ReceiveRequest::start() noexcept {
  prepare();
  if (args.peer == MPI_PROC_NULL) {  // MPI 5.0, 3.11
    source = MPI_PROC_NULL;
    tag = MPI_ANY_TAG;
    bytes = 0;
    complete.store(1, std::memory_order_release);
    return Status::ok();
  }
  key = {comm->address.context + static_cast<std::uint32_t>(args.channel), args.peer, args.tag};
  vci->lock().lock();
  portals::UnexpectedHeader* message = vci->matching().append(*this);
  vci->lock().unlock();
  if (message != nullptr) begin_with(*message);
  return Status::ok();
}

void ReceiveRequest::start_with(portals::UnexpectedHeader& message) noexcept {
  prepare();
  begin_with(message);
}

void ReceiveRequest::begin_with(portals::UnexpectedHeader& message) noexcept {
  vci::Vci& owner = *vci;  // `this` may be gone after begin()
  begin(message.portal, message.key, message.prefix, message.payload, message.payload_bytes);
  LockGuard guard(owner.lock());
  owner.matching().give_back(&message);
}

void ReceiveRequest::take(std::uint64_t at, const std::byte* payload, std::size_t payload_bytes) noexcept {
  arrived += payload_bytes;
  if (at > cursor.total()) return;  // a truncated message
  cursor.seek(at);
  cursor.unpack(payload, payload_bytes);
}

void ReceiveRequest::take_whole(const match::Key& from, const std::byte* payload, std::size_t payload_bytes) noexcept {
  source = from.source;
  tag = from.tag;
  bytes = static_cast<MPI_Count>(payload_bytes);
  cursor.unpack(payload, payload_bytes);
  finish(*this);
}

void ReceiveRequest::begin(std::uint8_t portal, const match::Key& from, const std::byte* prefix,
                           const std::byte* payload, std::size_t payload_bytes) noexcept {
  source = from.source;
  tag = from.tag;
  expected = payload_bytes;
  RtsPrefix rts{};
  if (portal == kRts) {
    std::memcpy(&rts, prefix, sizeof rts);
    expected = rts.total;
  }
  bytes = static_cast<MPI_Count>(std::min<std::uint64_t>(expected, cursor.total()));
  if (expected > cursor.total()) [[unlikely]]
    error = MPI_ERR_TRUNCATE;
  take(0, payload, payload_bytes);
  if (portal == kEagerSync) {
    SyncPrefix sync;
    std::memcpy(&sync, prefix, sizeof sync);
    const AckPrefix answer{sync.sender};
    post_control(*comm, source, kAck, &answer, sizeof answer);
  }
  arrived == expected ? finish(*this) : answer_announcement(*this, rts);
}

// A message's first packet: eager, eager sync, or rts.
[[gnu::flatten]] void on_message(vci::Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  const match::Key key{packet.header.context, packet.header.source, packet.header.tag};
  portals::MatchEntry* entry = vci.matching().arrive(key);
  auto* receive = static_cast<ReceiveRequest*>(entry);
  if (receive != nullptr) [[likely]] {
    if (packet.header.portal == kEager && packet.payload_bytes <= receive->cursor.total()) [[likely]] {
      return receive->take_whole(key, packet.payload, packet.payload_bytes);
    }
    receive->begin(packet.header.portal, key, packet.prefix, packet.payload, packet.payload_bytes);
  } else if (vci.matching().keep(key, packet) == nullptr) {
    vci.domain().fatal("no memory to keep an unexpected message; receive messages sooner, or give the job more memory");
  }
}

[[gnu::flatten]] Status irecv(Comm& comm, void* buffer, MPI_Count count, Datatype& type, int source, int tag,
                              Channel channel, Request** out) {
  ReceiveRequest* request = make_receive(comm, {buffer, count, &type, source, tag, channel});
  if (request == nullptr) return error(MPI_ERR_NO_MEM, "no memory for the request of a receive");
  *out = request;
  return request->start();
}

[[gnu::flatten]] Status recv(Comm& comm, void* buffer, MPI_Count count, Datatype& type, int source, int tag,
                             Channel channel, MPI_Status* status) {
  ReceiveRequest request(comm, Arguments{buffer, count, &type, source, tag, channel});
  HEDDLE_TRY(request.start());
  wait(request);
  if (status != nullptr) fill_status(request, status);
  return outcome(request);
}

}  // namespace heddle::p2p
