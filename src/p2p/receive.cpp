#include "p2p/receive.hpp"

#include <algorithm>

#include "p2p/completion.hpp"
#include "p2p/fetch.hpp"
#include "p2p/pull.hpp"
#include "vci/domain.hpp"

namespace heddle::p2p {
namespace {

Status start_receive(Request& request) { return static_cast<ReceiveRequest&>(request).start(); }

void cancel_receive(Request& request) {
  auto& receive = static_cast<ReceiveRequest&>(request);
  if (receive.args.peer == MPI_PROC_NULL) return;
  vci::Vci& vci = *receive.vci;
  vci.lock().lock();
  if (receive.queued() && vci.matching().unlink(receive)) {
    receive.cancelled = true;
    finish(receive);
  }
  vci.unlock_and_wake();
}

void destroy_receive(Request& request) { destroy(static_cast<ReceiveRequest&>(request)); }

}  // namespace

const mpi::RequestType kReceiveType{start_receive, cancel_receive, destroy_receive};

ReceiveRequest* make_receive(Comm& comm, const Arguments& arguments) noexcept {
  vci::Vci& vci = *mpi::stream_of(comm, arguments.channel, arguments.peer, arguments.tag).vci;
  LockGuard guard(vci.lock());
  auto* request = vci.pool().make<ReceiveRequest>(comm, arguments);
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
    post(args, *comm, *vci);
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

[[gnu::always_inline]] inline void ReceiveRequest::take_whole(const match::Key& from, const std::byte* payload,
                                                              std::size_t payload_bytes) noexcept {
  source = from.source;
  tag = from.tag;
  bytes = static_cast<MPI_Count>(payload_bytes);
  if (cursor.contiguous()) [[likely]] {
    copy_bytes(cursor.data(), payload, payload_bytes);
  } else {
    cursor.unpack(payload, payload_bytes);
  }
  finish(*this);
}

// (`this` may be gone after begin(), so the lock has a name that the analysis does not know.)
[[gnu::always_inline]] inline void ReceiveRequest::take_unexpected(portals::UnexpectedHeader& message) noexcept
    NO_THREAD_SAFETY_ANALYSIS {
  vci::Vci& owner = *vci;
  if (message.portal == kEager && message.bytes <= cursor.total()) {
    take_whole(message.key, message.payload, message.bytes);
  } else {
    begin(message.portal, message.key, message.prefix, message.payload, message.bytes);
  }
  owner.matching().give_back(&message);
  owner.unlock_and_wake();
}

bool ReceiveRequest::take_or_append() noexcept NO_THREAD_SAFETY_ANALYSIS {
  portals::MatchList& list = vci->matching();
  portals::UnexpectedHeader* message = list.extract_at_front(key);
  if (message == nullptr) message = list.append(*this);
  if (message == nullptr) return false;
  take_unexpected(*message);
  return true;
}

void ReceiveRequest::start_with(portals::UnexpectedHeader& message) noexcept {
  prepare(args);
  vci->lock().lock();
  take_unexpected(message);
}

void ReceiveRequest::take(std::uint64_t at, const std::byte* payload, std::size_t payload_bytes) noexcept {
  arrived += payload_bytes;
  if (at > cursor.total()) return;  // a truncated message
  cursor.seek(at);
  cursor.unpack(payload, payload_bytes);
}

void ReceiveRequest::begin(std::uint8_t portal, const match::Key& from, const std::byte* prefix,
                           const std::byte* payload, std::size_t payload_bytes) noexcept {
  source = from.source;
  tag = from.tag;
  expected = payload_bytes;
  RtsPrefix rts{};
  if (is_announcement(portal)) {
    std::memcpy(&rts, prefix, sizeof rts);
    expected = rts.total;
  }
  bytes = static_cast<MPI_Count>(std::min<std::uint64_t>(expected, cursor.total()));
  if (expected > cursor.total()) [[unlikely]]
    error = MPI_ERR_TRUNCATE;
  if (portal == kRtsFetch) return fetch_message(*this, rts, payload, payload_bytes);
  if (portal == kRts) answer_announcement(*this, rts);  // first: the sender goes on while this is copied
  if (payload_bytes != 0) take(0, payload, payload_bytes);
  if (portal == kEagerSync) {
    SyncPrefix sync;
    std::memcpy(&sync, prefix, sizeof sync);
    const AckPrefix ack{sync.sender};
    answer(*this, kAck, &ack, sizeof ack);
  }
  if (arrived == expected) finish(*this);
}

void forget(ReceiveRequest& receive) noexcept NO_THREAD_SAFETY_ANALYSIS {
  vci::Vci& vci = *receive.vci;
  if ((receive.marks & Request::kSearched) != 0) vci.sources().forget(receive);
  if ((receive.marks & Request::kArriving) != 0) vci.arriving().remove(*receive.arriving);
}

void finish_marked(ReceiveRequest& receive) noexcept NO_THREAD_SAFETY_ANALYSIS {
  forget(receive);
  const bool abandoned = (receive.marks & Request::kAbandoned) != 0;
  vci::Vci& vci = *receive.vci;
  receive.marks = 0;
  receive.complete.store(1, std::memory_order_release);
  if (abandoned) return reap_later(receive);  // only now: a loss may be told before it is reaped
  vci.note_completed();
}

void keep_unexpected(vci::Vci& vci, const match::Key& key,
                     const wire::Packet& packet) noexcept NO_THREAD_SAFETY_ANALYSIS {
  vci.count_unexpected();
  vci.domain().events().note(
      vci::Event::kUnexpected, vci.index(), key.source, key.tag,
      is_announcement(packet.header.portal) ? packet.prefix_as<RtsPrefix>().total : packet.payload_bytes);
  if (vci.matching().keep(key, packet) == nullptr) {
    vci.domain().fatal("no memory to keep an unexpected message; receive messages sooner, or give the job more memory");
  }
}

// A message's first packet: eager, eager sync, or rts.
void on_message(vci::Vci& vci, const wire::Packet& packet) NO_THREAD_SAFETY_ANALYSIS {
  const match::Key key{packet.header.context, packet.header.source, packet.header.tag};
  vci.count_received();
  auto* receive = static_cast<ReceiveRequest*>(vci.matching().arrive(key));
  if (receive == nullptr) return keep_unexpected(vci, key, packet);
  receive->begin(packet.header.portal, key, packet.prefix, packet.payload, packet.payload_bytes);
}

// An eager message that the oldest receive does not admit, or that is too long for it.
[[gnu::noinline]] static void on_odd_eager(vci::Vci& vci, ReceiveRequest* receive, wire::Header header,
                                           const std::byte* payload,
                                           std::size_t payload_bytes) NO_THREAD_SAFETY_ANALYSIS {
  const match::Key key{header.context, header.source, header.tag};
  vci.count_received();
  if (receive == nullptr) receive = static_cast<ReceiveRequest*>(vci.matching().arrive(key));
  if (receive == nullptr) return keep_unexpected(vci, key, {header, payload, payload, payload_bytes});
  if (payload_bytes > receive->cursor.total()) return receive->begin(kEager, key, payload, payload, payload_bytes);
  receive->take_whole(key, payload, payload_bytes);
}

// An eager message that has come in one slot.
void on_eager(vci::Vci& vci, wire::Header header, const std::byte* payload,
              std::size_t payload_bytes) NO_THREAD_SAFETY_ANALYSIS {
  const match::Key key{header.context, header.source, header.tag};
  auto* receive = static_cast<ReceiveRequest*>(vci.matching().arrive_at_front(key));
  if (receive == nullptr || payload_bytes > receive->cursor.total()) [[unlikely]]
    return on_odd_eager(vci, receive, header, payload, payload_bytes);
  vci.count_received();
  receive->take_whole(key, payload, payload_bytes);
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
                             Channel channel, MPI_Status* status) NO_THREAD_SAFETY_ANALYSIS {
  const Arguments arguments{buffer, count, &type, source, tag, channel};
  mpi::Stream& stream = mpi::stream_of(comm, channel, source, tag);
  ReceiveRequest request(comm, arguments, stream);
  if (source == MPI_PROC_NULL) {
    HEDDLE_TRY(request.start());
  } else {
    stream.vci->lock().lock();
    request.post(arguments, comm, *stream.vci);
  }
  wait(request);
  if (status != nullptr) fill_status(request, status);
  return outcome(request);
}

}  // namespace heddle::p2p
