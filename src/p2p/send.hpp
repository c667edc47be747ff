// The short way of a small message: contiguous, with room in the lane.
#pragma once

#include "p2p/protocol.hpp"
#include "p2p/request.hpp"

namespace heddle::p2p {

// Sends the message at once if that needs no request: true, and the caller's buffer is free again. False: nothing
// happened.
inline bool send_now(Comm& comm, const void* buffer, MPI_Count count, Datatype& type, int dest, int tag, Mode mode,
                     Channel channel) noexcept {
  if (dest < 0 || mode == Mode::kSynchronous || !type.contiguous) return false;
  mpi::Peer& peer = comm.peers[dest];
  vci::Lane* lane = peer.lane.load(std::memory_order_acquire);
  const MPI_Count bytes = mpi::total_bytes(type, count);
  if (lane == nullptr || bytes > static_cast<MPI_Count>(wire::kMaxInline)) return false;
  const wire::Header header{kEager, 0, 0, peer.address.context + static_cast<std::uint32_t>(channel), comm.rank, tag};
  wire::Payload payload{buffer, static_cast<std::size_t>(bytes)};
  return lane->try_post(header, nullptr, payload);
}

// The long way: isend() when send_now() could not.
Status isend_with_request(Comm& comm, const void* buffer, MPI_Count count, Datatype& type, int dest, int tag, Mode mode,
                          Channel channel, Request** out);

}  // namespace heddle::p2p
