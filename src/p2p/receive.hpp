// The parts of a receive that every message goes through, inlined into the procedures.
//
// Cost: a receive takes its VCI's lock twice, once to be made and posted and once to be given back; its progress takes it
//       as often as it looks. No other instruction of it is locked.
#pragma once

#include "p2p/protocol.hpp"
#include "p2p/request.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {

inline ReceiveRequest::ReceiveRequest(Comm& c, const Arguments& arguments) noexcept
    : Request(kReceiveType), args(arguments), stream(&c.stream) {
  comm = &c;
  vci = stream->vci;
}

[[gnu::always_inline]] inline void ReceiveRequest::prepare() noexcept {
  arrived = 0;
  cursor.init(*args.type, args.count, args.buffer);
}

[[gnu::always_inline]] inline void ReceiveRequest::post() noexcept {
  prepare();
  key = {comm->address.context + static_cast<std::uint32_t>(args.channel), args.peer, args.tag};
  if (!vci->matching().append_to_empty(*this)) [[unlikely]] {
    portals::UnexpectedHeader* message = vci->matching().append(*this);
    if (message != nullptr) return take_unexpected(*message);
  }
  vci->lock().unlock();
}

// Makes and posts a receive in one go. Null when memory ran out. REQUIRES: not from MPI_PROC_NULL.
[[gnu::always_inline]] inline ReceiveRequest* post_receive(Comm& comm, const Arguments& arguments) noexcept
    NO_THREAD_SAFETY_ANALYSIS {
  mpi::Stream& stream = comm.stream;
  stream.vci->lock().lock();
  auto* receive = stream.vci->pool().make<ReceiveRequest>(comm, arguments);
  if (receive == nullptr) [[unlikely]] {
    stream.vci->lock().unlock();
    return nullptr;
  }
  ++stream.receives;
  mpi::retain(*arguments.type);
  receive->post();
  return receive;
}

inline void destroy(ReceiveRequest& receive) noexcept {
  mpi::release(*receive.args.type);
  Comm& comm = *receive.comm;
  mpi::Stream& stream = *receive.stream;
  stream.vci->lock().lock();
  stream.vci->pool().destroy(&receive);
  const bool last = --stream.receives == 0 && stream.closing;
  stream.vci->lock().unlock();
  if (last) [[unlikely]]
    mpi::close(comm);
}

inline void finish(ReceiveRequest& receive) noexcept {
  vci::Vci& vci = *receive.vci;
  if (receive.abandoned) [[unlikely]]
    return reap_later(receive);
  receive.complete.store(1, std::memory_order_release);
  vci.wake_waiters();
}

}  // namespace heddle::p2p
