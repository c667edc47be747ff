// A lane over a fabric: packets are gathered in a frame (frame.hpp), which goes when nothing speaks against it.
//
// Problem: to give a message of 8 bytes to a network costs a system call or a bell; a burst of them should not pay it for
//          each.
// Method:  a packet goes at once, in a frame of its own, when the lane has been quiet for kQuietNs. Else packets are gathered,
//          until kEnough bytes are there, or the process makes progress, or, if it computes, the waker comes by, after
//          OfiWire::kFlushNs and again until the provider takes them. A sender that knows better says so (When).
// Threads: any; the port's lock. resolve() is called without it.
// Cost:    2.1 M messages/s of 8 bytes over tcp;ofi_rxm, and 0.2 without (docs/decisions/network.md).
#pragma once

#include <atomic>

#include "wire/ofi_port.hpp"

namespace heddle::wire {

class OfiWire;

class OfiLane final : public TxLane {
 public:
  OfiLane(OfiWire& wire, OfiPort& port, ProcessId peer, std::uint32_t to) noexcept
      : TxLane(false, OfiPort::kMaxPayload), wire_(wire), port_(port), peer_(peer), to_(to) {}

  bool try_send(const Header& header, const void* prefix, Payload& payload) noexcept override;
  bool expose(const void* data, std::size_t bytes, bool writable, Exposure* out) noexcept override {
    return port_.expose(data, bytes, writable, out);
  }
  void conceal(Exposure& exposure) noexcept override { port_.conceal(exposure); }
  bool accesses() const noexcept override { return true; }
  std::uint32_t tell(const Arrivals& arrivals) noexcept override { return port_.tell(arrivals); }
  void forget(std::uint32_t name) noexcept override { port_.forget(name); }
  bool start(RemoteAccess& access) noexcept override { return port_.start(access, *this); }
  bool begin_message(std::size_t bytes) noexcept override;
  void end_message() noexcept override { messages_.fetch_sub(1, std::memory_order_relaxed); }
  void note_pushed(bool landed) noexcept override { not_pushed_ = landed ? 0 : kNotPushed; }
  bool try_send_before(RemoteAccess& behind, const Header& header, const void* prefix,
                       Payload& payload) noexcept override;

  ProcessId peer() const noexcept { return peer_; }
  std::uint32_t to() const noexcept { return to_; }
  OfiPort& port() const noexcept { return port_; }
  fi_addr_t address() const noexcept { return address_; }
  bool is_resolved() const noexcept { return resolved_.load(std::memory_order_acquire); }
  // The other end's address, as its port tells it. Any thread, once.
  Status resolve(const void* address) noexcept;
  // For the port, under its lock: parts of accesses that are on their way.
  unsigned parts = 0;
  // For the port: sends the open frame; true when it has gone.
  bool push() noexcept REQUIRES(port_.lock());
  // The same for nobody.
  void drop() noexcept REQUIRES(port_.lock());

 private:
  static constexpr std::int64_t kQuietNs = 3000;
  static constexpr std::size_t kEnough = 8 << 10;
  // Messages that are only announced after one that did not land: then one is pushed again.
  static constexpr unsigned kNotPushed = 16;

  bool append(const Header& header, std::uint32_t behind, const void* prefix, Payload& payload) noexcept
      REQUIRES(port_.lock());

  OfiWire& wire_;
  OfiPort& port_;
  const ProcessId peer_;
  const std::uint32_t to_;
  std::atomic<bool> resolved_{false};
  fi_addr_t address_ = FI_ADDR_UNSPEC;
  std::atomic<unsigned> messages_{0};  // that are exposed
  unsigned not_pushed_ = 0;            // of the next ones; the sender's

  // Guarded by the port's lock.
  OfiSend* frame_ = nullptr;  // the open one
  std::uint32_t packets_ = 0;
  std::uint32_t sequence_ = 0;
  bool waiting_ = false;        // the port knows that the frame has not gone
  std::int64_t last_gone_ = 0;  // when, in ns
};

}  // namespace heddle::wire
