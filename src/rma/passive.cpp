// Passive target synchronisation: locks and flushes.
#include "rma/passive.hpp"

#include <atomic>

#include "base/atomics.hpp"
#include "mpi/process.hpp"
#include "p2p/loss.hpp"
#include "rma/active.hpp"
#include "rma/api.hpp"
#include "rma/epoch.hpp"
#include "vci/domain.hpp"

namespace heddle::rma {
namespace {

// Waits for a lock; sleepers.hpp says why none sleeps on.
class Waiting {
 public:
  Waiting(Window& window, Block& block, Held held) noexcept
      : window_(window), block_(block), held_(held), reader_(block.lock.come()) {
    if (held_ == kExclusive) block_.lock.wait_for_it();
  }

  Status wait(int rank) noexcept {
    vci::Domain& domain = window_.comm->process->domain();
    bool is_lost = false;
    domain.wait(*window_.comm->vci, [&] {
      if (ask() || (block_.sleepers.put_up(window_.node.self()) && ask())) return true;
      is_lost = p2p::has_losses(*window_.comm) && p2p::has_lost_member(*window_.comm);
      return is_lost;
    });
    if (!is_lost) return Status::ok();
    if (held_ == kExclusive) {
      block_.lock.leave();
      wake_sleepers(window_.node, block_);  // readers that let it go first
    }
    return p2p::loss_error(*window_.comm, rank);
  }

 private:
  bool ask() noexcept {
    return held_ == kExclusive ? block_.lock.try_exclusive(true) : block_.lock.try_shared(reader_);
  }

