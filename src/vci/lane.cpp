#include "vci/lane.hpp"

#include "vci/vci.hpp"

namespace heddle::vci {

void Lane::queue(SendOp& op) noexcept { add(queue_, op); }
void Lane::stream(SendOp& op) noexcept { add(streams_, op); }

void Lane::add(SendQueue& queue, SendOp& op) noexcept {
  lock_.lock();
  if (closed_) [[unlikely]] {
    while (op.push(op, *this) == SendOp::Pushed::kMore) {
    }
    return lock_.unlock();
  }
  queue.push_back(op);
  push_all();
  const bool blocked = set_busy();
  lock_.unlock();
  if (blocked) owner_.wake_waiters();
}

bool Lane::cancel(SendOp& op) noexcept {
  LockGuard guard(lock_);
  return queue_.remove(op);
}

void Lane::close() noexcept {
  LockGuard guard(lock_);
  if (closed_) return;
  closed_ = true;
  push_all();
  set_busy();
  queue_.push_back(gate_);
}

unsigned Lane::progress(bool* contended) noexcept {
  if (!lock_.try_lock()) {
    *contended = true;
    return 0;
  }
  unsigned moved = 0;
  if (!closed_) {
    moved = push_all();
    set_busy();
  }
  lock_.unlock();
  return moved;
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
    if (pushed != SendOp::Pushed::kFinished) queue_.push_front(*op);
    if (pushed == SendOp::Pushed::kBlocked) return moved;
  }
  while (!streams_.empty()) {
    auto [op, pushed] = push_front(streams_);
    if (pushed == SendOp::Pushed::kBlocked) {
      streams_.push_front(*op);
      return moved;
    }
    if (pushed == SendOp::Pushed::kMore) streams_.push_back(*op);
  }
  return moved;
}

bool Lane::set_busy() noexcept {
  const bool now = !queue_.empty() || !streams_.empty();
  if (now == busy()) return false;
  busy_.store(now, std::memory_order_relaxed);
  owner_.count_busy_lane(now);
  return now;
}

}  // namespace heddle::vci
