// The short way of a small message: contiguous, with room in the lane.
#pragma once

#include "mpi/spread.hpp"
#include "p2p/protocol.hpp"
#include "p2p/request.hpp"

namespace heddle::p2p {

// At most kMaxShort bytes of the user's that lie in a row, at once. After kWakeWanted the caller wakes *lane. kNot: there
// is no lane yet, or no room in it, or another thread is at it; nothing happened.
[[gnu::always_inline]] inline wire::Sent send_short(Comm& comm, const void* buffer, std::size_t bytes, int dest,
                                                    int tag, vci::Lane*& lane) noexcept {
  const mpi::Peer& peer = comm.peers[dest];
  lane = peer.lane.load(std::memory_order_acquire);
  if (lane == nullptr) [[unlikely]] {
    if (comm.spread == nullptr) return wire::Sent::kNot;
    lane = mpi::spread_lane(comm, dest, tag).load(std::memory_order_acquire);
    if (lane == nullptr) return wire::Sent::kNot;
  }
  const std::uint32_t context = peer.address.context + static_cast<std::uint32_t>(Channel::kUser);
  return lane->try_post_short({kEager, 0, 0, context, comm.rank, tag}, buffer, bytes);
}

wire::Header header_of(const SendRequest& request, std::uint8_t portal, std::size_t prefix_bytes) noexcept;
// Bytes of the message. What is contiguous is copied straight from the buffer by the cursor's fast path.
wire::Payload bytes_at(SendRequest& request, std::uint64_t at, std::size_t bytes) noexcept;

// Sends the message at once if that needs no request: true, and the caller's buffer is free again. False: nothing
// happened. Waits for the lane's lock.
bool send_now(Comm& comm, const void* buffer, MPI_Count count, Datatype& type, int dest, int tag, Mode mode,
              Channel channel) noexcept;

}  // namespace heddle::p2p
