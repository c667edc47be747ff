// Which VCI a message of a communicator uses.
//
// Problem: threads that share one communicator meet on its VCI; but a receive with a wildcard must see every message
//          that it admits, so messages may go different ways only if no wildcard can want them both.
// Method:  (the VCI paper; MPI 4.0's assertions) where *all* members assert mpi_assert_no_any_tag, the tag chooses the
//          VCI, where all assert mpi_assert_no_any_source, the source does, where both, both. Agreed when the
//          communicator is made, then frozen. The receiver's published number of VCIs counts, so both sides find
//          the same one. Messages that one receive could match always have one way, and so keep their order. What answers a
//          message (p2p/protocol.hpp) goes the way that a message back with the same tag would.
//          Collective traffic stays on the communicator's own VCI.
// Threads: immutable after creation, except the lanes, which are filled in on first use, and the streams (mpi/comm.hpp).
// Cost:    one predicted branch for a communicator that is not spread; 128 bytes a member for one that is.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>

#include "mpi/comm.hpp"
#include "wire/segment.hpp"

namespace heddle::mpi {

struct Spread {
  std::uint16_t asserted;                            // by all
  std::unique_ptr<Stream[]> streams;                 // by index, from 1 on; 0 is the communicator's own
  std::unique_ptr<std::atomic<vci::Lane*>[]> lanes;  // [rank * kMaxVcis + index]

  // Of a message from rank `source` (of the sender) with this tag, at a receiver: 0 .. vcis - 1, 0 for its own VCI.
  std::uint32_t index(const Address& receiver, int source, int tag) const noexcept {
    std::uint32_t h = (asserted & kNoAnyTag) != 0 ? static_cast<std::uint32_t>(tag) : 0;
    if ((asserted & kNoAnySource) != 0) h += static_cast<std::uint32_t>(source);
    h ^= h >> 3 ^ h >> 6 ^ h >> 12;  // neighbours stay apart, and so do multiples of a power of two
    return h & (std::bit_floor(std::uint32_t{receiver.vcis}) - 1);
  }
};

// The VCI behind an index at the process with this address.
inline std::uint32_t vci_of(const Address& address, std::uint32_t index) noexcept {
  const std::uint32_t vci = address.vci + index;
  return vci < address.vcis || index == 0 ? vci : vci - address.vcis;
}

// In a spread communicator, of the user's messages.
inline Stream& spread_stream(Comm& comm, int source, int tag) noexcept {
  const std::uint32_t i = comm.spread->index(comm.address, source, tag);
  return i == 0 ? comm.stream : comm.spread->streams[i];
}
inline std::atomic<vci::Lane*>& spread_lane(Comm& comm, int peer, int tag) noexcept {
  const std::uint32_t i = comm.spread->index(comm.peers[peer].address, comm.rank, tag);
  return comm.spread->lanes[static_cast<std::size_t>(peer) * wire::kMaxVcis + i];
}

// Where this process receives from `source` with this tag, and gets the answers to what it sends there.
inline Stream& stream_of(Comm& comm, Channel channel, int source, int tag) noexcept {
  if (comm.spread == nullptr || channel != Channel::kUser) [[likely]]
    return comm.stream;
  return spread_stream(comm, source, tag);
}

// What the communicator has on each of its VCIs.
template <class Visit>
void for_each_stream(Comm& comm, Visit visit) {
  visit(comm.stream);
  if (comm.spread == nullptr) return;
  const std::uint32_t streams = std::bit_floor(std::uint32_t{comm.address.vcis});
  for (std::uint32_t i = 1; i < streams; ++i) visit(comm.spread->streams[i]);
}

// The lane for a message to `peer`; null until it is made.
inline std::atomic<vci::Lane*>& lane_of(Comm& comm, Channel channel, int peer, int tag) noexcept {
  if (comm.spread == nullptr) [[likely]]
    return comm.peers[peer].lane;
  if (channel != Channel::kUser) return comm.spread->lanes[static_cast<std::size_t>(peer) * wire::kMaxVcis];
  return spread_lane(comm, peer, tag);
}

// The receiver's VCI for a message to `peer`.
std::uint32_t remote_vci(Comm& comm, Channel channel, int peer, int tag) noexcept;

}  // namespace heddle::mpi
