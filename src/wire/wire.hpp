// How packets reach another process: the interface that every wire has, and all that the layers above know of it.
//
// Contract: packets of one lane arrive complete, once, in order. A lane may refuse a packet for a while (no room); the
//           caller keeps it and tries again after progress. Nothing is ordered between lanes.
// Threads:  a lane has one sender at a time (the caller's lock); poll() of one VCI has one caller at a time; different
//           lanes and VCIs are independent. connect() may be called by any thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/doorbell.hpp"
#include "base/status.hpp"
#include "wire/packet.hpp"
#include "wire/types.hpp"

namespace heddle::wire {

class PeerMemory;

// What came of a send.
enum class Sent {
  kNot,  // no room now; nothing of the payload was taken
  kYes,
  kWakeWanted,  // yes, and the receiver sleeps: call wake() soon
};

// A one-way FIFO from one VCI of this process to one VCI of one process.
class TxLane {
 public:
  explicit TxLane(bool shm) noexcept : is_shm(shm) {}
  virtual ~TxLane() = default;

  // False: no room now, and nothing of `payload` was taken.
  // REQUIRES: header.prefix_bytes <= kMaxPrefix, payload.bytes <= max_payload() of the wire.
  virtual bool try_send(const Header& header, const void* prefix, Payload& payload) noexcept = 0;
  // Wakes the receiver, after kWakeWanted.
  virtual void wake() noexcept {}
  // The memory of the process at the other end, if this wire can read it (single_copy.hpp); null otherwise.
  virtual PeerMemory* memory() noexcept { return nullptr; }

  const bool is_shm;  // lets wire/fast.hpp call shared memory without the virtual table
};

// Who gets the packets of a poll.
class Sink {
 public:
  virtual void deliver(const Packet& packet) noexcept = 0;

  void operator()(const Packet& packet) noexcept { deliver(packet); }
  void operator()(const Header& header, const std::byte* payload, std::size_t bytes) noexcept {
    deliver({header, payload, payload, bytes});
  }

 protected:
  ~Sink() = default;
};

class Wire {
 public:
  explicit Wire(bool shm) noexcept : is_shm(shm) {}
  virtual ~Wire() = default;

  virtual std::size_t max_payload() const noexcept = 0;
  virtual bool reaches(ProcessId peer) const noexcept = 0;
  // A lane from here to VCI `vci` of `peer`. The wire owns it.
  virtual Status connect(ProcessId peer, std::uint32_t vci, TxLane** lane) = 0;
  // Delivers what has arrived for `vci`, at most about `limit` packets; returns how many.
  virtual unsigned poll(std::uint32_t vci, Sink& sink, unsigned limit) noexcept = 0;
  // What peers ring after they have sent something on this wire.
  virtual Doorbell& bell() noexcept = 0;
  // Nobody polls here for a while, or somebody does again: whether peers shall wait for room.
  virtual void set_away(bool) noexcept {}

  const bool is_shm;  // as in TxLane
};

}  // namespace heddle::wire
