#include "p2p/send.hpp"

#include <algorithm>
#include <cstdlib>

#include "mpi/process.hpp"
#include "p2p/buffer.hpp"
#include "p2p/cancel.hpp"
#include "p2p/loss.hpp"
#include "p2p/rendezvous.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {

wire::Header header_of(const SendRequest& request, std::uint8_t portal, std::size_t prefix_bytes) noexcept {
  const Comm& comm = *request.comm;
  return {portal,    static_cast<std::uint8_t>(prefix_bytes),
          0,         comm.peers[request.args.peer].address.context + static_cast<std::uint32_t>(request.args.channel),
          comm.rank, request.args.tag};
}

wire::Payload bytes_at(SendRequest& request, std::uint64_t at, std::size_t bytes) noexcept {
  request.cursor.seek(at);
  if (request.cursor.contiguous()) return {request.cursor.data(), bytes};
  const auto fill = [](void* state, std::byte* to, std::size_t n) {
    static_cast<mpi::PackCursor*>(state)->pack(to, n);
  };
  return {nullptr, bytes, fill, &request.cursor};
}

namespace {

using Pushed = vci::SendOp::Pushed;

SendRequest& as_send(vci::SendOp& op) noexcept { return static_cast<SendRequest&>(op); }

Pushed push_eager(vci::SendOp& op, vci::Lane& lane) {
  SendRequest& request = as_send(op);
  if (request.stays) return push_announcement(op, lane);
  wire::Payload payload = bytes_at(request, 0, request.cursor.total());
  if (request.mode != Mode::kSynchronous) {
    if (!lane.send(header_of(request, kEager, 0), nullptr, payload)) return Pushed::kBlocked;
    finish(request);
    return Pushed::kFinished;
  }
  const SyncPrefix prefix{name_of(request)};
  return lane.send(header_of(request, kEagerSync, sizeof prefix), &prefix, payload) ? Pushed::kFinished
                                                                                    : Pushed::kBlocked;
}

// One run of a persistent send. A buffered one is complete at once: its message goes on as a request of its own.
Status start_send(Request& request) {
  auto& send = static_cast<SendRequest&>(request);
  if (send.mode != Mode::kBuffered) return send.start();
  const Arguments& args = send.args;
  Request* one = nullptr;
  HEDDLE_TRY(
      isend(*send.comm, args.buffer, args.count, *args.type, args.peer, args.tag, Mode::kBuffered, args.channel, &one));
  send.active = true;
  return Status::ok();
}

void destroy_send(Request& request) {
  auto& send = static_cast<SendRequest&>(request);
  release_copy(send);
  mpi::release(*send.args.type);
  Comm& comm = *send.comm;
  send.vci->destroy(&send);
  mpi::release_after_message(comm);
}

}  // namespace

const mpi::RequestType kSendType{start_send, cancel_send, destroy_send};

SendRequest::SendRequest(Comm& c, const Arguments& arguments, Mode m) noexcept
    : Request(kSendType), mode(m), args(arguments) {
  comm = &c;
  vci = mpi::stream_of(c, arguments.channel, arguments.peer, arguments.tag).vci;
}

SendRequest* make_send(Comm& comm, const Arguments& arguments, Mode mode) noexcept {
  auto* request = mpi::stream_of(comm, arguments.channel, arguments.peer, arguments.tag)
                      .vci->make<SendRequest>(comm, arguments, mode);
  if (request == nullptr) return nullptr;
  mpi::retain_for_message(comm);
  mpi::retain(*arguments.type);
  return request;
}

Status SendRequest::start() noexcept {
  complete.store(0, std::memory_order_relaxed);
  active = true;
  cancelled = false;
  error = 0;
  if (args.peer == MPI_PROC_NULL ||
      send_now(*comm, args.buffer, args.count, *args.type, args.peer, args.tag, mode, args.channel)) {
    complete.store(1, std::memory_order_release);
    return Status::ok();
  }
  if (has_losses(*comm) && is_lost(*comm, args.peer)) [[unlikely]]
    return loss_error(*comm, args.peer);
  HEDDLE_TRY(find_lane(*comm, args.channel, args.peer, args.tag, &lane));
  cursor.init(*args.type, args.count, args.buffer);
  if (mode == Mode::kBuffered) HEDDLE_TRY(take_copy(*this));
  const bool is_long = cursor.total() > lane->max_packet();
  push = is_long ? push_announcement : push_eager;
  whole = is_long && vci->domain().long_messages() == vci::LongMessages::kEager;
  const wire::Header header = header_of(*this, kEager, 0);
  stays = answered = streaming = everything_there = taken_back = false;
  behind = Behind::kNot;
  mine = handed_back = {};
  pushed = 0;
  lane->queue_message(*this, {{header.context, header.source, header.tag}, name_of(*this), cursor.total()});
  return Status::ok();
}

void on_ack(vci::Vci&, const wire::Packet& packet) {
  finish(*reinterpret_cast<SendRequest*>(packet.prefix_as<AckPrefix>().sender));
}

bool send_now(Comm& comm, const void* buffer, MPI_Count count, Datatype& type, int dest, int tag, Mode mode,
              Channel channel) noexcept {
  if (dest < 0 || mode == Mode::kSynchronous || !type.contiguous) return false;
  const MPI_Count bytes = mpi::total_bytes(type, count);
  vci::Lane* lane = mpi::lane_of(comm, channel, dest, tag).load(std::memory_order_acquire);
  if (lane == nullptr || bytes > static_cast<MPI_Count>(lane->max_packet())) return false;
  wire::Payload payload{buffer, static_cast<std::size_t>(bytes)};
  const std::uint32_t context = comm.peers[dest].address.context + static_cast<std::uint32_t>(channel);
  return lane->try_post_message({kEager, 0, 0, context, comm.rank, tag}, payload);
}

Status isend(Comm& comm, const void* buffer, MPI_Count count, Datatype& type, int dest, int tag, Mode mode,
             Channel channel, Request** out) {
  if (mode == Mode::kBuffered && dest != MPI_PROC_NULL) {
    HEDDLE_TRY(check_buffer(comm, static_cast<std::size_t>(mpi::total_bytes(type, count))));
  }
  if (dest == MPI_PROC_NULL || send_now(comm, buffer, count, type, dest, tag, mode, channel)) {
    *out = &immortal();
    return Status::ok();
  }
  SendRequest* request = make_send(comm, {const_cast<void*>(buffer), count, &type, dest, tag, channel}, mode);
  if (request == nullptr) return error(MPI_ERR_NO_MEM, "no memory for the request of a send");
  const Status status = request->start();
  if (!status) {
    destroy_send(*request);
    return status;
  }
  if (mode != Mode::kBuffered) {
    *out = request;
    return status;
  }
  // A buffered send is complete at once; the copy goes on alone.
  abandon(*request);
  *out = &immortal();
  return status;
}

Status send(Comm& comm, const void* buffer, MPI_Count count, Datatype& type, int dest, int tag, Mode mode,
            Channel channel) {
  Request* request = nullptr;
  HEDDLE_TRY(isend(comm, buffer, count, type, dest, tag, mode, channel, &request));
  if (request == &immortal()) return Status::ok();
  if (mode == Mode::kStandard ? wait_or_keep_copy(static_cast<SendRequest&>(*request)) : (wait(*request), false)) {
    abandon(*request);
    return Status::ok();
  }
  const Status status = outcome(*request);
  destroy(request);
  return status;
}

}  // namespace heddle::p2p