  Window& window_;
  Block& block_;
  const Held held_;
  const LockWord::Reader reader_;
};

Status lock(Window& window, int rank, Held held) {
  Target& target = window.target(rank);
  if (target.is_by_messages()) return lock_remote(window, rank, held);
  if (try_lock(*target.block, target.block->lock.come(), held)) return Status::ok();
  return Waiting(window, *target.block, held).wait(rank);
}

// What was done there is done when the questions are answered. REQUIRES: a full fence before, unless it gives a lock back, which
// releases.
void end_access(Window& window, int rank, Held held, Questions& questions) {
  Target& target = window.target(rank);
  questions.finish(target);  // while the lock is held, and before it is known which way it goes back
  if (held == kUnchecked) {
    questions.flush(rank);
  } else if (target.is_by_messages()) {
    questions.unlock(rank, held);
  } else {
    unlock(window.node, *target.block, held);
    if (rank == window.comm->rank && window.queue.is_used()) window.queue.serve_unlocked();
  }
}

// Gives the shared locks back that this process has of the targets from `first` on.
Status give_back_shared(Window& window, int first) {
  Questions questions(window);
  for (int rank = first; rank < window.comm->size; ++rank) {
    const auto held = static_cast<Held>(window.target(rank).held.exchange(kNothing, std::memory_order_relaxed));
    if (held == kShared) end_access(window, rank, held, questions);
  }
  return questions.wait();
}

// A shared lock of each member, or none. All targets by packets are asked at once for what they can give at once.
Status share_all(Window& window) {
  Questions questions(window);
  for (int rank = 0; window.has_messages && rank < window.comm->size; ++rank) {
    if (window.target(rank).is_by_messages()) questions.share(rank);
  }
  Status status = questions.wait();
  for (int rank = 0; status && rank < window.comm->size; ++rank) {
    Target& target = window.target(rank);
    if (target.held.load(std::memory_order_relaxed) == kShared) continue;
    const bool is_free = !target.is_by_messages() && try_lock(*target.block, target.block->lock.come(), kShared);
    if (!is_free) {
      // Who waits for one has none of a later rank: so two that take locks in the order of ranks never wait for each other.
      status = give_back_shared(window, rank + 1);
      if (status) status = lock(window, rank, kShared);
    }
    if (status) target.held.store(kShared, std::memory_order_relaxed);
  }
  if (!status) (void)give_back_shared(window, 0);  // the first error tells
  return status;
}

// Threads of this process lock different targets at the same time.
void count_lock(Window& window, int n) noexcept {
  if (window.comm->vci->threaded()) {
    window.locks.fetch_add(n, std::memory_order_relaxed);
  } else {
    window.locks.store(window.locks.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
}

Status out_of_turn(const char* what, int rank) { return error(MPI_ERR_RMA_SYNC, "%s (rank %d)", what, rank); }

Status check_passive(Window& window, int rank) {
  return is_locked(window, window.target(rank)) ? Status::ok() : no_lock(rank);
}

}  // namespace

void wake_sleepers(wire::NodeMemory& node, Block& block) noexcept {
  block.sleepers.wake(node.regions(), [&](std::uint32_t region) { node.ring(region); });
}

void unlock(wire::NodeMemory& node, Block& block, Held held) noexcept {
  held == kExclusive ? block.lock.unlock_exclusive() : block.lock.unlock_shared();
  wake_sleepers(node, block);
}

}  // namespace heddle::rma

namespace heddle::api {

using namespace rma;

Status win_lock(int lock_type, int rank, int assertion, mpi::Win& win) {
  if (rank == MPI_PROC_NULL) return Status::ok();
  Window& window = as_window(win);
  Target& target = window.target(rank);
  if (window.is_started)
    return out_of_turn("MPI_Win_lock while MPI_Win_start is open; call MPI_Win_complete first", rank);
  if (is_locked(window, target)) return out_of_turn("MPI_Win_lock of a target that is locked already", rank);
  HEDDLE_TRY(leave_fence(window));
  const bool is_checked = (assertion & MPI_MODE_NOCHECK) == 0;
  const Held held = !is_checked ? kUnchecked : lock_type == MPI_LOCK_EXCLUSIVE ? kExclusive : kShared;
  if (is_checked) {
    HEDDLE_TRY(lock(window, rank, held));
  } else if (!target.is_by_messages() && target.block->lock.is_against(lock_type == MPI_LOCK_EXCLUSIVE)) {
    return error(MPI_ERR_RMA_CONFLICT,
                 "MPI_Win_lock with MPI_MODE_NOCHECK of rank %d, which another process has locked", rank);
  }
  target.held.store(held, std::memory_order_relaxed);
  count_lock(window, 1);
  if (!is_checked) full_fence();  // else the lock acquires
  return Status::ok();
}

Status win_unlock(int rank, mpi::Win& win) {
  if (rank == MPI_PROC_NULL) return Status::ok();
  Window& window = as_window(win);
  Target& target = window.target(rank);
  const auto held = static_cast<Held>(target.held.load(std::memory_order_relaxed));
  if (held == kNothing || held == kStarted || window.all.load(std::memory_order_relaxed)) {
    return out_of_turn("MPI_Win_unlock of a target that MPI_Win_lock has not locked", rank);
  }
  target.held.store(kNothing, std::memory_order_relaxed);
  count_lock(window, -1);
  if (held == kUnchecked) full_fence();
  Questions questions(window);
  end_access(window, rank, held, questions);
  return questions.wait();
}

Status win_lock_all(int assertion, mpi::Win& win) {
  Window& window = as_window(win);
  if (window.is_started)
    return error(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all while MPI_Win_start is open; call MPI_Win_complete first");
  if (window.all.load() || window.locks.load() != 0) {
    return error(MPI_ERR_RMA_SYNC, "MPI_Win_lock_all while this process holds a lock of the window; unlock first");
  }
  HEDDLE_TRY(leave_fence(window));
  if ((assertion & MPI_MODE_NOCHECK) == 0) {
    HEDDLE_TRY(share_all(window));
  } else {
    for (int rank = 0; rank < window.comm->size; ++rank) {
      window.target(rank).held.store(kUnchecked, std::memory_order_relaxed);
    }
  }
  window.all.store(true, std::memory_order_relaxed);
  full_fence();
  return Status::ok();
}

Status win_unlock_all(mpi::Win& win) {
  Window& window = as_window(win);
  if (!window.all.load()) return error(MPI_ERR_RMA_SYNC, "MPI_Win_unlock_all without MPI_Win_lock_all");
  window.all.store(false);
  full_fence();
  Questions questions(window);
  // All at once, where an unlock would wait for what has other tags than its own.
  const bool is_asked_first = window.comm->spread != nullptr || window.has_backlogs || window.has_remotes;
  for (int rank = 0; is_asked_first && rank < window.comm->size; ++rank) questions.flush(rank);
  if (is_asked_first) questions.wait().ignore();  // its error is that of the last wait, too
  for (int rank = 0; rank < window.comm->size; ++rank) {
    const auto held = static_cast<Held>(window.target(rank).held.exchange(kNothing, std::memory_order_relaxed));
    end_access(window, rank, held, questions);
  }
  return questions.wait();
}

Status win_flush(int rank, mpi::Win& win) {
  if (rank == MPI_PROC_NULL) return Status::ok();
  Window& window = as_window(win);
  HEDDLE_TRY(check_passive(window, rank));
  full_fence();
  return flush(window, rank);
}

Status win_flush_all(mpi::Win& win) {
  Window& window = as_window(win);
  if (!window.all.load(std::memory_order_relaxed) && window.locks.load(std::memory_order_relaxed) == 0) {
    return error(MPI_ERR_RMA_SYNC, "a flush while nothing is locked; call MPI_Win_lock or MPI_Win_lock_all first");
  }
  full_fence();
  return flush_all(window);
}

// What goes by packets was copied; only what comes is waited for, and that is what a flush does.
Status win_flush_local(int rank, mpi::Win& win) { return win_flush(rank, win); }
Status win_flush_local_all(mpi::Win& win) { return win_flush_all(win); }

}  // namespace heddle::api
