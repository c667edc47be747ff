#include "job.hpp"

#include <sys/wait.h>

#include <algorithm>

#include "boot/boot.hpp"
#include "executable.hpp"

namespace heddle::launcher {
namespace {

constexpr auto kTermToKill = std::chrono::milliseconds(400);
constexpr auto kEndIsHeardOf = std::chrono::milliseconds(300);

const char* text_of(boot::Phase phase) {
  switch (phase) {
    case boot::Phase::kInit:
      return "in MPI_Init";
    case boot::Phase::kFinalize:
      return "in MPI_Finalize";
    default:
      return "after it had begun to use MPI";
  }
}

}  // namespace

int Job::run() {
  if (!open()) {
    code_ = kFailed;
    outputs_.say(last_error_detail());
    return refuse();
  }
  if (!prepare_all()) return refuse();
  for (Node& n : nodes_) {
    if (!refused_) n.link->start();
  }
  serve_until_all_ended();
  return refused_ ? refuse() : leave();
}

bool Job::prepare_all() {
  const auto all_ready = [this] {
    for (const Node& n : nodes_) {
      if (!n.ready) return false;
    }
    return true;
  };
  for (Node& n : nodes_) {
    if (!refused_) n.link->prepare();
  }
  while (!refused_ && !all_ready()) {
    if (loop_.run_once()) continue;
    failed(0, kFailed, last_error_detail());
  }
  prepared_ = true;
  return !refused_;
}

void Job::serve_until_all_ended() {
  while (running_ > 0 && !refused_) {
    const Status status = loop_.run_once();
    if (!status) {
      end_job(kFailed, last_error_detail());
      return kill_all();
    }
  }
}

// What some may have started goes with them.
int Job::refuse() {
  kill_all();
  nodes_.clear();
  shells_.kill_group();
  outputs_.err().drain([] { return false; });
  return code_;
}

// A node on another host has some under way.
void Job::wait_for_last_words() {
  const auto closed = [this] {
    for (Node& n : nodes_) {
      if (!n.link->is_closed()) return false;
    }
    return true;
  };
  const auto end = Clock::now() + std::chrono::seconds(spec_.detection_seconds);
  if (!closed()) loop_.at(end, [] {});
  for (const int before = user_signals_; !closed() && Clock::now() < end && user_signals_ == before;) {
    if (!loop_.run_once()) return;
  }
}

int Job::leave() {
  input_.stop();
  for (Node& n : nodes_) n.link->leave(ending_);
  wait_for_last_words();
  shells_.kill_group();
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
      for (Node& n : nodes_) n.link->pause();
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
  if (!prepared_) return failed(0, 128 + signal, "ended by " + signal_text(signal) + " before all hosts were ready");
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
    for (Node& n : nodes_) {
      if (n.link->reaped(pid, wait_status)) break;
    }
  }
}

void Job::judge(const RankEnd& end) {
  if (ranks_[end.rank].aborted || ranks_[end.rank].lost) return;
  if (!WIFSIGNALED(end.wait_status)) return judge_code(end.rank, WEXITSTATUS(end.wait_status));
  const int signal = WTERMSIG(end.wait_status);
  if (signal == user_signal_) return end_job(128 + signal, "the job was ended by " + signal_text(signal));
  const std::string during = !end.started   ? ""
                             : end.finished ? " after MPI_Finalize"
                                            : std::string(" ") + text_of(ranks_[end.rank].phase);
  fall(end.rank, 128 + signal,
       "was ended by " + signal_text(signal) + during + (WCOREDUMP(end.wait_status) ? ", core dumped" : ""));
}

void Job::judge_code(int rank, int code) {
  const Rank& r = ranks_[rank];
  const std::string who = describe(rank);
  if (code != 0) {
    if (!r.finished && user_signal_ == 0) {
      return fall(rank, code, "ended with exit code " + std::to_string(code));
    }
    if (code_ == 0 && !ending_) {
      code_ = code;
      outputs_.say(who + " ended with exit code " + std::to_string(code));
    }
  } else if (r.started && !r.finished) {
    fall(rank, kFailed, "ended without MPI_Finalize (exit code 0)");
  }
}

