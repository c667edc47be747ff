#include "p2p/receive.hpp"

#include <algorithm>

#include "p2p/completion.hpp"
#include "vci/domain.hpp"

namespace heddle::p2p {
namespace {

Status start_receive(Request& request) { return static_cast<ReceiveRequest&>(request).start(); }

void cancel_receive(Request& request) {
  auto& receive = static_cast<ReceiveRequest&>(request);
  if (receive.args.peer == MPI_PROC_NULL) return;
  LockGuard guard(receive.vci->lock());
  if (!receive.queued() || !receive.vci->matching().unlink(receive)) return;
  receive.cancelled = true;
  finish(receive);
}

void destroy_receive(Request& request) { destroy(static_cast<ReceiveRequest&>(request)); }

}  // namespace

const mpi::RequestType kReceiveType{start_receive, cancel_receive, destroy_receive};

ReceiveRequest* make_receive(Comm& comm, const Arguments& arguments) noexcept {
  LockGuard guard(comm.vci->lock());
  auto* request = comm.vci->pool().make<ReceiveRequest>(comm, arguments);
  if (request == nullptr) return nullptr;
  ++request->stream->receives;
  mpi::retain(*arguments.type);
  return request;
}

Status ReceiveRequest::start() noexcept NO_THREAD_SAFETY_ANALYSIS {
  complete.store(0, std::memory_order_relaxed);
  active = true;
  cancelled = false;
  error = 0;
  if (args.peer == MPI_PROC_NULL) {
    start_from_nobody();
  } else {
    vci->lock().lock();
    post();
  }
  return Status::ok();
}

// MPI 5.0, 3.11.
void ReceiveRequest::start_from_nobody() noexcept {
  source = MPI_PROC_NULL;
  tag = MPI_ANY_TAG;
  bytes = 0;
  complete.store(1, std::memory_order_release);
}

// (`this` may be gone after take_whole(), so the lock has a name that the analysis does not know.)
void ReceiveRequest::take_unexpected(portals::UnexpectedHeader& message) noexcept NO_THREAD_SAFETY_ANALYSIS {
  if (message.portal == kEager && message.payload_bytes <= portals::UnexpectedHeader::kInlineBytes &&
      message.payload_bytes <= cursor.total()) {
    vci::Vci& owner = *vci;
    take_whole(message.key, message.payload, message.payload_bytes);
    owner.matching().give_back(&message);
    owner.lock().unlock();
  } else {
    vci->lock().unlock();
    begin_with(message);
  }
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

void ReceiveRequest::take(const std::byte* payload, std::size_t payload_bytes) noexcept {
  arrived += payload_bytes;
  const std::size_t room = cursor.total() - cursor.position();
  cursor.unpack(payload, std::min(payload_bytes, room));
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
  take(payload, payload_bytes);
  if (portal == kEagerSync) {
    SyncPrefix sync;
    std::memcpy(&sync, prefix, sizeof sync);
    const AckPrefix answer{sync.sender};
    post_control(*comm, source, kAck, &answer, sizeof answer);
  }
  if (arrived == expected) {
    finish(*this);
  } else {
    const CtsPrefix answer{rts.sender, reinterpret_cast<std::uint64_t>(this)};
    post_control(*comm, source, kCts, &answer, sizeof answer);
  }
}

void ReceiveRequest::more(const std::byte* payload, std::size_t payload_bytes) noexcept {
  take(payload, payload_bytes);
  if (arrived == expected) finish(*this);
}

// A message's first packet: eager, eager sync, or rts.
[[gnu::flatten]] void on_message(vci::Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  const match::Key key{packet.header.context, packet.header.source, packet.header.tag};
  vci.count_received();
  portals::MatchEntry* entry = vci.matching().arrive(key);
  auto* receive = static_cast<ReceiveRequest*>(entry);
  if (receive != nullptr) [[likely]] {
    if (packet.header.portal == kEager && packet.payload_bytes <= receive->cursor.total()) [[likely]] {
      return receive->take_whole(key, packet.payload, packet.payload_bytes);
    }
    receive->begin(packet.header.portal, key, packet.prefix, packet.payload, packet.payload_bytes);
    return;
  }
  vci.count_unexpected();
  if (vci.matching().keep(key, packet) == nullptr) {
    vci.domain().fatal("no memory to keep an unexpected message; receive messages sooner, or give the job more memory");
  }
}

void on_data(vci::Vci&, const wire::Packet& packet) {
  reinterpret_cast<ReceiveRequest*>(packet.prefix_as<DataPrefix>().receiver)
      ->more(packet.payload, packet.payload_bytes);
}

Status irecv(Comm& comm, void* buffer, MPI_Count count, Datatype& type, int source, int tag, Channel channel,
             Request** out) {
  const Arguments arguments{buffer, count, &type, source, tag, channel};
  ReceiveRequest* receive = nullptr;
  if (source == MPI_PROC_NULL) {
    receive = make_receive(comm, arguments);
    if (receive != nullptr) receive->start().ignore();
  } else {
    receive = post_receive(comm, arguments);
  }
  if (receive == nullptr) return error(MPI_ERR_NO_MEM, "no memory for the request of a receive");
  *out = receive;
  return Status::ok();
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
