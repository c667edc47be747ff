// The first half of a Job: who it is and which nodes it has.
#include <limits.h>
#include <sys/random.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <random>

#include "job.hpp"
#include "mpi.h"
#include "node.hpp"

namespace heddle::launcher {
namespace {

// Unique among the jobs of its hosts, also among those whose mpiexec had the same pid.
std::string job_name() {
  char text[64];
  std::snprintf(text, sizeof text, "heddle-%d-%08x", getpid(), std::random_device{}());
  return text;
}

Status make_secret(std::string& secret) {
  unsigned char bytes[32];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes) {
    return error(MPI_ERR_OTHER, "the system has no random numbers: %s", std::strerror(errno));
  }
  for (const unsigned char b : bytes) {
    constexpr const char* kDigits = "0123456789abcdef";
    secret += {kDigits[b >> 4], kDigits[b & 15]};
  }
  return Status::ok();
}

std::string host_name() {
  char name[HOST_NAME_MAX + 1] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "this host";
}

}  // namespace

Job::Job(const Options& options)
    : options_(options),
      outputs_(loop_, options.tag_output),
      input_(loop_),
      pmi_(1),
      ranks_(static_cast<std::size_t>(options.ranks())),
      running_(options.ranks()) {}

Status Job::open() {
  for (const std::string& note : options_.notes) outputs_.say(note);
  HEDDLE_TRY(loop_.open());
  HEDDLE_TRY(signals_.open(loop_, [this](int signal) { on_signal(signal); }));
  HEDDLE_TRY(make_nodes());
  const auto follow = [this] {
    for (Node& n : nodes_) n.link->follow_outlets();
  };
  outputs_.out().on_room(follow);
  if (&outputs_.out() != &outputs_.err()) outputs_.err().on_room(follow);
  return Status::ok();
}

Status Job::make_nodes() {
  NodeSpec spec;
  spec.job = job_name();
  HEDDLE_TRY(make_secret(spec.secret));
  spec.size = options_.ranks();
  spec.mapping = "(vector,(0,1," + std::to_string(spec.size) + "))";
  spec.programs = options_.programs;
  spec.variables = options_.variables;
  spec.binding = options_.binding;
  int number = 0;
  for (std::size_t p = 0; p < options_.programs.size(); ++p) {
    for (int i = 0; i < options_.programs[p].ranks; ++i) spec.ranks.push_back({number++, static_cast<int>(p)});
  }
  Node& node = nodes_.emplace_back();
  node.host = host_name();
  node.spec = std::move(spec);
  const NodeHome home{0, loop_, signals_, *this, outputs_.out(), outputs_.err(), !InputSource::is_terminal()};
  node.link = std::make_unique<launcher::Node>(home, node.spec);
  return Status::ok();
}

}  // namespace heddle::launcher
