// The ranks of one node: their start, their output and input, PMI, and their end.
//
// Method:  what a NodeLink is told is done at once, what happens to the ranks goes to the Upstream; all judgement is
//          there. The same class serves a job on one node, in mpiexec itself, and each host of a job over several, in
//          the process that the remote shell has started.
// Threads: one.
#pragma once

#include <sys/resource.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "binding.hpp"
#include "environment.hpp"
#include "event_loop.hpp"
#include "guard.hpp"
#include "input.hpp"
#include "node_link.hpp"
#include "node_spec.hpp"
#include "output.hpp"
#include "pmi_server.hpp"
#include "signals.hpp"
#include "spawn.hpp"

namespace heddle::launcher {

// Where a Node lives.
struct NodeHome {
  int index = 0;  // among the nodes of the job
  EventLoop& loop;
  const Signals& signals;
  Upstream& upstream;
  Outlet &out, &err;
  bool own_input = true;                  // rank 0 gets this process's descriptor 0; else what input() brings
  std::chrono::seconds guard_patience{};  // see Guard
};

class Node final : public NodeLink, private PmiServer::Listener {
 public:
  // REQUIRES: `spec` outlives it.
  Node(const NodeHome& home, const NodeSpec& spec);

  void prepare() override;
  void start() override;
  void signal(int number) override;
  void answer(const std::string& key, const std::string* value) override { pmi_.answer_get(key, value); }
  void release() override { pmi_.leave_barrier(); }
  void lose(int rank, const std::string& why) override;
  void input(std::string_view bytes) override { input_.give(bytes); }
  void follow_outlets() override;
  void leave(bool kill) override;
  bool is_closed() const override { return true; }
  bool reaped(pid_t pid, int wait_status) override;

  Guard& guard() noexcept { return guard_; }

 private:
  struct Rank {
    pid_t pid = -1;
    bool running = false;
    int stopped_for = 0;  // looks in a row, a second apart
    std::unique_ptr<Stream> out, err;
  };

  // Before anything is started; an error leaves nothing behind.
  Status try_prepare(int& code);
  Status enter_directory();
  void make_segment();
  Status find_executables(int& code);
  Status raise_descriptor_limit();
  Status try_start(int& code);
  Status start_rank(std::size_t local, Launch& launch, Environment& environment);
  Launch launch_of(const Program& program, const char* path) const;

  void look_for_stopped();

  void pmi_put(const std::string& key, const std::string& value) override;
  void pmi_get(const std::string& key) override;
  void pmi_one_waits(int rank) override;
  void pmi_all_wait(const Witness& witness) override;
  void pmi_abort(int rank, int code) override;
  void pmi_violation(int rank, const std::string& what) override;
  void pmi_phase(int rank, boot::Phase phase) override { home_.upstream.phase(rank, phase); }
  void pmi_survives(int rank) override { home_.upstream.survives(rank); }
  void pmi_misses(int rank, int other, const std::string& why) override { home_.upstream.misses(rank, other, why); }

  const NodeHome home_;
  const NodeSpec& spec_;
  Guard guard_;
  Fd null_;
  InputPipe input_;
  PmiServer pmi_;
  Fd segment_;                      // the memory that the ranks will share, until all have inherited it
  std::vector<std::string> paths_;  // by program; empty: it has no ranks here
  std::vector<CpuSet> cpus_;        // by local rank, as all below
  std::vector<Rank> ranks_;
  std::map<pid_t, std::size_t> rank_of_pid_;
  bool suspended_ = false;      // by the user, with the whole job
  Clock::time_point looked_{};  // for those that are stopped
  rlimit descriptors_{};        // as the user had them
};

}  // namespace heddle::launcher
