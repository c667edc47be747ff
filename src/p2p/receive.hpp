// The parts of a receive that every message goes through, inlined into the procedures.
//
// Cost: a receive takes its VCI's lock twice, once to be made and posted and once to be found complete and given back; while
//       it waits, as often as it looks. No other instruction of it is locked.
#pragma once

#include "mpi/spread.hpp"
#include "p2p/protocol.hpp"
#include "p2p/request.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {

inline ReceiveRequest::ReceiveRequest(Comm& c, const Arguments& arguments) noexcept
    : ReceiveRequest(c, arguments, mpi::stream_of(c, arguments.channel, arguments.peer, arguments.tag)) {}
inline ReceiveRequest::ReceiveRequest(Comm& c, const Arguments& arguments, mpi::Stream& s) noexcept
    : Request(kReceiveType, &c, s.vci), args(arguments), stream(&s) {}

[[gnu::always_inline]] inline void ReceiveRequest::prepare(const Arguments& its) noexcept {
  arrived = 0;
  cursor.init(*its.type, its.count, its.buffer);
}

// (Not from the members: they may just have been stored there, and a load would wait for that.)
[[gnu::always_inline]] inline void ReceiveRequest::post(const Arguments& its, Comm& its_comm,
                                                        vci::Vci& its_vci) noexcept NO_THREAD_SAFETY_ANALYSIS {
  prepare(its);
  key = {its_comm.address.context + static_cast<std::uint32_t>(its.channel), its.peer, its.tag};
  if (!its_vci.matching().append_to_empty(*this)) [[unlikely]] {
    if (take_or_append()) return;
  }
  if (its_vci.sources().are_blocked()) [[unlikely]]
    its_vci.sources().search(*this);
  its_vci.lock().unlock();
}

// Makes and posts a receive in one go. Null when memory ran out. REQUIRES: not from MPI_PROC_NULL.
[[gnu::always_inline]] inline ReceiveRequest* post_receive(Comm& comm, const Arguments& arguments) noexcept
    NO_THREAD_SAFETY_ANALYSIS {
  mpi::Stream& stream = mpi::stream_of(comm, arguments.channel, arguments.peer, arguments.tag);
  vci::Vci& vci = *stream.vci;
  vci.lock().lock();
  auto* receive = vci.pool().make<ReceiveRequest>(comm, arguments, stream);
  if (receive == nullptr) [[unlikely]] {
    vci.lock().unlock();
    return nullptr;
  }
  ++stream.receives;
  mpi::retain(*arguments.type);
  receive->post(arguments, comm, vci);
  return receive;
}

// destroy() by the holder of the VCI's lock. True: the communicator waited for this; close() it without the lock.
[[gnu::always_inline]] inline bool destroy_locked(ReceiveRequest& receive) noexcept NO_THREAD_SAFETY_ANALYSIS {
  mpi::Stream& stream = *receive.stream;
  mpi::release(*receive.args.type);
  stream.vci->pool().destroy(&receive);
  return --stream.receives == 0 && stream.closing;
}

// The same for one who gives the lock back.
[[gnu::always_inline]] inline void destroy_and_unlock(ReceiveRequest& receive) noexcept NO_THREAD_SAFETY_ANALYSIS {
  vci::Vci& vci = *receive.vci;
  Comm& comm = *receive.comm;
  const bool last = destroy_locked(receive);
  vci.unlock_and_wake();
  if (last) [[unlikely]]
    mpi::close(comm);
}

inline void destroy(ReceiveRequest& receive) noexcept NO_THREAD_SAFETY_ANALYSIS {
  receive.vci->lock().lock();
  destroy_and_unlock(receive);
}

inline void finish(ReceiveRequest& receive) noexcept NO_THREAD_SAFETY_ANALYSIS {
  if (receive.marks != 0) [[unlikely]]
    return finish_marked(receive);
  vci::Vci& vci = *receive.vci;
  receive.complete.store(1, std::memory_order_release);  // a blocking call's may be gone after that
  vci.note_completed();
}

}  // namespace heddle::p2p
