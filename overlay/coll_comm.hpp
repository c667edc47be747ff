// What the overlay keeps of a communicator for its planned collectives.
//
// Problem: a planned collective's messages must meet none of the program's; and who never uses one should not pay for a communicator.
// Method:  the first planned collective on a communicator duplicates it, which is collective as it is itself, by MPI_Comm_idup: a
//          nonblocking one's run waits for that, and a blocking one takes steps meanwhile, as others may wait for what is under way
//          here before they come to it. What decides that a call goes by a plan is known to all
//          ranks: the size, the bytes, the operation, and the table that rank 0 read (profile.hpp). Each collective has a
//          tag of its own: by turns in the lower half of the host's tags; a persistent one keeps one of the upper half, as
//          ranks may start theirs in any order.
// Threads: collectives on one communicator are called by one thread at a time, as MPI says. Their runs go on in any thread.
// Cost:    known: two comparisons, for the communicator that a thread asked for last.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

#include "coll_board.hpp"
#include "coll_job.hpp"
#include "plan/cache.hpp"
#include "profile.hpp"

namespace heddle::overlay {

class CollComm : public std::enable_shared_from_this<CollComm> {
 public:
  explicit CollComm(MPI_Comm comm);
  ~CollComm();
  CollComm(const CollComm&) = delete;
  CollComm& operator=(const CollComm&) = delete;

  // Whether such a call goes by a plan. `bytes`: of the vector, or of a rank's block; the same at all ranks.
  bool plans(CollKind kind, Way way, std::uint64_t bytes) const noexcept;
  // Of a blocking one that does.
  bool may_take_memory(CollKind kind, std::uint64_t bytes) const noexcept;
  // For measuring: instead of what the profile says. The same at all ranks.
  void set_table(const SizeTable& table) noexcept { table_ = table; }

  // The communicator of its own. Takes steps while it waits for the other ranks. False: the host refuses one, so that all from
  // this call on are the host's, at all ranks alike.
  bool open();
  // The same, without waiting.
  void begin_to_open();
  bool is_open();  // true from some time after that on
  bool is_opening() const noexcept { return idup_begun_ && !open_.load(std::memory_order_acquire); }
  // Then: the class of the host's refusal, or MPI_SUCCESS. What is nonblocking ends with it.
  int refusal() const noexcept { return refusal_; }

  int next_tag() noexcept { return static_cast<int>(count_++ % half_); }
  // Negative: there is none left.
  int keep_tag() noexcept { return kept_ >= half_ ? -1 : static_cast<int>(half_ + kept_++); }
  // It is in `spare` when the communicator has kept as many plans as it may.
  const plan::Plan& plan(CollKind kind, int root, std::uint64_t bytes, plan::Plan& spare);
  // Null: not all ranks are on this node, or memory is short. REQUIRES: in a blocking collective, after open().
  Board* board();

  const int rank, size;
  bool is_on_one_node() const noexcept { return on_one_node_; }
  MPI_Comm own() const noexcept { return own_; }
  // Whose error handler hears of what happens here: the program's communicator, or MPI_COMM_WORLD once that one is freed.
  MPI_Comm hears() const noexcept { return freed_.load(std::memory_order_acquire) ? MPI_COMM_WORLD : comm_; }
  void is_freed() noexcept { freed_.store(true, std::memory_order_release); }
  // For the blocking ones, of which there is one at a time.
  Job blocking;
  plan::Plan spare_plan;
  // Nonblocking or persistent ones were asked for, at all ranks alike: from then on what the host does here lets them go on.
  bool has_later_ones = false;

 private:
  void opened_by(int rc, bool done);

  std::uint32_t ppn_ = 1;
  bool on_one_node_ = false, board_tried_ = false;
  bool is_hosts_ = false;  // all of it; at all ranks alike
  const MPI_Comm comm_;
  MPI_Comm own_ = MPI_COMM_NULL;
  bool idup_begun_ = false;
  std::mutex opening_;
  MPI_Request idup_ = MPI_REQUEST_NULL;
  int refusal_ = MPI_SUCCESS;  // before `open_`
  std::atomic<bool> open_{false}, freed_{false};
  std::uint32_t half_ = 16384, count_ = 0, kept_ = 0;
  SizeTable table_;
  plan::Cache cache_;
  std::unique_ptr<Board> board_;
};
using CollCommPtr = std::shared_ptr<CollComm>;

// After the host's init. True: some collectives go by plans. Collective over MPI_COMM_WORLD.
bool open_collectives();
void close_collectives();
// Null: the host's own, as on an intercommunicator, or of one process.
CollComm* planned_comm(MPI_Comm comm);
CollCommPtr share(CollComm& comm);
// Before the program frees it: no MPI_Comm_idup is under way any more, which in Open MPI 5.0.11 goes on using its parent.
void end_opening(MPI_Comm comm);

// For the report.
struct CollCounts {
  std::atomic<std::uint64_t> by_messages{0}, by_memory{0};
};
extern CollCounts coll_counts;

}  // namespace heddle::overlay
