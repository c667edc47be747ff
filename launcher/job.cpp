#include "job.hpp"

#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <random>

#include "boot/boot.hpp"
#include "executable.hpp"

namespace heddle::launcher {
namespace {

constexpr auto kTermToKill = std::chrono::milliseconds(400);

// Unique among the jobs of this node, also among those whose mpiexec had the same pid.
std::string job_name() {
  char text[64];
  std::snprintf(text, sizeof text, "heddle-%d-%08x", getpid(), std::random_device{}());
  return text;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

}  // namespace

Job::Job(const Options& options)
    : options_(options),
      size_(options.ranks()),
      outputs_(loop_, options.tag_output),
      input_(loop_),
      pmi_(loop_, *this, job_name(), options.ranks()),
      host_(host_name()) {}

int Job::run() {
  int code = kFailed;
  if (!prepare(code) || !start_all(code)) {
    guard_.kill_group();
    outputs_.say(last_error_detail());
    outputs_.err().drain([] { return false; });
    return code;
  }
  serve_until_all_ended();
  return leave();
}

void Job::serve_until_all_ended() {
  while (running_ > 0) {
    const Status status = loop_.run_once();
    if (!status) {
      end_job(kFailed, last_error_detail());
      return kill_all();
    }
  }
}

// What the ranks have printed is all there now: a pipe has what was written to it, whoever may still hold its other
// end.
int Job::leave() {
  input_.stop();
  for (Rank& r : ranks_) {
    r.out->close_after_reading();
    r.err->close_after_reading();
  }
  if (ending_) {
    guard_.kill_group();
  } else {
    guard_.dismiss();
  }
  // While the reader of the output sleeps, a signal must still end mpiexec.
  const auto interrupted = [this, before = user_signals_] {
    loop_.at(Clock::now(), [] {});
    return !loop_.run_once() || user_signals_ != before;
  };
  outputs_.out().drain(interrupted);
  outputs_.err().drain(interrupted);
  if (code_ == 0 && (outputs_.out().has_lost() || outputs_.err().has_lost())) return kFailed;
  return boot::visible_exit_code(code_);
}

void Job::on_signal(int signal) {
  switch (signal) {
    case SIGCHLD:
      return on_child_ended();
    case SIGTSTP:
      signal_all(SIGTSTP);
      raise(SIGSTOP);
      return;
    case SIGUSR1:
    case SIGUSR2:
    case SIGCONT:
      return signal_all(signal);
    default:
      return on_user_signal(signal);
  }
}

void Job::on_user_signal(int signal) {
  const bool again = ++user_signals_ > 1;
  user_signal_ = signal;
  if (!again && !ending_) {
    signal_all(signal);
    return signal_all(SIGCONT);  // a stopped rank would not notice
  }
  end_job(128 + signal, "killing the job: " + signal_text(signal) + (again ? " once more" : ""));
  kill_all();
}

void Job::on_child_ended() {
  int wait_status = 0;
  pid_t pid;
  while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
    if (pid == guard_.group()) guard_.reaped();
    const auto found = rank_of_pid_.find(pid);
    if (found == rank_of_pid_.end()) continue;
    const int rank = found->second;
    rank_of_pid_.erase(found);
    Rank& r = ranks_[rank];
    r.running = false;
    --running_;
    if (rank == 0) input_.stop();
    // Its last words come before the verdict.
    r.out->read_available();
    r.err->read_available();
    pmi_.read_available(rank);
    judge(rank, wait_status);
    pmi_.departed(rank);
  }
}

void Job::judge(int rank, int wait_status) {
  if (ranks_[rank].aborted) return;
  if (!WIFSIGNALED(wait_status)) return judge_code(rank, WEXITSTATUS(wait_status));
  const int signal = WTERMSIG(wait_status);
  if (signal == user_signal_) {
    end_job(128 + signal, "the job was ended by " + signal_text(signal));
  } else {
    end_job(128 + signal, describe(rank) + " was ended by " + signal_text(signal) +
                              (WCOREDUMP(wait_status) ? ", core dumped" : "") + "; ending the job");
  }
}

void Job::judge_code(int rank, int code) {
  const std::string who = describe(rank);
  if (code != 0) {
    if (!pmi_.has_finished(rank) && user_signal_ == 0) {
      return end_job(code, who + " ended with exit code " + std::to_string(code) + "; ending the job");
    }
    if (code_ == 0 && !ending_) {
      code_ = code;
      outputs_.say(who + " ended with exit code " + std::to_string(code));
    }
  } else if (pmi_.has_started(rank) && !pmi_.has_finished(rank)) {
    end_job(kFailed, who + " ended without MPI_Finalize (exit code 0); ending the job");
  }
}

void Job::end_job(int code, const std::string& reason) {
  if (ending_) return;
  ending_ = true;
  code_ = code;
  outputs_.say(reason);
  signal_all(SIGTERM);
  signal_all(SIGCONT);
  loop_.at(Clock::now() + kTermToKill, [this] { kill_all(); });
}

void Job::signal_all(int signal) {
  guard_.signal_group(signal);
  for (const Rank& r : ranks_) {
    if (r.running && getpgid(r.pid) != guard_.group()) kill(r.pid, signal);
  }
}

void Job::kill_all() { signal_all(SIGKILL); }

std::string Job::describe(int rank) const {
  return "rank " + std::to_string(rank) + " (pid " + std::to_string(ranks_[rank].pid) + ") on " + host_;
}

void Job::pmi_abort(int rank, int code) {
  Rank& r = ranks_[rank];
  r.aborted = true;
  r.out->read_available();
  r.err->read_available();
  end_job(code, describe(rank) + " aborted the job with code " + std::to_string(code));
}

void Job::pmi_violation(int rank, const std::string& what) {
  end_job(kFailed, describe(rank) + " broke the PMI protocol: " + what + "; ending the job");
}

void Job::pmi_stuck(int waiting, int gone) {
  end_job(kFailed, "rank " + std::to_string(gone) + " has ended" + (pmi_.has_started(gone) ? "" : " without MPI_Init") +
                       ", and rank " + std::to_string(waiting) + " waits for it; ending the job");
}

}  // namespace heddle::launcher
