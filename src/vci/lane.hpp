// The sending side of a VCI towards one VCI of one peer.
//
// Problem: messages of one source and communicator must arrive in the order in which they were sent, also when
//          different threads send them one after the other; and a full ring must not block the caller.
// Method:  one FIFO. Its lock is held through publish. An operation that finds no room is queued and pushed by
//          progress; while something is queued, everything that must keep its order queues behind it. Data of messages
//          that the receiver has already matched needs no order: it flows as `streams`, taking turns.
//          A message takes credit (credit.hpp); without, it is held until there is some, or until the receiver wants this one
//          (held.hpp). What is no message needs none and passes what is held.
// Threads: any thread may post. Lock order: the lock of a VCI, then the lock of a lane; never the other way.
// Cost:    with room: the lock and the wire's publish.
#pragma once

#include <atomic>

#include <memory>

#include "base/lock.hpp"
#include "vci/credit.hpp"
#include "vci/held.hpp"
#include "vci/send_op.hpp"
#include "wire/fast.hpp"

namespace heddle::vci {

class Vci;

struct LaneCounts {
  std::uint64_t sent, held, offers;
};

class Lane {
 public:
  Lane(Vci& owner, wire::TxLane& tx, wire::ProcessId peer, std::uint32_t remote_vci, portals::Credit first) noexcept
      : owner_(owner), tx_(tx), peer_(peer), remote_vci_(remote_vci), credit_(first) {}

  Lock& lock() noexcept LOCK_RETURNED(lock_) { return lock_; }
  const Vci& owner() const noexcept { return owner_; }
  wire::ProcessId peer() const noexcept { return peer_; }
  std::uint32_t remote_vci() const noexcept { return remote_vci_; }
  wire::TxLane& tx() const noexcept { return tx_; }
  // The most that one packet carries.
  std::size_t max_packet() const noexcept { return tx_.max_payload(); }

  // Begins an access to the memory at the other end, as TxLane::start(); by a caller without the lock of the VCI.
  bool start(wire::RemoteAccess& access) noexcept;

  // Sends at once if nothing is queued and there is room. False: nothing happened, queue() it.
  bool try_post(const wire::Header& header, const void* prefix, wire::Payload& payload) noexcept {
    LockGuard guard(lock_);
    return try_post_locked(header, prefix, payload);
  }
  // The same for the one packet of a message. False: nothing happened, queue_message() it.
  bool try_post_message(const wire::Header& header, wire::Payload& payload) noexcept {
    LockGuard guard(lock_);
    if (!credit_.is_ready() && !refill()) return false;
    const std::size_t bytes = payload.bytes;
    if (bytes > LaneCredit::kFree && bytes > credit_.bytes()) return false;
    if (!wire::try_send(tx_, header, nullptr, payload)) return false;
    credit_.take_ready();
    if (bytes > LaneCredit::kFree) credit_.take_bytes(bytes);
    ask_if_short();
    return true;
  }

  // The same for one of at most wire::kMaxShort bytes, without a call in the usual case: it does not wait for the lock,
  // and leaves it to the caller to wake() who sleeps. After kNot try_post_message() may still find room.
  [[gnu::always_inline]] wire::Sent try_post_short(const wire::Header header, const void* data,
                                                   std::size_t bytes) noexcept {
    if (!lock_.try_lock()) [[unlikely]]
      return wire::Sent::kNot;
    wire::Sent sent = wire::Sent::kNot;
    if (credit_.is_ready()) [[likely]]
      sent = wire::try_send_short(tx_, header, data, bytes);
    if (sent == wire::Sent::kNot) [[unlikely]] {
      unlock_unsent();
      return wire::Sent::kNot;
    }
    credit_.take_ready();
    return lock_.unlock_quietly() ? wire::Sent::kWakeWanted : sent;
  }
  // After kWakeWanted.
  [[gnu::cold]] void wake() noexcept {
    tx_.wake();
    lock_.wake();
  }

  // For SendOp::push, which runs under the lock.
  bool send(const wire::Header& header, const void* prefix, wire::Payload& payload) noexcept {
    return closed_ || wire::try_send(tx_, header, prefix, payload);
  }
  // A packet whose payload, if it has one, is at most kMaxControl bytes: now or when there is room.
  void post_control(const wire::Header& header, const void* prefix, const void* payload = nullptr,
                    std::size_t bytes = 0) noexcept {
    LockGuard guard(lock_);
    post_control_locked(header, prefix, payload, bytes);
  }
  static constexpr std::size_t kMaxControl = 8;

