#include "environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace heddle::launcher {
namespace {

bool left_by_a_launcher(std::string_view entry) {
  return entry.starts_with("PMI_") || entry.starts_with("PMI2_") || entry.starts_with("PMIX_");
}

// Ranks that outnumber the cores give way to each other all the time, and at each switch the kernel updates what glibc has
// registered for restartable sequences: a tenth of a ring's time (docs/decisions/waiting.md). glibc uses them for
// sched_getcpu() alone; a library that needs them registers its own then. What the user says of them holds.
std::string without_restartable_sequences(std::string tunables) {
  if (tunables.find("glibc.pthread.rseq=") == tunables.npos) {
    tunables += tunables.empty() ? "glibc.pthread.rseq=0" : ":glibc.pthread.rseq=0";
  }
  return tunables;
}

}  // namespace

Environment::Environment(const NodeSpec& spec, const Program& program, int node_cores) {
  for (char** e = environ; *e != nullptr; ++e) {
    if (!left_by_a_launcher(*e)) entries_.emplace_back(*e);
  }
  for (const auto& [name, value] : spec.variables) set(name, value);
  for (const auto& [name, value] : program.variables) set(name, value);
  set("PMI_SIZE", std::to_string(spec.size));
  const std::string here = std::to_string(spec.ranks.size());
  set("HEDDLE_LOCAL_SIZE", here);
  set("MPI_LOCALNRANKS", here);
  set("HEDDLE_NODE_CORES", std::to_string(node_cores));
  if (spec.ranks.size() > static_cast<std::size_t>(std::max(node_cores, 1))) {
    set("GLIBC_TUNABLES", without_restartable_sequences(value_of("GLIBC_TUNABLES")));
  }
  set("HEDDLE_LAUNCHER_PID", std::to_string(getpid()));
  for (const char* name : {"PMI_RANK", "HEDDLE_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_FD"}) set(name, "");
  of_rank_begin_ = entries_.size() - 4;
}

std::string Environment::value_of(const std::string& name) const {
  const std::string start = name + "=";
  const auto found = std::ranges::find_if(entries_, [&](const std::string& e) { return e.starts_with(start); });
  return found == entries_.end() ? std::string() : found->substr(start.size());
}

void Environment::set(const std::string& name, const std::string& value) {
  const std::string start = name + "=";
  std::erase_if(entries_, [&](const std::string& e) { return e.starts_with(start); });
  entries_.push_back(start + value);
}

const std::vector<std::string>& Environment::of_rank(int rank, int local, int pmi_fd) {
  const std::string number = std::to_string(local);
  entries_[of_rank_begin_] = "PMI_RANK=" + std::to_string(rank);
  entries_[of_rank_begin_ + 1] = "HEDDLE_LOCAL_RANK=" + number;
  entries_[of_rank_begin_ + 2] = "MPI_LOCALRANKID=" + number;
  entries_[of_rank_begin_ + 3] = "PMI_FD=" + std::to_string(pmi_fd);
  return entries_;
}

Variables own_variables() {
  Variables own;
  for (char** e = environ; *e != nullptr; ++e) {
    const std::string_view entry = *e;
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const bool of_one_process = entry.starts_with("HEDDLE_JOINED=");
    if (entry.starts_with("HEDDLE_") && !of_one_process && equals < entry.size()) {
      own.emplace_back(entry.substr(0, equals), entry.substr(equals + 1));
    }
  }
  return own;
}

}  // namespace heddle::launcher
