// A job: its ranks from the first start to the last end, and the code that mpiexec ends with.
//
// Problem: when one rank fails the others wait for it forever, so somebody must see it, say it once, and end them
//          all; while orderly ends, the user's own signals and programs that know nothing of MPI must not look like
//          failures.
// Method:  one thread, one event loop: children, signals, PMI sockets, output, a terminal. What ends a job:
//            - MPI_Abort, with its code
//            - a rank that a signal ended: 128 + signal
//            - a rank that ended with a code other than 0 (after MPI_Finalize that is only reported: the others are
//              leaving, too)
//            - a rank that ended with 0 between MPI_Init and MPI_Finalize: code 1
//            - a rank that ended and that others wait for in a barrier or in MPI_Init: code 1
//            - a PMI line that makes no sense: code 1
//          Then every rank gets SIGTERM, and SIGKILL 0.4 s later. SIGINT, SIGTERM, SIGHUP and SIGQUIT sent to mpiexec
//          are passed on; ranks that handle one may take their time and end with any code. The second such signal
//          kills. SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT are passed on and mean nothing else.
// Threads: one.
#pragma once

#include <sys/resource.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "binding.hpp"
#include "event_loop.hpp"
#include "guard.hpp"
#include "input.hpp"
#include "options.hpp"
#include "output.hpp"
#include "pmi_server.hpp"
#include "signals.hpp"
#include "spawn.hpp"

namespace heddle::launcher {

class Job final : private PmiServer::Listener {
 public:
  explicit Job(const Options& options);

  // Runs the job to its end. The exit code of mpiexec.
  int run();

 private:
  struct Rank {
    pid_t pid = -1;
    bool running = false, aborted = false;
    std::unique_ptr<Stream> out, err;
  };

  // Before anything is started; an error leaves nothing behind.
  Status prepare(int& code);
  void make_segment();
  Status find_executables(int& code);
  Status raise_descriptor_limit();
  Status start_all(int& code);
  Status start_program(std::size_t index, int& first_rank, int& code);
  Status start_rank(int rank, int appnum, Launch& launch, class Environment& environment);
  void serve_until_all_ended();
  int leave();

  void on_signal(int signal);
  void on_user_signal(int signal);
  void on_child_ended();
  void judge(int rank, int wait_status);
  void judge_code(int rank, int code);

  // The first reason counts and is said; later calls do nothing.
  void end_job(int code, const std::string& reason);
  void signal_all(int signal);
  void kill_all();
  std::string describe(int rank) const;

  void pmi_abort(int rank, int code) override;
  void pmi_violation(int rank, const std::string& what) override;
  void pmi_stuck(int waiting, int gone) override;

  const Options& options_;
  const int size_;
  EventLoop loop_;
  Signals signals_;
  Outputs outputs_;
  Input input_;
  Guard guard_;
  PmiServer pmi_;
  Fd segment_;                      // the memory that the ranks will share, until all have inherited it
  std::vector<std::string> paths_;  // by program
  std::vector<CpuSet> cpus_;        // by rank
  std::vector<Rank> ranks_;
  std::map<pid_t, int> rank_of_pid_;
  rlimit descriptors_{};  // as the user had them
  std::string host_;
  int running_ = 0;
  int code_ = 0;
  bool ending_ = false;
  int user_signal_ = 0, user_signals_ = 0;  // the newest, and how many
};

}  // namespace heddle::launcher
