// Calls of the wire's hot functions that skip the virtual table where the wire is shared memory, so that the compiler
// sees through them. The layers above call these and know of no particular wire.
#pragma once

#include "wire/shm.hpp"
#include "wire/wire.hpp"

namespace heddle::wire {

inline bool try_send(TxLane& lane, const Header& header, const void* prefix, Payload& payload) noexcept {
  if (lane.is_shm) [[likely]]
    return static_cast<ShmLane&>(lane).try_send(header, prefix, payload);
  return lane.try_send(header, prefix, payload);
}

// The same for a payload of at most kMaxShort bytes without a prefix, without a call where the wire is shared memory: after
// kNot try_send() may still find room.
[[gnu::always_inline]] inline Sent try_send_short(TxLane& lane, const Header header, const void* data,
                                                  std::size_t bytes) noexcept {
  if (!lane.is_shm) [[unlikely]]
    return Sent::kNot;
  return static_cast<ShmLane&>(lane).send_short(header, data, bytes);
}

// Any wire's poll, for a deliver as in poll().
template <class Deliver>
[[gnu::noinline]] unsigned poll_other(Wire& wire, std::uint32_t vci, unsigned limit, Deliver deliver) noexcept {
  struct Adapter final : Sink {
    explicit Adapter(Deliver& d) noexcept : deliver_to(d) {}
    void deliver(const Packet& packet) noexcept override { deliver_to(packet); }
    Deliver& deliver_to;
  } sink(deliver);
  return wire.poll(vci, sink, limit);
}

// deliver(packet) gets a packet; deliver(header, payload, bytes) one for portal 0 without a prefix, in registers.
template <class Deliver>
[[gnu::always_inline]] inline unsigned poll(Wire& wire, std::uint32_t vci, unsigned limit, Deliver deliver) noexcept {
  if (wire.is_shm) [[likely]]
    return static_cast<ShmWire&>(wire).poll_with(vci, limit, deliver);
  return poll_other(wire, vci, limit, deliver);
}

}  // namespace heddle::wire
