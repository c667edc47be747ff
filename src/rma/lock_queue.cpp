#include "rma/lock_queue.hpp"

#include <algorithm>

#include "mpi/process.hpp"
#include "p2p/loss.hpp"
#include "rma/active_packets.hpp"
#include "rma/passive.hpp"
#include "rma/window.hpp"
#include "vci/domain.hpp"

namespace heddle::rma {

void LockQueue::add(int origin, std::uint64_t token, bool is_exclusive) {
  LockWord& lock = window_.block->lock;
  waiters_.push_back({origin, token, is_exclusive, lock.come()});
  if (is_exclusive) lock.wait_for_it();
  if (!is_used_.exchange(true, std::memory_order_seq_cst)) {
    look_.step = look;
    look_.queue = this;
    window_.comm->vci->add_idle_task(look_);
  }
  serve();
}

// As rma::Waiting: after the bit one more look.
void LockQueue::serve() noexcept {
  give_to_all_who_can();
  if (!is_empty() && window_.block->sleepers.put_up(window_.node.self())) give_to_all_who_can();
}

void LockQueue::serve_unlocked() noexcept {
  LockGuard guard(window_.comm->vci->lock());
  serve();
}

void LockQueue::give_to_all_who_can() noexcept {
  LockWord& lock = window_.block->lock;
  std::erase_if(waiters_, [&](const Waiter& waiter) {
    if (!(waiter.is_exclusive ? lock.try_exclusive(true) : lock.try_shared(waiter.reader))) return false;
    answer_lock(window_, waiter.origin, waiter.token, true);
    return true;
  });
}

void LockQueue::refuse_all() noexcept {
  for (const Waiter& waiter : waiters_) {
    if (waiter.is_exclusive) window_.block->lock.leave();
    answer_lock(window_, waiter.origin, waiter.token, false);
  }
  waiters_.clear();
  wake_sleepers(window_.node, *window_.block);  // readers that let the writers go first
}

bool LockQueue::look(vci::Task& task) {
  LockQueue& queue = *static_cast<Look&>(task).queue;
  const mpi::Comm& comm = *queue.window_.comm;
  const bool is_broken = p2p::has_losses(comm) && p2p::has_lost_member(comm);
  LockGuard guard(comm.vci->lock());
  queue.serve();
  if (is_broken) queue.refuse_all();
  if (!queue.is_empty()) return false;
  queue.is_used_.store(false, std::memory_order_seq_cst);
  return true;
}

void LockQueue::drain() noexcept {
  if (!is_used()) return;
  window_.comm->process->domain().wait(*window_.comm->vci, [&] { return !is_used(); });
}

}  // namespace heddle::rma
