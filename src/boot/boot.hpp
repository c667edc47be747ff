// Who are my peers: what a process learns from whatever started it.
//
// Problem: a process must know its rank, how many there are, who shares its node, and hand its peers an address or
//          two before any other way to talk exists. Launchers differ (Heddle's mpiexec, Hydra, Slurm, none at all).
// Method:  one interface, a small key-value space with a fence: what was put before a fence can be got after it, by
//          everyone. pmi1 and pmi2 speak over PMI_FD, pmix through a PMIx library, singleton is a program that nobody
//          launched, in_process serves the threads of a test. connect() picks from the environment.
// Threads: one at a time, except abort(), tell(), survive() and report_loss(), which any thread may call at any time. The
//          `meanwhile` of a fence may get().
// Cost:    a put or get is one round trip to the launcher (about 20 us on one node), a fence one per process. Put
//          little. docs/decisions/boot.md has what the protocols cost.
//
// What the launcher says about the node stands in the environment (launch_facts.hpp), because PMI-1 has no words for
// it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "boot/launch_facts.hpp"
#include "boot/loss_line.hpp"

namespace heddle::boot {

inline constexpr int kMaxRanks = 1 << 20;

// What does not change between connect and finalize.
struct Job {
  int rank = 0;
  int size = 1;
  std::string name = "singleton";  // the same on every rank, different for another job on the same node
  int appnum = 0;                  // which of the programs between the `:` of mpiexec
  int universe_size = -1;          // -1: the launcher does not say
  std::vector<int> node_of_rank = {0};
  LaunchFacts facts;
};

class Boot {
 public:
  using Meanwhile = std::function<void()>;

  virtual ~Boot();
  Boot(const Boot&) = delete;
  Boot& operator=(const Boot&) = delete;

  int rank() const noexcept { return job_.rank; }
  int size() const noexcept { return job_.size; }
  std::string_view job() const noexcept { return job_.name; }
  int appnum() const noexcept { return job_.appnum; }
  int universe_size() const noexcept { return job_.universe_size; }

  // Nodes are numbered from 0 without gaps, the same way on every rank.
  std::span<const int> node_of_rank() const noexcept { return job_.node_of_rank; }
  // The ranks on this node, ascending; this process is local_ranks()[local_rank()].
  std::span<const int> local_ranks() const noexcept { return local_ranks_; }
  int local_rank() const noexcept { return local_rank_; }
  int local_size() const noexcept { return static_cast<int>(local_ranks_.size()); }
  // Processors that the job may use on this node, all its ranks together; spin only while local_size() is not above it.
  int node_cores() const noexcept { return job_.facts.node_cores; }
  // The process to name in PR_SET_PTRACER so that ranks of this node may read each other; 0 when unknown.
  int launcher_pid() const noexcept { return job_.facts.launcher_pid; }
  // A memfd that all ranks of this node have inherited, empty until one of them needs it, so that none has to wait for
  // the others; the caller's from now on. -1: there is none.
  int take_segment_fd() noexcept { return std::exchange(job_.facts.segment_fd, -1); }

  // Keys and values are printable and have no spaces; a key may be put once in the life of a job.
  // Values beyond max_value() bytes are refused.
  virtual std::size_t max_value() const noexcept = 0;
  virtual Status put(std::string_view key, std::string_view value) = 0;
  // What `rank` has put. MPI_ERR_NAME when it has not: it need not be fenced where the launcher shows a value earlier.
  // REQUIRES: 0 <= rank < size().
  virtual Status get(int rank, std::string_view key, std::string& value) = 0;
  // Collective over the job. Waits for the others for as long as they take, and calls `meanwhile` every millisecond or
  // so; an error when the launcher is gone.
  virtual Status fence(const Meanwhile& meanwhile = {}) = 0;

  // How far this rank is, for what the launcher says when something dies, where it wants to know. Never waits.
  virtual void tell(Phase) noexcept {}
  // Where the launcher lets a job outlive one of its ranks (Heddle's mpiexec does): this rank asks for that.
  virtual void survive() noexcept {}
  // True: a rank is lost, and `why` says how. Never waits; each is told once.
  virtual bool next_loss(int*, std::string*) { return false; }
  // Tells the launcher that `rank` cannot be reached, who ends it, and the job too unless some rank survives. False: this
  // launcher does not listen. Any thread.
  virtual bool report_loss(int, std::string_view) noexcept { return false; }

  // What started this process has gone, and the job with it: nobody will say what becomes of the others. Not so
  // between goodbye and rejoin(). Never waits.
  virtual bool launcher_is_gone() noexcept { return false; }

  // Writes `message` to stderr and ends the whole job with `code`.
  [[noreturn]] virtual void abort(int code, std::string_view message) noexcept = 0;
  // Says goodbye: from here on the end of this process does not end the job. Only rejoin() may be called after it, where
  // can_rejoin().
  virtual Status finalize() = 0;
  virtual bool can_rejoin() const noexcept { return false; }
  virtual Status rejoin() { return Status::ok(); }

 protected:
  // REQUIRES: job.node_of_rank has job.size entries.
  explicit Boot(Job job);

  bool said_goodbye_ = false;  // the launcher may end before this process

 private:
  Job job_;
  std::vector<int> local_ranks_;
  int local_rank_ = 0;
};

// Joins the job that the environment describes. Null, and an error in `status`, when the environment names a launcher
// that does not answer as it should. Takes PMI_FD and PMIx's rank out of the environment, so that programs started by
// this process don't take them for theirs.
std::unique_ptr<Boot> connect(Status& status);

// The refusals that put() shares between implementations.
Status check_key_value(std::string_view key, std::string_view value, std::size_t max_key, std::size_t max_value);

// `message` and a newline to stderr, in one piece where that has room for it; nothing for an empty message. Where stderr does not
// block, it waits for its reader for some seconds.
void write_message(std::string_view message) noexcept;
// The same, and waits a moment until whoever reads the pipe has taken it: for what comes before a launcher is asked to end the job,
// which hands on nothing of what it has not read.
void write_last_message(std::string_view message) noexcept;
// What a shell makes of an exit code: its low byte. A multiple of 256 becomes 1, since no failure may look like
// success.
int visible_exit_code(int code) noexcept;

}  // namespace heddle::boot
