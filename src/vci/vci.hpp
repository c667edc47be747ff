// A virtual communication interface: one stream of messages that shares nothing with the others.
//
// Problem: threads that communicate independently must not meet in the library (the VCI paper).
// Method:  each VCI has its own receive lock, matching, portal table, lanes, rings and pool of requests, on cache lines
//          of its own. A communicator has one VCI, or is spread over several where its hints allow that
//          (mpi/spread.hpp).
// Threads: progress() takes the lock only if it is free. Handlers run under it. What they call must never take the lock
//          of another VCI.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>

#include "base/doorbell.hpp"
#include "base/lock.hpp"
#include "portals/arriving.hpp"
#include "portals/match_list.hpp"
#include "portals/table.hpp"
#include "vci/counts.hpp"
#include "vci/lane.hpp"
#include "vci/pool.hpp"
#include "vci/sources.hpp"
#include "vci/task.hpp"

namespace heddle::vci {

class Domain;

class alignas(kWithout == Without::kAlignment ? kApart : 2 * kApart) Vci {
 public:
  Vci(Domain& domain, std::uint32_t index, const match::Choice& engine, bool threaded) noexcept;

  std::uint32_t index() const noexcept { return index_; }
  Domain& domain() const noexcept { return domain_; }

  Lock& lock() noexcept LOCK_RETURNED(lock_) { return lock_; }
  portals::MatchList& matching() noexcept REQUIRES(lock_) { return matching_; }
  Sources& sources() noexcept REQUIRES(lock_) { return sources_; }
  portals::Arriving& arriving() noexcept REQUIRES(lock_) { return arriving_; }
  portals::PortalTable& table() noexcept { return table_; }  // fill before traffic to the portal starts
  Pool& pool() noexcept REQUIRES(lock_) { return pool_; }
  // A request of this VCI, and its end, for callers that do not hold the lock. Constructor and destructor run outside it.
  template <class T, class... Args>
  T* make(Args&&... args) noexcept {
    lock_.lock();
    void* block = pool_.take<T>();
    lock_.unlock();
    return block == nullptr ? nullptr : new (block) T(std::forward<Args>(args)...);
  }
  template <class T>
  void destroy(T* request) noexcept {
    request->~T();
    LockGuard guard(lock_);
    pool_.give_back(request);
  }

  // The lane to VCI `remote_vci` of `peer`, made when first asked for. Any thread.
  Status lane_to(wire::ProcessId peer, std::uint32_t remote_vci, Lane** lane);

  // Domain::lose(), of this VCI.
  void lose(wire::ProcessId process) noexcept;

  // Pushes what waits for room and handles what has arrived, unless another thread is at it. Returns how much moved.
  unsigned progress() noexcept {
    bool contended = false;
    return progress_before_sleep(&contended);
  }
  // The same for a caller that is about to sleep: `*contended` is set when another thread kept it from looking.
  unsigned progress_before_sleep(bool* contended) noexcept {
    unsigned moved = has_busy_lanes() ? push_lanes(contended) : 0;
    if (!lock_.try_lock()) {
      *contended = true;
      contended_polls_.fetch_add(1, std::memory_order_relaxed);
      return moved;
    }
    moved += poll();
    unlock_and_wake();
    return moved;
  }
  // Handles what has arrived.
  unsigned poll() noexcept REQUIRES(lock_) {
    const unsigned count = poll_alone();
    return kWithout == Without::kOwnProgress ? count + poll_others() : count;
  }
  unsigned poll_alone() noexcept REQUIRES(lock_);
  // Gives the lock back, and then wakes whoever waits if something has completed: once for all that was completed under it.
  void unlock_and_wake() noexcept RELEASE(lock_) {
    const bool wake = completed_;
    completed_ = false;
    lock_.unlock();
    if (wake) wake_waiters();
  }
  // A receive is complete, or a message has come, for which another thread may be waiting.
  void note_completed() noexcept REQUIRES(lock_) { completed_ = true; }
  bool has_busy_lanes() const noexcept { return busy_lanes_.load(std::memory_order_relaxed) != 0; }

