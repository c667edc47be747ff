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

Environment::Environment(const Options& options, const Program& program, int size, int node_cores) {
  for (char** e = environ; *e != nullptr; ++e) {
    if (!left_by_a_launcher(*e)) entries_.emplace_back(*e);
  }
  for (const auto& [name, value] : options.variables) set(name, value);
  for (const auto& [name, value] : program.variables) set(name, value);
  const std::string all = std::to_string(size);
  set("PMI_SIZE", all);
  set("HEDDLE_LOCAL_SIZE", all);
  set("MPI_LOCALNRANKS", all);
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

const std::vector<std::string>& Environment::of_rank(int rank, int pmi_fd) {
  const std::string number = std::to_string(rank);
  entries_[of_rank_begin_] = "PMI_RANK=" + number;
  entries_[of_rank_begin_ + 1] = "HEDDLE_LOCAL_RANK=" + number;
  entries_[of_rank_begin_ + 2] = "MPI_LOCALRANKID=" + number;
  entries_[of_rank_begin_ + 3] = "PMI_FD=" + std::to_string(pmi_fd);
  return entries_;
}

}  // namespace heddle::launcher
