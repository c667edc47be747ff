// One MPI process: what the first MPI_Init or MPI_Session_init makes, and what lives until the program ends.
//
// Problem: tests need several "processes" in one program, as threads under the race detector; so nothing below the
//          bindings may be global.
// Method:  a Process owns the domain (peers, wires, VCIs), the context table and the predefined communicators, which come
//          with the world model. The one global is `mpi::process()`, for the bindings.
// Threads: immutable between start() and finish(), except the context table, which has its own lock, and the
//          communicators, which come later.
#pragma once

#include <array>
#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "mpi/bsend_account.hpp"
#include "mpi/comm.hpp"
#include "mpi/context.hpp"

namespace heddle::boot {
class Boot;
enum class Phase;
}  // namespace heddle::boot
namespace heddle::match {
class HotCache;
}
namespace heddle::vci {
class Domain;
class ProgressThread;
}  // namespace heddle::vci

namespace heddle::mpi {

class Process {
 public:
  Process();
  ~Process();

  // Joins the job behind `boot`, maps the node's shared memory, opens the VCIs. Local where mpiexec has brought the
  // memory, otherwise collective over the job. `threads`: MPI_THREAD_*; below MULTIPLE the locks are elided.
  Status start(std::unique_ptr<boot::Boot> boot, int threads);
  // The second half of start(), for tests that bring wires of their own; boot must be set.
  Status start_on(std::unique_ptr<vci::Domain> domain);
  void set_boot(std::unique_ptr<boot::Boot> boot) noexcept;
  // Makes the predefined communicators, which stay from then on. Local.
  // `threads`: MPI_THREAD_*, what was asked for.
  Status open_world(int threads);
  int world_threads() const noexcept { return world_threads_; }
  // Somebody here communicates from now on; nobody does for a while. The peers may be at work all the time; what they send
  // meanwhile must not keep them waiting (wire/segment.hpp, `departed`).
  Status open();
  void leave() noexcept;
  // Takes all down and leaves the job. Local: no communication of this process may be pending.
  Status finish();

  ProcessId id() const noexcept;
  Comm* world() const noexcept { return world_; }
  Comm* self() const noexcept { return self_; }
  // The library's own, which nobody has a handle of: of this process alone, for requests that belong to no communicator
  // of the program, and of all processes, for those that have none in common yet. The second is made when it is first
  // asked for; null when memory ran out.
  Comm* own() const noexcept { return own_; }
  Comm* everyone();
  vci::Domain& domain() noexcept { return *domain_; }
  boot::Boot& boot() noexcept { return *boot_; }
  // Where each process of the job is; nothing: there are no nodes to tell apart.
  std::span<const int> node_of_process() const noexcept;
  // The program handles errors itself: from now on the loss of another process is not the end of the job, where the
  // launcher can do that.
  void survive() noexcept;
  // Whether every process has come through MPI_Init's meeting, and none can have left MPI_Finalize's: none has ended in order.
  void set_all_stay(bool stay) noexcept { all_stay_.store(stay); }
  // How far the program is, for what is said when something dies.
  void tell(boot::Phase phase) noexcept;
  // `process` cannot be reached any more. Where that is to be survived, the launcher ends it and tells everyone; else this
  // ends the job.
  void report_loss(ProcessId process, const char* why) noexcept;
  // boot().fence(), for a moment when others may use the process.
  Status fence(const std::function<void()>& meanwhile = {});
  bool has_fabric() const noexcept;
  ContextTable& contexts() noexcept { return contexts_; }
  BsendAccount& bsend_account() noexcept { return bsend_account_; }
  // Of standard sends whose receivers have no room for them (HEDDLE_HELD_BYTES).
  BsendAccount& kept_sends() noexcept { return kept_sends_; }
  int threads() const noexcept { return threads_; }
  // HEDDLE_BOARD_AFTER; Comm::kNever: no boards.
  int board_after() const noexcept { return board_after_; }
  // HEDDLE_CHECK_COLLECTIVES; there are no boards then.
  bool checks_collectives() const noexcept { return checks_collectives_; }
  // HEDDLE_PLANS
  const plan::Forced& forced_plans() const noexcept { return forced_plans_; }
  // HEDDLE_REPRODUCIBLE, where a communicator's info does not say otherwise.
  bool is_reproducible() const noexcept { return is_reproducible_; }
  // HEDDLE_VERIFY_PLANS
  bool verifies_plans() const noexcept { return verifies_plans_; }
  // HEDDLE_PLANS_AT_CREATION, where a communicator's info does not ask for it.
  bool plans_at_creation() const noexcept { return plans_at_creation_; }
  // What messages between nodes cost; null: it was not measured.
  plan::Measurements* measurements() noexcept { return measurements_ ? &*measurements_ : nullptr; }

  // A communicator over `group` (its reference moves in) in which this process listens at `mine` and rank i at
  // addresses[i]; with a remote group (whose reference moves in, too) an intercommunicator, and rank i is of that. Local.
  // Null when memory ran out.
  Comm* new_comm(Group* group, Address mine, const Address* addresses, Group* remote_group = nullptr);
  // Address for a communicator about to be made: a fresh context and the next VCI of the pool (the fallback when it is
  // empty); with assertions and several threads, all VCIs of the process.
  Status reserve_address(std::uint16_t asserted, Address* out);
  // Lets an address go that was reserved, or the one of a communicator that is being destroyed.
  void release_address(const Address& address);

 private:
  void close();
  void set_away(bool away) noexcept;
  void read_network();
  Comm* comm_of_all(std::uint32_t context);
  void hear_of_losses() noexcept;

  std::unique_ptr<boot::Boot> boot_;
  std::recursive_mutex boot_mutex_;
  std::atomic<bool> survives_{false};
  std::atomic<int> told_{0};  // boot::Phase
  std::atomic<bool> all_stay_{false};
  std::unique_ptr<match::HotCache> hot_cache_;  // null: HEDDLE_HOT_CACHING is 0
  std::unique_ptr<vci::Domain> domain_;
  std::unique_ptr<vci::ProgressThread> progress_thread_;  // null: HEDDLE_PROGRESS_THREAD is off
  ContextTable contexts_;
  BsendAccount bsend_account_, kept_sends_;
  Comm* world_ = nullptr;
  Comm* self_ = nullptr;
  Comm* own_ = nullptr;
  std::atomic<const char*> waits_in_{nullptr};  // the call in which a thread last looked for losses
  std::mutex mutex_;                            // guards:
  Comm* everyone_ = nullptr;
  std::vector<ProcessId> reported_;
  int threads_ = MPI_THREAD_SINGLE;
  int board_after_ = Comm::kNever;
  bool checks_collectives_ = false;
  plan::Forced forced_plans_;
  bool is_reproducible_ = false;
  bool plans_at_creation_ = false;
  bool verifies_plans_ = false;
  std::optional<plan::Measurements> measurements_;
  int world_threads_ = MPI_THREAD_SINGLE;
};

// The process behind the C bindings; null before the first init, and from there on there to the end of the program.
extern constinit std::atomic<Process*> the_process;
inline Process* process() noexcept { return the_process.load(std::memory_order_acquire); }
void set_process(Process*) noexcept;
// Makes the predefined handles name what is open now; nothing for null.
void publish_world(const Process*) noexcept;

// Its MPI_COMM_WORLD and MPI_COMM_SELF, by the constants' order; null while no world is open.
extern constinit std::array<std::atomic<Comm*>, 2> predefined_comms;

}  // namespace heddle::mpi
