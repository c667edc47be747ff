#include "node.hpp"

#include <signal.h>
#include <unistd.h>

#include <fstream>

namespace heddle::launcher {

namespace {

bool is_stopped(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != text.npos && text.compare(name_end, 3, ") T") == 0;
}

}  // namespace

Node::Node(const NodeHome& home, const NodeSpec& spec)
    : home_(home),
      spec_(spec),
      input_(home.loop, [this] { home_.upstream.wants_input(); }),
      pmi_(home.loop, *this, spec) {}

bool Node::reaped(pid_t pid, int wait_status) {
  if (pid == guard_.group()) guard_.reaped();
  const auto found = rank_of_pid_.find(pid);
  if (found == rank_of_pid_.end()) return false;
  const std::size_t local = found->second;
  rank_of_pid_.erase(found);
  Rank& r = ranks_[local];
  r.running = false;
  const int number = spec_.ranks[local].number;
  if (number == 0) input_.stop();
  // Its last words come before the verdict.
  r.out->read_available();
  r.err->read_available();
  pmi_.read_last(local);
  home_.upstream.ended({number, wait_status, pmi_.has_started(local), pmi_.has_finished(local)});
  return true;
}

// A rank that comes late is no reason for anything; one that is stopped does not come. A debugger's stop is another state.
void Node::look_for_stopped() {
  constexpr auto kPeriod = std::chrono::seconds(1);
  const auto now = Clock::now();
  const bool stood_still = now - looked_ > 2 * kPeriod;  // this process was stopped as well
  looked_ = now;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    Rank& r = ranks_[i];
    const pid_t pid = r.running ? pmi_.under_way(i) : 0;
    if (suspended_ || stood_still || pid == 0 || !is_stopped(pid)) {
      r.stopped_for = 0;
    } else if (++r.stopped_for > spec_.detection_seconds) {
      home_.upstream.stopped(spec_.ranks[i].number, pid);
    }
  }
  home_.loop.at(now + kPeriod, [this] { look_for_stopped(); });
}

void Node::signal(int number) {
  if (number == SIGTSTP) suspended_ = true;
  if (number == SIGCONT) suspended_ = false;
  guard_.signal_group(number);
  for (const Rank& r : ranks_) {
    if (r.running && getpgid(r.pid) != guard_.group()) kill(r.pid, number);
  }
}

void Node::lose(int rank, const std::string& why) {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (spec_.ranks[i].number == rank && ranks_[i].running) kill(ranks_[i].pid, SIGKILL);
  }
  pmi_.lose(rank, why);
}

void Node::follow_outlets() {
  for (Rank& r : ranks_) {
    if (r.out) r.out->follow_outlet();
    if (r.err) r.err->follow_outlet();
  }
}

// What the ranks have printed is all there now: a pipe has what was written to it, whoever may still hold its other
// end.
void Node::leave(bool kill) {
  input_.stop();
  if (input_.left() > 0) home_.upstream.left_input(input_.left());
  for (Rank& r : ranks_) {
    if (r.out) r.out->close_after_reading();
    if (r.err) r.err->close_after_reading();
  }
  if (kill) {
    guard_.kill_group();
  } else {
    guard_.dismiss();
  }
}

void Node::pmi_put(const std::string& key, const std::string& value) { home_.upstream.put(home_.index, key, value); }
void Node::pmi_get(const std::string& key) { home_.upstream.get(home_.index, key); }
void Node::pmi_one_waits(int rank) { home_.upstream.one_waits(home_.index, rank); }
void Node::pmi_all_wait(const Witness& witness) { home_.upstream.all_wait(home_.index, witness); }
void Node::pmi_violation(int rank, const std::string& what) { home_.upstream.violated(rank, what); }

void Node::pmi_abort(int rank, int code) {
  for (std::size_t local = 0; local < ranks_.size(); ++local) {
    if (spec_.ranks[local].number != rank) continue;
    ranks_[local].out->read_available();
    ranks_[local].err->read_available();
  }
  home_.upstream.aborted(rank, code);
}

}  // namespace heddle::launcher
