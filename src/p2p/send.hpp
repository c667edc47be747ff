// The short way of a small message: contiguous, with room in the lane.
#pragma once

#include "p2p/protocol.hpp"
#include "p2p/request.hpp"

namespace heddle::p2p {

// The most that one packet of this message may carry.
std::size_t max_packet(const SendRequest& request) noexcept;
wire::Header header_of(const SendRequest& request, std::uint8_t portal, std::size_t prefix_bytes) noexcept;
// Bytes of the message. What is contiguous is copied straight from the buffer by the cursor's fast path.
wire::Payload bytes_at(SendRequest& request, std::uint64_t at, std::size_t bytes) noexcept;

// Several slots' worth of a message, if there is room.
bool send_slots(vci::Lane& lane, const wire::Header& header, const void* buffer, std::size_t bytes) noexcept;

// Sends the message at once if that needs no request: true, and the caller's buffer is free again. False: nothing
// happened.
[[gnu::always_inline]] inline bool send_now(Comm& comm, const void* buffer, MPI_Count count, Datatype& type, int dest,
                                            int tag, Mode mode, Channel channel) noexcept {
  if (dest < 0 || mode == Mode::kSynchronous || !type.contiguous) return false;
  mpi::Peer& peer = comm.peers[dest];
  vci::Lane* lane = peer.lane.load(std::memory_order_acquire);
  const MPI_Count bytes = mpi::total_bytes(type, count);
  if (lane == nullptr || bytes > static_cast<MPI_Count>(wire::kMaxInline)) return false;
  const wire::Header header{kEager, 0, 0, peer.address.context + static_cast<std::uint32_t>(channel), comm.rank, tag};
  if (bytes <= static_cast<MPI_Count>(wire::kMaxShort)) [[likely]]
    return lane->try_post_short(header, buffer, static_cast<std::size_t>(bytes));
  return send_slots(*lane, header, buffer, static_cast<std::size_t>(bytes));
}

}  // namespace heddle::p2p