void Job::fall(int rank, int code, const std::string& what) {
  const std::string sentence = describe(rank) + " " + what;
  const int survivor = find_survivor([rank](int other) { return other == rank; });
  if (survivor < 0 || ending_) return end_job(code, sentence + "; ending the job");
  go_on(code, sentence, survivor);
  if (!ranks_[rank].finished) lose(rank, sentence);
}

void Job::go_on(int code, const std::string& what, int survivor) {
  if (code_ == 0) code_ = code;
  outputs_.say(what + "; the job goes on, as rank " + std::to_string(survivor) + " handles errors itself");
}

template <class Excluded>
int Job::find_survivor(Excluded&& excluded) const {
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    const Rank& r = ranks_[static_cast<std::size_t>(i)];
    if (r.survives && r.running && !r.lost && !excluded(i)) return i;
  }
  return -1;
}

void Job::lose(int rank, const std::string& why) {
  ranks_[rank].lost = true;
  for (Node& n : nodes_) n.link->lose(rank, why);
  const int node = ranks_[rank].node;
  if (std::ranges::any_of(ranks_, [node](const Rank& r) { return r.node == node && !r.lost; })) return;
  if (!pmi_.leave(node)) return;
  for (Node& n : nodes_) n.link->release();
}

void Job::check_company() {
  const auto stuck = pmi_.stuck();
  if (!stuck) return;
  end_job(kFailed, "rank " + std::to_string(stuck->gone) + " has ended" +
                       (ranks_[stuck->gone].started ? "" : " without MPI_Init") + ", and rank " +
                       std::to_string(stuck->waiting) + " waits for it; ending the job");
}

void Job::end_job(int code, const std::string& reason) {
  if (ending_) return;
  ending_ = true;
  if (code_ == 0) code_ = code;
  outputs_.say(reason);
  signal_all(SIGTERM);
  signal_all(SIGCONT);
  loop_.at(Clock::now() + kTermToKill, [this] { kill_all(); });
}

void Job::signal_all(int signal) {
  for (Node& n : nodes_) n.link->signal(signal);
}

std::string Job::describe(int rank) const {
  const Rank& r = ranks_[rank];
  return "rank " + std::to_string(rank) + " (pid " + std::to_string(r.pid) + ") on " +
         nodes_[static_cast<std::size_t>(r.node)].host;
}

void Job::ready(int node) { nodes_[static_cast<std::size_t>(node)].ready = true; }

void Job::failed(int, int code, const std::string& what) {
  if (refused_) return;
  refused_ = true;
  code_ = code;
  outputs_.say(what);
}

void Job::started(int rank, pid_t pid) { ranks_[rank].pid = pid; }

void Job::ended(const RankEnd& end) {
  Rank& r = ranks_[end.rank];
  if (!r.running) return;
  r.running = false;
  --running_;
  r.started = end.started;
  r.finished = end.finished;
  if (end.rank == 0) input_.stop();
  judge(end);
  if (!r.lost) pmi_.gone(end.rank);
  check_company();
}

void Job::lost(int node, const std::string& who, const std::string& why) {
  const auto waiting = pmi_.waiting(node);
  const std::string during = running_ == 0 ? "while it gave out the last output"
                             : waiting ? "while rank " + std::to_string(*waiting) + " waited " + barrier_of(*waiting)
                                       : doing(node);
  const std::string sentence = who + " is lost " + during + ": " + why;
  const int survivor = find_survivor([&](int rank) { return ranks_[rank].node == node; });
  const bool goes_on = survivor >= 0 && !ending_;
  if (goes_on) {
    go_on(kFailed, sentence, survivor);
  } else {
    end_job(kFailed, sentence + "; ending the job");
  }
  for (int i = 0; i < static_cast<int>(ranks_.size()); ++i) {
    Rank& r = ranks_[static_cast<std::size_t>(i)];
    if (r.node != node || !r.running) continue;
    r.running = false;
    --running_;
    if (goes_on) lose(i, sentence);
  }
}

const char* Job::barrier_of(int rank) const {
  const boot::Phase phase = ranks_[rank].phase;
  return phase == boot::Phase::kInit || phase == boot::Phase::kFinalize ? text_of(phase) : "in MPI_Init or a barrier";
}

const char* Job::doing(int node) const {
  std::set<boot::Phase> phases;
  for (const Rank& r : ranks_) {
    if (r.node == node && r.running) phases.insert(r.phase);
  }
  if (phases.contains(boot::Phase::kInit)) return "before all its ranks were through MPI_Init";
  if (phases.contains(boot::Phase::kFinalize)) return "while some of its ranks were in MPI_Finalize";
  return "while its ranks ran";
}

