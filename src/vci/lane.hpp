// The sending side of a VCI towards one VCI of one peer.
//
// Problem: messages of one source and communicator must arrive in the order in which they were sent, also when
//          different threads send them one after the other; and a full ring must not block the caller.
// Method:  one FIFO. Its lock is held through publish. An operation that finds no room is queued and pushed by
//          progress; while something is queued, everything that must keep its order queues behind it. Data of messages
//          that the receiver has already matched needs no order: it flows as `streams`, taking turns.
// Threads: any thread may post. Lock order: the lock of a VCI, then the lock of a lane; never the other way.
// Cost:    with room: the lock and the wire's publish.
#pragma once

#include <atomic>

#include "base/lock.hpp"
#include "vci/send_op.hpp"
#include "wire/fast.hpp"

namespace heddle::vci {

class Vci;

class Lane {
 public:
  Lane(Vci& owner, wire::TxLane& tx, wire::ProcessId peer, std::uint32_t remote_vci) noexcept
      : owner_(owner), tx_(tx), peer_(peer), remote_vci_(remote_vci) {}

  Lock& lock() noexcept LOCK_RETURNED(lock_) { return lock_; }
  const Vci& owner() const noexcept { return owner_; }
  wire::ProcessId peer() const noexcept { return peer_; }
  std::uint32_t remote_vci() const noexcept { return remote_vci_; }
  wire::TxLane& tx() const noexcept { return tx_; }
  // The most that one packet carries.
  std::size_t max_packet() const noexcept { return tx_.max_payload(); }

  // Sends at once if nothing is queued and there is room. False: nothing happened, queue() it. `messages`: 1 when it is a
  // message's first packet.
  bool try_post(const wire::Header& header, const void* prefix, wire::Payload& payload,
                unsigned messages = 0) noexcept {
    lock_.lock();
    const bool sent = queue_.empty() && wire::try_send(tx_, header, prefix, payload);
    if (sent) messages_ += messages;
    lock_.unlock();
    return sent;
  }

  // The same for a message of at most wire::kMaxShort bytes without a prefix, without a call in the usual case: it does not wait for
  // the lock, and leaves it to the caller to wake() who sleeps. After kNot try_post() may still find room.
  [[gnu::always_inline]] wire::Sent try_post_short(const wire::Header header, const void* data,
                                                   std::size_t bytes) noexcept {
    if (!lock_.try_lock()) [[unlikely]]
      return wire::Sent::kNot;
    wire::Sent sent = wire::Sent::kNot;
    if (queue_.empty()) [[likely]]
      sent = wire::try_send_short(tx_, header, data, bytes);
    if (sent == wire::Sent::kNot) [[unlikely]] {
      unlock_unsent();
      return wire::Sent::kNot;
    }
    ++messages_;
    return lock_.unlock_quietly() ? wire::Sent::kWakeWanted : sent;
  }
  // After kWakeWanted.
  [[gnu::cold]] void wake() noexcept {
    lock_.wake();
    tx_.wake();
  }

  // For SendOp::push, which runs under the lock.
  bool send(const wire::Header& header, const void* prefix, wire::Payload& payload, unsigned messages = 0) noexcept {
    if (closed_) [[unlikely]]
      return true;
    const bool sent = wire::try_send(tx_, header, prefix, payload);
    if (sent) messages_ += messages;
    return sent;
  }

  // Tries to push the operation, in order after everything queued; what does not go now goes with progress: whoever
  // sleeps is woken for it, as the caller may leave and the receiver may have made room before it was asked to ring.
  void queue(SendOp& op) noexcept;
  // The same for data that may pass what is queued.
  void stream(SendOp& op) noexcept;
  // Takes an operation off the queue that has not begun. False when it is not there.
  bool cancel(SendOp& op) noexcept;
  // Nobody is at the other end any more. What is queued, and what is queued later, goes nowhere at once; so does every
  // other packet: try_post() finds no room.
  void close() noexcept;
  // Pushes what it can; returns how many operations moved. Sets `*contended` instead when another thread is at it: that
  // one may have looked for room before there was some, so the caller must not sleep.
  unsigned progress(bool* contended) noexcept;

  std::uint64_t messages_sent() noexcept {
    LockGuard guard(lock_);
    return messages_;
  }

  bool busy() const noexcept { return busy_.load(std::memory_order_relaxed); }

 private:
  [[gnu::noinline, gnu::cold]] void unlock_unsent() noexcept RELEASE(lock_) { lock_.unlock(); }
  void add(SendQueue& queue, SendOp& op) noexcept;
  unsigned push_all() noexcept REQUIRES(lock_);
  bool set_busy() noexcept REQUIRES(lock_);  // true: since now there is something that waits

  Lock lock_;
  Vci& owner_;
  wire::TxLane& tx_;
  const wire::ProcessId peer_;
  const std::uint32_t remote_vci_;
  SendQueue queue_;
  SendQueue streams_;
  std::uint64_t messages_ = 0;  // sent; changed under the lock
  std::atomic<bool> busy_{false};
  bool closed_ = false;
  SendOp gate_;  // queued for ever when the lane is closed
};

}  // namespace heddle::vci
