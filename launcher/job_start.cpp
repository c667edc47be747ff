// The first half of a Job: who it is and which nodes it has.
#include <limits.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string_view>

#include "base/profile.hpp"
#include "boot/environment.hpp"
#include "boot/secret.hpp"
#include "environment.hpp"
#include "job.hpp"
#include "mpi.h"
#include "node.hpp"

namespace heddle::launcher {
namespace {

constexpr std::string_view kNetwork = "HEDDLE_NETWORK", kProfile = "profile";

// Unique among the jobs of its hosts, also among those whose mpiexec had the same pid.
std::string job_name() {
  char text[64];
  std::snprintf(text, sizeof text, "heddle-%d-%08x", getpid(), std::random_device{}());
  return text;
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

Status own_program(std::string& path) {
  char target[PATH_MAX];
  const ssize_t n = readlink("/proc/self/exe", target, sizeof target);
  if (n <= 0 || n == sizeof target) {
    return error(MPI_ERR_OTHER, "cannot find mpiexec's own path; say --remote-mpiexec PATH");
  }
  path.assign(target, static_cast<std::size_t>(n));
  return Status::ok();
}

Status current_directory(std::string& path) {
  char name[PATH_MAX];
  if (getcwd(name, sizeof name) == nullptr) {
    return error(MPI_ERR_OTHER, "the directory in which mpiexec runs has no name: %s", std::strerror(errno));
  }
  path = name;
  return Status::ok();
}

// Three descriptors per remote shell, and what is open only while one is started.
Status raise_descriptor_limit(std::size_t nodes) {
  const rlim_t needed = 3 * nodes + 32;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  if (limit.rlim_cur >= needed) return Status::ok();
  if (limit.rlim_max < needed) {
    return error(MPI_ERR_OTHER,
                 "%zu hosts need %llu open files in mpiexec, and the limit is %llu; raise it (ulimit -Hn)", nodes,
                 static_cast<unsigned long long>(needed), static_cast<unsigned long long>(limit.rlim_max));
  }
  limit.rlim_cur = needed;
  setrlimit(RLIMIT_NOFILE, &limit);
  return Status::ok();
}

// HEDDLE_NETWORK as a program gets it: the last that is set.
std::string value_of(const Variables& variables, std::string value) {
  for (const auto& [name, set] : variables) {
    if (name == kNetwork) value = set;
  }
  return value;
}

// As the profile of this host has it; those of the ranks' hosts may differ.
std::string network_of_profile(std::string* why) {
  const char* named = std::getenv("HEDDLE_PROFILE");
  Profile profile;
  if (!load_profile(named != nullptr ? named : "", &profile, why)) *why = last_error_detail();
  if (!why->empty()) return "off";
  if (profile.network.find("between.") != std::string::npos) return profile.network;
  *why = "HEDDLE_NETWORK=profile: nothing was measured between hosts";
  if (const std::string path = profile_path(); !path.empty()) *why += " in " + path;
  *why += "; run 'heddle tune --hosts'";
  return "off";
}

}  // namespace

Job::Job(const Options& options)
    : options_(options),
      outputs_(loop_, options.tag_output),
      input_(loop_),
      ranks_(static_cast<std::size_t>(options.ranks())),
      running_(options.ranks()) {}

Status Job::open() {
  for (const std::string& note : options_.notes) outputs_.say(note);
  HEDDLE_TRY(loop_.open());
  HEDDLE_TRY(signals_.open(loop_, [this](int signal) { on_signal(signal); }));
  HEDDLE_TRY(describe_job());
  HEDDLE_TRY(make_nodes());
  const auto follow = [this] {
    for (Node& n : nodes_) n.link->follow_outlets();
  };
  outputs_.out().on_room(follow);
  if (&outputs_.out() != &outputs_.err()) outputs_.err().on_room(follow);
  return Status::ok();
}

Status Job::describe_job() {
  spec_.job = job_name();
  HEDDLE_TRY(boot::make_secret(spec_.secret));
  spec_.size = options_.ranks();
  HEDDLE_TRY(boot::read_detection_time(spec_.detection_seconds));
  spec_.mapping = "(vector,(0,1," + std::to_string(spec_.size) + "))";
  spec_.programs = options_.programs;
  spec_.variables = options_.variables;
  spec_.binding = options_.binding;
  int number = 0;
  for (std::size_t p = 0; p < options_.programs.size(); ++p) {
    for (int i = 0; i < options_.programs[p].ranks; ++i) spec_.ranks.push_back({number++, static_cast<int>(p)});
  }
  return Status::ok();
}

Status Job::make_nodes() {
  if (options_.hosts.empty()) {
    make_local_node();
  } else {
    HEDDLE_TRY(make_remote_nodes());
  }
  pmi_.set_nodes(nodes_.size());
  return Status::ok();
}

// The ranks of a collective would wait for each other if they knew different networks.
void Job::put_network() {
  const std::string common = value_of(spec_.variables, "");
  const std::string chosen = value_of(spec_.programs.front().variables, common);
  std::string why, network = "off";
  if (!std::ranges::all_of(spec_.programs, [&](const Program& p) { return value_of(p.variables, common) == chosen; })) {
    why = "HEDDLE_NETWORK is not the same for all programs of this job; it is not used";
  } else if (chosen == kProfile) {
    network = network_of_profile(&why);
  } else {
    return;
  }
  if (!why.empty()) outputs_.say(why);
  for (Program& p : spec_.programs) p.variables.emplace_back(kNetwork, network);
}

void Job::make_local_node() {
  const NodeHome home{0, loop_, signals_, *this, outputs_.out(), outputs_.err(), !InputSource::is_terminal()};
  nodes_.push_back({host_name(), std::make_unique<launcher::Node>(home, spec_)});
}

Status Job::make_remote_nodes() {
  const Placement& placement = options_.placement;
  std::vector<std::vector<NodeSpec::Rank>> ranks(static_cast<std::size_t>(placement.nodes));
  for (const NodeSpec::Rank& r : spec_.ranks) {
    const int node = placement.node_of_rank[static_cast<std::size_t>(r.number)];
    ranks_[static_cast<std::size_t>(r.number)].node = node;
    ranks[static_cast<std::size_t>(node)].push_back(r);
  }
  spec_.mapping = placement.mapping;
  spec_.variables = own_variables();
  spec_.variables.insert(spec_.variables.end(), options_.variables.begin(), options_.variables.end());
  put_network();
  spec_.out_is_terminal = outputs_.out().is_terminal();
  spec_.err_is_terminal = outputs_.err().is_terminal();
  HEDDLE_TRY(current_directory(spec_.directory));
  std::string program = options_.remote_mpiexec, shell = options_.remote_shell;
  if (program.empty()) HEDDLE_TRY(own_program(program));
  if (shell.empty()) shell = default_remote_shell(spec_.detection_seconds);
  HEDDLE_TRY(raise_descriptor_limit(ranks.size()));
  HEDDLE_TRY(shells_.start());
  remote_ = std::make_unique<RemoteHome>(
      RemoteHome{loop_, signals_, *this, outputs_, spec_, std::move(shell), std::move(program), shells_.group()});
  for (std::size_t n = 0; n < ranks.size(); ++n) {
    const std::string& host = options_.hosts[n].name;
    nodes_.push_back({host, std::make_unique<RemoteNode>(static_cast<int>(n), host, std::move(ranks[n]), *remote_)});
  }
  return Status::ok();
}

}  // namespace heddle::launcher
