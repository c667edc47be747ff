// A job: its ranks from the first start to the last end, and the code that mpiexec ends with.
//
// Problem: when one rank fails the others wait for it forever, so somebody must see it, say it once, and end them
//          all; while orderly ends, the user's own signals and programs that know nothing of MPI must not look like
//          failures.
// Method:  one thread, one event loop: children, signals, output, and the nodes with their ranks: one in this process,
//          or one behind a remote shell for each entry of the host list (node_link.hpp). What ends a job:
//            - MPI_Abort, with its code
//            - a rank that a signal ended: 128 + signal
//            - a rank that ended with a code other than 0 (after MPI_Finalize that is only reported: the others are
//              leaving, too)
//            - a rank that ended with 0 between MPI_Init and MPI_Finalize: code 1
//            - a rank that ended and that others wait for in a barrier or in MPI_Init: code 1
//            - a PMI line that makes no sense: code 1
//            - a node that is silent, or whose connection closes: code 1
//            - a rank that another one cannot reach (wire/): code 1
//            - a rank that is stopped for the detection time while others wait for it in MPI_Init or a barrier: code 1
//          But a rank that ends too early, or is lost with its node, does not end a job in which another rank handles
//          errors itself (MPI_Comm_set_errhandler): then all others are told, and the job goes on to its end, with that
//          code.
//          Otherwise every rank gets SIGTERM, and SIGKILL 0.4 s later. SIGINT, SIGTERM, SIGHUP and SIGQUIT sent to mpiexec
//          are passed on; ranks that handle one may take their time and end with any code. The second such signal
//          kills. SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on and mean nothing else.
// Threads: one.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "event_loop.hpp"
#include "guard.hpp"
#include "input.hpp"
#include "node_link.hpp"
#include "node_spec.hpp"
#include "options.hpp"
#include "output.hpp"
#include "pmi_space.hpp"
#include "remote_node.hpp"
#include "signals.hpp"

namespace heddle::launcher {

class Job final : private Upstream {
 public:
  explicit Job(const Options& options);

  // Runs the job to its end. The exit code of mpiexec.
  int run();

 private:
  struct Rank {
    int node = 0;
    pid_t pid = -1;
    bool running = true, aborted = false;
    bool survives = false, lost = false;
    bool started = false, finished = false;  // MPI_Init, MPI_Finalize; known once it has ended
    boot::Phase phase = boot::Phase::kUntold;
  };
  struct Node {
    std::string host;
    std::unique_ptr<NodeLink> link;
    bool ready = false;
  };

  Status open();
  Status describe_job();
  Status make_nodes();
  void put_network();
  void make_local_node();
  Status make_remote_nodes();
  bool prepare_all();
  void serve_until_all_ended();
  void wait_for_last_words();
  int leave();
  int refuse();

  void on_signal(int signal);
  void on_user_signal(int signal);
  void on_child_ended();
  void judge(const RankEnd& end);
  void judge_code(int rank, int code);
  // The rank ended too early.
  void fall(int rank, int code, const std::string& what);
  // A rank other than these handles errors itself; -1: none.
  template <class Excluded>
  int find_survivor(Excluded&& excluded) const;
  void lose(int rank, const std::string& why);
  // Says what has happened, for which the job is to end with `code`, but not yet.
  void go_on(int code, const std::string& what, int survivor);
  void judge_missing(int rank, int other, const std::string& why);
  void check_company();

  // The first reason counts and is said; later calls do nothing.
  void end_job(int code, const std::string& reason);
  void signal_all(int signal);
  void kill_all() { signal_all(SIGKILL); }
  std::string describe(int rank) const;
  // Where a rank waits for all others, as far as it says.
  const char* barrier_of(int rank) const;
  // What the ranks of the node do, as far as they say.
  const char* doing(int node) const;
  NodeLink& link(int node) { return *nodes_[static_cast<std::size_t>(node)].link; }

  void ready(int node) override;
  void failed(int node, int code, const std::string& what) override;
  void started(int rank, pid_t pid) override;
  void ended(const RankEnd& end) override;
  void lost(int node, const std::string& who, const std::string& why) override;
  void put(int node, const std::string& key, const std::string& value) override;
  void get(int node, const std::string& key) override;
  void one_waits(int node, int rank) override;
  void all_wait(int node, const Witness& witness) override;
  void aborted(int rank, int code) override;
  void violated(int rank, const std::string& what) override;
  void phase(int rank, boot::Phase phase) override { ranks_[rank].phase = phase; }
  void survives(int rank) override { ranks_[rank].survives = true; }
  void misses(int rank, int other, const std::string& why) override;
  void stopped(int rank, pid_t pid) override;
  void wants_input() override;
  void left_input(std::size_t bytes) override;

  const Options& options_;
  EventLoop loop_;
  Signals signals_;
  Outputs outputs_;
  InputSource input_;
  NodeSpec spec_;                       // with all ranks of the job
  Guard shells_;                        // over the remote shells
  std::unique_ptr<RemoteHome> remote_;  // what remote nodes share
  PmiSpace pmi_;
  std::vector<Rank> ranks_;
  std::vector<Node> nodes_;
  std::set<std::pair<int, int>> missing_;        // ranks: the first cannot reach the second
  std::set<std::pair<int, int>> missing_nodes_;  // and their nodes
  std::set<int> cut_off_;                        // nodes that were found to be so
  int running_ = 0;
  int code_ = 0;
  bool prepared_ = false;  // ranks start
  bool ending_ = false;
  bool refused_ = false;                    // a node cannot start its ranks: code_ says why
  int user_signal_ = 0, user_signals_ = 0;  // the newest, and how many
};

}  // namespace heddle::launcher
