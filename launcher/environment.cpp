#include "environment.hpp"

#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace heddle::launcher {
namespace {

bool left_by_a_launcher(std::string_view entry) {
  return entry.starts_with("PMI_") || entry.starts_with("PMI2_") || entry.starts_with("PMIX_");
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
  set("HEDDLE_LAUNCHER_PID", std::to_string(getpid()));
  for (const char* name : {"PMI_RANK", "HEDDLE_LOCAL_RANK", "MPI_LOCALRANKID", "PMI_FD"}) set(name, "");
  of_rank_begin_ = entries_.size() - 4;
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
