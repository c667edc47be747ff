// Accesses to memory that only the kernel reaches, short ones, those of many short rows, and updates: written down for the target, and
// done by whoever comes first.
//
// Problem: a call of the kernel takes 1.7 us, and 0.34 for each row, and a target that waits in MPI would do the same access in a tenth
//          of that; but one that computes must keep nobody waiting.
// Method:  an origin writes its short accesses into a ring in shared memory, and asks the target by a packet to look there, at the
//          latest when it flushes. A target that makes progress does what stands in the ring. The origin waits for that as long as
//          a call of the kernel takes; then it takes the ring back and does the rest itself, many puts or gets in one call.
//          Whoever is at it holds `busy`, which the target only tries to take: so nothing is done twice, what stands in the ring is
//          done in its order, and no access depends on a target that calls MPI. Both do an element by the same code, under the
//          same locks (memory.hpp).
//          A target that has not answered the last packet is not waited for: it is elsewhere. The more often one was waited
//          for in vain, the less often it is. Nor is one that sleeps, but it is woken now and then; nor any where ranks outnumber cores;
//          unless the kernel would take long enough for two to change places.
// Where the kernel refuses: the packet and a question behind it go the way of messages (active.hpp).
//          A thread that finds another one at it writes its puts and gets, which have no order, into a backlog beside this one; a
//          flush looks at all that hold something.
//
// Threads: of the origin any, one at a time under `lock_` of one of a target's backlogs; at the target a handler, under the lock of the VCI.
// Order:   backlog_ring.hpp.
// Cost:    32 KiB for each target that such accesses went to, and for each thread that came while another was at it;
//          a put of 8 bytes and its flush 0.65 us, docs/decisions/windows.md.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/lock.hpp"
#include "base/status.hpp"
#include "rma/backlog_ring.hpp"
#include "rma/operation.hpp"
#include "rma/window.hpp"

namespace heddle::rma {

// What threads of an origin have written down for one target, one thread at a time.
class Backlog {
 public:
  static constexpr int kMostBeside = 15;  // as many threads again
  // Bytes of an entry, and of an access in a row: above, the kernel copies sooner than two memcpy do.
  static constexpr std::size_t kMost = 4096;
  static constexpr MPI_Count kShortRow = 1024;  // bytes, on average, of one with gaps, however long it is

  Backlog(Window& window, int rank, std::uint64_t offset) noexcept;
  // REQUIRES: nothing is open, and let_go() was called.
  ~Backlog();
  Backlog(const Backlog&) = delete;
  Backlog& operator=(const Backlog&) = delete;

  // Short, or of short rows.
  static bool is_short(const Operation& operation) noexcept {
    const mpi::Datatype& type = *operation.target_type;
    return operation.bytes_left() <= kMost ||
           (!type.contiguous && type.size <= kShortRow * mpi::count_runs(type.layout.node));
  }
  // The target has not been waited for in vain of late: it may do a long update, which the kernel reads and writes, sooner than that.
  bool may_be_there() noexcept;
  // Writes it down, here or in one beside this. False: it is a long update, and the target was waited for in vain; operation.done says
  // how much is written down. REQUIRES: the target's way is kKernel, or was.
  bool add(Operation& operation) { return lock_one(operation).add_and_unlock(operation); }
  // One that is awaited at once: its own error, while those of earlier ones stay for who finishes. *all: what add() says.
  Status finish_one(Operation& operation, bool* all) {
    return lock_one(operation).finish_one_and_unlock(operation, all);
  }
  // The next one, of which a thread has made use that found the ones before taken; null: none.
  Backlog* beside() const noexcept { return beside_.load(std::memory_order_acquire); }
  // Updates are done, which only the first one holds, and what went wrong stays for who finishes.
  void settle_quietly() {
    LockGuard guard(lock_);
    settle_all();
  }
  // Asks the target to begin, where that is of use.
  void hurry() noexcept;
  // All is done that had been written down before the call, and what was fetched is here. The first error.
  Status finish();
  // Returns when the target has seen every packet that names the ring, or is lost.
  void let_go() noexcept;

 private:
  using Ring = BacklogRing;
  struct Stream;
  // Which one is locked, the analysis does not follow.
  Backlog& lock_one(const Operation& operation) NO_THREAD_SAFETY_ANALYSIS;
  bool add_and_unlock(Operation& operation) NO_THREAD_SAFETY_ANALYSIS;
  Status finish_one_and_unlock(Operation& operation, bool* all) NO_THREAD_SAFETY_ANALYSIS;
  bool add_locked(Operation& operation);
  void settle_all();
  Status take_failure(int instead);
  void add_rows(Operation& operation, const Rows& rows, Stream* stream);
  Ring::Entry* take_room(std::size_t bytes);
  bool is_worth_asking() noexcept;
  void ask_for_much() noexcept;
  std::int64_t cost_left() noexcept;
  bool is_asleep() noexcept;
  void wake_now_and_then() noexcept;
  bool is_asked() const noexcept { return !ring_.has_seen(packets_); }
  void ask() noexcept;
  void post() noexcept;
  // Everything before that position is done, and what was fetched is here. The first error stays in failed_.
  void settle(std::uint64_t position);
  void wait_for_target(std::uint64_t position) noexcept;
  Status take_back();
  Status do_all();
  Status do_entries(std::uint64_t* head);
  Status go_by_messages();
  void collect() noexcept;
  void forget_all() noexcept;
  static void take_result(Ring::Entry& entry) noexcept;
  static void drop_bytes(Stream& stream, std::size_t bytes) noexcept;
  void fail(const Status& status) noexcept {
    if (failed_ == MPI_SUCCESS) failed_ = status.error_class();
  }

  Window& window_;
  Target& target_;
  const int rank_;
  const std::uint64_t offset_;
  Ring& ring_;
  Lock lock_;
  std::atomic<Backlog*> beside_{nullptr};
  // Something is not done, or has failed and that was not told; else no flush takes the lock.
  std::atomic<bool> is_open_{false};
  std::uint64_t tail_ = 0, collected_ = 0;
  std::uint16_t packets_ = 0;        // how many have left; they are seen in their order
  std::uint64_t asked_to_ = 0;       // the tail when the target was last asked, or not asked as it was not worth it
  bool gave_up_ = false;             // on that packet
  unsigned asleep_ = 0;              // how often it was found asleep
  unsigned in_vain_ = 0, skip_ = 0;  // after each wait in vain it is not asked so many times, twice as many
  bool fetches_ = false;             // something between collected_ and tail_ has a result
  int failed_ = MPI_SUCCESS;         // the class of the first error since the last finish()
};

// The target's part: the packet of that number has come.
void serve_backlog(Window& window, int origin, std::uint64_t offset, std::uint16_t packet) noexcept;

// Of a target that was accessed so before; else makes it. Null: no memory for it.
Backlog* backlog_of(Window& window, int rank) noexcept;
// The target's, one after another.
template <class F>
void for_each_backlog(Target& target, F f) {
  for (Backlog* backlog = target.backlog.load(std::memory_order_acquire); backlog != nullptr;) {
    Backlog* const next = backlog->beside();
    f(*backlog);
    backlog = next;
  }
}
// What stands in the target's backlogs is done. The first error.
Status finish_backlog(Target& target);
// Before the last barrier of a window; and after it.
void let_go_of_backlogs(Window& window) noexcept;
void drop_backlogs(Window& window) noexcept;

}  // namespace heddle::rma
