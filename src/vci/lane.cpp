#include "vci/lane.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::vci {
namespace {

// A packet that found no room.
struct ControlOp : SendOp {
  wire::Header header;
  std::byte prefix[wire::kMaxPrefix];
  std::byte payload[Lane::kMaxControl];
  std::size_t bytes;
};

SendOp::Pushed push_control(SendOp& op, Lane& lane) {
  auto& control = static_cast<ControlOp&>(op);
  wire::Payload payload{control.payload, control.bytes};
  if (!lane.send(control.header, control.prefix, payload)) return SendOp::Pushed::kBlocked;
  delete &control;
  return SendOp::Pushed::kFinished;
}

}  // namespace

bool Lane::start(wire::RemoteAccess& access) noexcept {
  bool is_started;
  {
    LockGuard guard(owner_.lock());
    is_started = tx_.start(access);
  }
  if (is_started) owner_.wake_waiters();  // if the network could not take it now, who sleeps has to offer it again
  return is_started;
}

void Lane::queue(SendOp& op) noexcept { add(queue_, op); }
void Lane::stream(SendOp& op) noexcept { add(streams_, op); }

void Lane::add(SendQueue& queue, SendOp& op) noexcept {
  lock_.lock();
  const bool blocked = add_locked(queue, op);
  lock_.unlock();
  if (blocked) owner_.wake_waiters();
}

void Lane::stream_locked(SendOp& op) noexcept {
  if (add_locked(streams_, op)) owner_.wake_waiters();
}

bool Lane::add_locked(SendQueue& queue, SendOp& op) noexcept {
  if (closed_) [[unlikely]] {
    while (op.push(op, *this) != SendOp::Pushed::kFinished) {
    }
    return false;
  }
  queue.push_back(op);
  push_all();
  return set_busy();
}

bool Lane::cancel(MessageOp& op) noexcept {
  LockGuard guard(lock_);
  return op.held != nullptr ? held_->cancel(op) : queue_.remove(op);
}

bool Lane::recall(MessageOp& op, EndRecalled end) noexcept {
  LockGuard guard(lock_);
  if (op.held == nullptr) return false;
  const std::uint64_t number = held_->recall(op, end);
  if (number == 0) return true;
  const portals::RecallPrefix prefix{reinterpret_cast<std::uint64_t>(this), op.held->name, number};
  const portals::AskFrom from = self();
  post_control_locked({portals::kFlowPortal, sizeof prefix, portals::kRecall, 0, 0, 0}, &prefix, &from, sizeof from);
  return true;
}

void Lane::close() noexcept {
  LockGuard guard(lock_);
  if (closed_) return;
  closed_ = true;
  release_held();
  while (push_all() != 0) {
  }
  set_busy();
  queue_.push_back(gate_);
  credit_.close();
}

unsigned Lane::progress(bool* contended) noexcept {
  if (!lock_.try_lock()) {
    *contended = true;
    return 0;
  }
  unsigned moved = 0;
  HeldMessages::Recalled home;
  if (!closed_) {
    if (has_held() && tx_.is_away()) {
      home = held_->take_recalled();  // who left has taken none of them
      release_held();
    }
    moved = push_all();
    set_busy();
  }
  lock_.unlock();
  if (home.op == nullptr) return moved;
  home.end(*home.op);
  return moved + 1;
}

unsigned Lane::push_all() noexcept {
  unsigned moved = 0;
  auto push_front = [&](SendQueue& queue) {
    SendOp& op = *queue.pop_front();
    const SendOp::Pushed pushed = op.push(op, *this);
    moved += pushed != SendOp::Pushed::kBlocked;
    return std::pair(&op, pushed);
  };
  while (!queue_.empty()) {
    auto [op, pushed] = push_front(queue_);
    if (pushed == SendOp::Pushed::kStreams) {
      streams_.push_back(*op);
      continue;
    }
    if (pushed != SendOp::Pushed::kFinished) queue_.push_front(*op);
    if (pushed == SendOp::Pushed::kBlocked) {
      credit_.close();
      return moved;
    }
  }
  // Not to the end: an answer that has come may end the stream.
  for (unsigned packets = 0; packets < kStreamTurn && !streams_.empty(); ++packets) {
    auto [op, pushed] = push_front(streams_);
    if (pushed == SendOp::Pushed::kBlocked) {
      streams_.push_front(*op);
      return moved;
    }
    if (pushed == SendOp::Pushed::kFinished) continue;
    streams_.push_back(*op);
    if (pushed == SendOp::Pushed::kTurn) return moved;
  }
  return moved;
}

bool Lane::set_busy() noexcept {
  const bool now = !queue_.empty() || !streams_.empty() || has_held();
  if (now == busy()) return false;
  busy_.store(now, std::memory_order_relaxed);
  owner_.count_busy_lane(now);
  return now;
}

void Lane::post_control_locked(const wire::Header& header, const void* prefix, const void* payload,
                               std::size_t bytes) noexcept {
  wire::Payload all{payload, bytes};
  if (closed_ || (queue_.empty() && wire::try_send(tx_, header, prefix, all))) return;
  auto* op = new (std::nothrow) ControlOp;
  if (op == nullptr) owner_.domain().fatal("no memory to answer a peer");
  op->push = push_control;
  op->header = header;
  std::copy_n(static_cast<const std::byte*>(prefix), header.prefix_bytes, op->prefix);
  std::copy_n(static_cast<const std::byte*>(payload), bytes, op->payload);
  op->bytes = bytes;
  queue_.push_back(*op);
  credit_.close();
  if (set_busy()) owner_.wake_waiters();
}

}  // namespace heddle::vci