// If the other one has ended, that says more, and comes by itself; so does that its host is silent.
void Job::misses(int rank, int other, const std::string& why) {
  if (!missing_.emplace(rank, other).second) return;
  missing_nodes_.emplace(ranks_[rank].node, ranks_[other].node);
  loop_.at(Clock::now() + kEndIsHeardOf, [this, rank, other, why] { judge_missing(rank, other, why); });
}

void Job::judge_missing(int rank, int other, const std::string& why) {
  for (int r : {rank, other}) {
    if (ending_ || ranks_[r].lost || !ranks_[r].running) return;
  }
  if (link(ranks_[rank].node).is_doubtful() || link(ranks_[other].node).is_doubtful()) {
    loop_.at(Clock::now() + kEndIsHeardOf, [this, rank, other, why] { judge_missing(rank, other, why); });
    return;
  }
  const std::string sentence = describe(rank) + " cannot reach " + describe(other) + ": " + why;
  // A host that misses more hosts than miss it is the one that is cut off; else the rank that more ranks miss. What was judged so
  // once stays: of two hosts that accuse each other no part of each must be ended.
  const int node = ranks_[rank].node, other_node = ranks_[other].node;
  const auto missed_by = [this](int r) { return std::ranges::count(missing_, r, &std::pair<int, int>::second); };
  const auto misses_itself = std::ranges::count(missing_nodes_, node, &std::pair<int, int>::first);
  const auto is_missed = std::ranges::count(missing_nodes_, other_node, &std::pair<int, int>::second);
  const bool itself = cut_off_.contains(node) != cut_off_.contains(other_node) ? cut_off_.contains(node)
                      : misses_itself != is_missed                             ? misses_itself > is_missed
                                                                               : missed_by(rank) > missed_by(other);
  const int gone = itself ? rank : other;
  if (node != other_node) cut_off_.insert(ranks_[gone].node);
  const int survivor = find_survivor([gone](int r) { return r == gone; });
  if (survivor < 0) return end_job(kFailed, sentence + "; ending the job");
  go_on(kFailed, sentence + "; rank " + std::to_string(gone) + " is ended", survivor);
  lose(gone, sentence);
}

void Job::stopped(int rank, pid_t pid) {
  if (ending_ || ranks_[rank].lost || !ranks_[rank].running) return;
  for (std::size_t node = 0; node < nodes_.size(); ++node) {
    const auto waiting = pmi_.waiting(static_cast<int>(node));
    if (!waiting) continue;
    return fall(rank, kFailed,
                "has been stopped (process " + std::to_string(pid) + ", by SIGSTOP or a terminal) for " +
                    std::to_string(spec_.detection_seconds) + " s (HEDDLE_DETECTION_TIME), and rank " +
                    std::to_string(*waiting) + " waits for it " + barrier_of(*waiting));
  }
}

void Job::put(int, const std::string& key, const std::string& value) {
  if (nodes_.size() > 1) pmi_.put(key, value);  // the only node knows already
}

void Job::get(int node, const std::string& key) { link(node).answer(key, pmi_.find(key)); }

void Job::one_waits(int node, int rank) {
  pmi_.one_waits(node, rank);
  check_company();
}

void Job::all_wait(int node, const Witness& witness) {
  std::optional<int> other;
  const bool over = pmi_.all_wait(node, witness, other);
  if (other) {
    return violated(witness.rank, "it and rank " + std::to_string(*other) +
                                      " are not in the same program: ranks that run several have to run the same ones");
  }
  if (!over) return check_company();
  for (Node& n : nodes_) n.link->release();
}

void Job::aborted(int rank, int code) {
  ranks_[rank].aborted = true;
  end_job(code, describe(rank) + " aborted the job with code " + std::to_string(code));
}

void Job::violated(int rank, const std::string& what) {
  end_job(kFailed, describe(rank) + " broke the PMI protocol: " + what + "; ending the job");
}

void Job::wants_input() {
  input_.read_next([this](std::string_view bytes) { link(ranks_[0].node).input(bytes); });
}

void Job::left_input(std::size_t bytes) { input_.give_back(bytes); }

}  // namespace heddle::launcher