  void count_received() noexcept REQUIRES(lock_) { ++received_; }
  void count_unexpected() noexcept REQUIRES(lock_) { ++unexpected_; }
  void count_written_partitions(std::uint64_t partitions, std::uint64_t bytes) noexcept REQUIRES(lock_) {
    written_partitions_ += partitions;
    written_partition_bytes_ += bytes;
  }
  void count_foreign_poll() noexcept { foreign_polls_.fetch_add(1, std::memory_order_relaxed); }
  // Of this moment. Any thread, also below MPI_THREAD_MULTIPLE; then what is counted meanwhile may be missing, and for another
  // thread than MPI's (`home` is false) what engines of a detour count (match/detour.hpp).
  Counts counts(bool home = true) noexcept;

  // Memory is exposed by it for long (wire.hpp), or is no more. Any thread.
  void expose(bool begins) noexcept { exposures_.fetch_add(begins ? 1 : -1, std::memory_order_relaxed); }
  bool exposes() const noexcept { return exposures_.load(std::memory_order_relaxed) != 0; }

  bool threaded() const noexcept { return bell_ != nullptr; }
  // Wakes the threads of this process that sleep in a wait: something of theirs may be complete.
  void wake_waiters() noexcept {
    if (bell_ != nullptr) bell_->ring();
  }

  // For work of this VCI that has time: it is stepped in rounds that moved nothing, in every eighth of the others, and
  // kMaxPullAfter times before a sleep. Otherwise as Domain::add_task().
  void add_idle_task(Task& task) noexcept {
    idle_tasks_.add(task);
    wake_waiters();
  }
  TaskList& idle_tasks() noexcept { return idle_tasks_; }

  // For Lane.
  void count_busy_lane(bool now) noexcept { busy_lanes_.fetch_add(now ? 1 : -1, std::memory_order_relaxed); }

 private:
  unsigned poll_others() noexcept REQUIRES(lock_);
  [[gnu::noinline]] unsigned poll_networks() noexcept REQUIRES(lock_);
  unsigned push_lanes(bool* contended) noexcept;

  static constexpr unsigned kLastPolls = 64;  // of kPollLimit packets each: more than a ring of shared memory holds
  static constexpr auto kLastAnswers = std::chrono::seconds(1);  // of a network, when a peer is lost
  static constexpr unsigned kPollLimit = 32;                     // packets of one ring before the next gets its turn

  Domain& domain_;
  const std::uint32_t index_;
  Doorbell* const bell_;  // null when one thread uses the process: nobody can be asleep then
  Lock lock_;
  bool completed_ GUARDED_BY(lock_) = false;
  std::uint64_t received_ GUARDED_BY(lock_) = 0;
  std::uint64_t unexpected_ GUARDED_BY(lock_) = 0;
  std::uint64_t written_partitions_ GUARDED_BY(lock_) = 0;
  std::uint64_t written_partition_bytes_ GUARDED_BY(lock_) = 0;
  Sources sources_ GUARDED_BY(lock_);
  portals::Arriving arriving_ GUARDED_BY(lock_);
  portals::MatchList matching_ GUARDED_BY(lock_);
  portals::PortalTable table_;

  Pool pool_ GUARDED_BY(lock_);

  alignas(kApart) std::atomic<std::int32_t> busy_lanes_{0};
  TaskList idle_tasks_;
  std::atomic<int> exposures_{0};
  Lock lanes_lock_;
  std::deque<Lane> lanes_ GUARDED_BY(lanes_lock_);

  // On a line of its own: the threads that are kept out write here, and must not slow the one that is in.
  alignas(kApart) std::atomic<std::uint64_t> contended_polls_{0};
  std::atomic<std::uint64_t> foreign_polls_{0};
};

}  // namespace heddle::vci