  // Tries to push the operation, in order after everything queued; what does not go now goes with progress: whoever
  // sleeps is woken for it, as the caller may leave and the receiver may have made room before it was asked to ring.
  void queue(SendOp& op) noexcept;
  // The same for the first packet of a message, which is held where there is no credit for it.
  void queue_message(MessageOp& op, const Envelope& envelope) noexcept;
  // The same for data that may pass what is queued.
  void stream(SendOp& op) noexcept;
  // For threads that must not wait for the lock: their work is run with it, by them or by whoever holds it, and may call what
  // follows. Work is expected first.
  void expect_work() noexcept {
    LockGuard guard(lock_);
    lock_.expect_work();
  }
  bool try_post_locked(const wire::Header& header, const void* prefix, wire::Payload& payload) noexcept
      REQUIRES(lock_) {
    return queue_.empty() && wire::try_send(tx_, header, prefix, payload);
  }
  void post_control_locked(const wire::Header& header, const void* prefix, const void* payload = nullptr,
                           std::size_t bytes = 0) noexcept REQUIRES(lock_);
  void stream_locked(SendOp& op) noexcept REQUIRES(lock_);

  // Takes an operation off the queue that has not begun. False when it is not there.
  bool cancel(MessageOp& op) noexcept;
  // The same for one that its receiver was shown, and is asked to forget: then `end` is called, with no lane's lock held, unless the
  // receiver has taken it. False: it is not held any more.
  bool recall(MessageOp& op, EndRecalled end) noexcept;
  // Whether it is at home, and may be for long: the receiver has said that it has no room for it.
  bool is_kept_at_home(const MessageOp& op) const noexcept REQUIRES(lock_) {
    return op.held != nullptr ? credit_.is_refused() : op.stays;
  }

  // What the receiver says (portals/flow.hpp).
  void on_flow(const wire::Packet& packet) noexcept;
  // Nobody is at the other end any more. What is queued, and what is queued later, goes nowhere at once; so does every
  // other packet: try_post() finds no room.
  void close() noexcept;
  // Pushes what it can; returns how many operations moved. Sets `*contended` instead when another thread is at it: that
  // one may have looked for room before there was some, so the caller must not sleep.
  unsigned progress(bool* contended) noexcept;

  // Messages sent, messages held for want of credit, and offers of these, since the beginning.
  LaneCounts counts() noexcept;

  // For SendOp::push, which runs under the lock: nobody is at the other end any more.
  bool is_closed() const noexcept { return closed_; }

  bool busy() const noexcept { return busy_.load(std::memory_order_relaxed); }

 private:
  [[gnu::noinline, gnu::cold]] void unlock_unsent() noexcept RELEASE(lock_) { lock_.unlock(); }
  void add(SendQueue& queue, SendOp& op) noexcept;
  unsigned push_all() noexcept REQUIRES(lock_);

  static constexpr unsigned kStreamTurn = 16;  // packets of streams, before who makes progress looks at what has come

  bool set_busy() noexcept REQUIRES(lock_);  // true: since now there is something that waits

  bool add_locked(SendQueue& queue, SendOp& op) noexcept REQUIRES(lock_);
  bool refill() noexcept REQUIRES(lock_);
  void ask_if_short() noexcept REQUIRES(lock_);
  bool admit(MessageOp& op, std::uint64_t total) noexcept REQUIRES(lock_);
  void hold(MessageOp& op, const Envelope& envelope) noexcept REQUIRES(lock_);
  void release_held() noexcept REQUIRES(lock_);
  void ask() noexcept REQUIRES(lock_);
  portals::AskFrom self() const noexcept REQUIRES(lock_);
  void answer_searches() noexcept REQUIRES(lock_);
  void taken(MessageOp* op) noexcept REQUIRES(lock_);
  void after_decision() noexcept REQUIRES(lock_);
  bool has_held() const noexcept REQUIRES(lock_) { return held_ != nullptr && !held_->empty(); }
  HeldMessages* held() noexcept REQUIRES(lock_);

  Lock lock_;
  Vci& owner_;
  wire::TxLane& tx_;
  const wire::ProcessId peer_;
  const std::uint32_t remote_vci_;
  SendQueue queue_;
  SendQueue streams_;
  LaneCredit credit_;                   // none of it ready while something is queued
  std::unique_ptr<HeldMessages> held_;  // made when the receiver first has no room
  std::atomic<bool> busy_{false};
  bool closed_ = false;
  SendOp gate_;  // queued for ever when the lane is closed
};

}  // namespace heddle::vci
