#include "boot/pmix.hpp"

#include <limits.h>
#include <unistd.h>

#include <unordered_map>

#include "mpi.h"

namespace heddle::boot {
namespace {

using Look = PmixSession::Look;

constexpr std::size_t kMaxKey = 511, kMaxValue = 16384;  // PMIx has no limit to values
constexpr const char *kJobSize = "pmix.job.size", *kUniverseSize = "pmix.univ.size", *kLocalSize = "pmix.local.size",
                     *kNode = "pmix.nodeid", *kHost = "pmix.hname", *kProgram = "pmix.appnum";

Status read_number(PmixSession& session, int rank, const char* name, long low, long high, int& value) {
  PmixSession::Value found;
  const Status status = session.get(rank, name, Look::kHere, found);
  if (status.error_class() == MPI_ERR_NAME) return error(MPI_ERR_OTHER, "the launcher does not say %s", name);
  HEDDLE_TRY(status);
  if (found.number < low || found.number > high) {
    return error(MPI_ERR_OTHER, "the launcher says that %s is %ld, not a number between %ld and %ld", name,
                 found.number, low, high);
  }
  value = static_cast<int>(found.number);
  return Status::ok();
}

// The node of one rank, as a word.
Status read_node(PmixSession& session, int rank, std::string& node) {
  PmixSession::Value found;
  Status status = session.get(rank, kNode, Look::kHere, found);
  if (status.error_class() == MPI_ERR_NAME) status = session.get(rank, kHost, Look::kHere, found);
  if (status.error_class() == MPI_ERR_NAME) {
    return error(MPI_ERR_OTHER, "the launcher does not say where rank %d runs (%s, %s)", rank, kNode, kHost);
  }
  node = found.text.empty() ? std::to_string(found.number) : found.text;
  return status;
}

Status learn_nodes(PmixSession& session, Job& job) {
  job.node_of_rank.assign(static_cast<std::size_t>(job.size), 0);
  int here = 0;
  if (read_number(session, PmixSession::kJob, kLocalSize, 1, job.size, here) && here == job.size) return Status::ok();
  std::unordered_map<std::string, int> nodes;
  for (int r = 0; r < job.size; ++r) {
    std::string node;
    HEDDLE_TRY(read_node(session, r, node));
    job.node_of_rank[static_cast<std::size_t>(r)] =
        nodes.try_emplace(node, static_cast<int>(nodes.size())).first->second;
  }
  return Status::ok();
}

Status learn_job(PmixSession& session, Job& job) {
  HEDDLE_TRY(read_number(session, PmixSession::kJob, kJobSize, 1, kMaxRanks, job.size));
  if (session.rank() >= static_cast<unsigned>(job.size)) {
    return error(MPI_ERR_OTHER, "the launcher says that this is rank %u of %d", session.rank(), job.size);
  }
  job.rank = static_cast<int>(session.rank());
  job.name = session.job();
  // What it may leave out.
  if (!read_number(session, PmixSession::kJob, kUniverseSize, 1, INT_MAX, job.universe_size)) job.universe_size = -1;
  if (!read_number(session, job.rank, kProgram, 0, INT_MAX, job.appnum)) job.appnum = -1;
  job.facts = read_launch_facts(session.launcher_pid());
  return learn_nodes(session, job);
}

}  // namespace

Pmix::Pmix(Job job, std::unique_ptr<PmixSession> session) : Boot(std::move(job)), session_(std::move(session)) {}

std::unique_ptr<Boot> Pmix::connect(const PmixOptions& options, Status& status) {
  std::unique_ptr<PmixSession> session;
  Job job;
  status = PmixSession::open(options, session);
  if (status) status = learn_job(*session, job);
  if (!status) return nullptr;
  return std::unique_ptr<Boot>(new Pmix(std::move(job), std::move(session)));
}

std::size_t Pmix::max_value() const noexcept { return kMaxValue; }

Status Pmix::put(std::string_view key, std::string_view value) {
  HEDDLE_TRY(check_key_value(key, value, kMaxKey, kMaxValue));
  return session_->put(std::string(key), std::string(value));
}

Status Pmix::get(int rank, std::string_view key, std::string& value) {
  HEDDLE_TRY(check_key_value(key, "any", kMaxKey, kMaxValue));
  PmixSession::Value found;
  const std::string name(key);
  Status status = session_->get(rank, name, Look::kNode, found);
  const bool far =
      node_of_rank()[static_cast<std::size_t>(rank)] != node_of_rank()[static_cast<std::size_t>(this->rank())];
  if (status.error_class() == MPI_ERR_NAME && far) status = session_->get(rank, name, Look::kOwner, found);
  if (status.error_class() == MPI_ERR_NAME) {
    return error(MPI_ERR_NAME, "rank %d has not put '%s'", rank, name.c_str());
  }
  if (status) value = std::move(found.text);
  return status;
}

Status Pmix::fence(const Meanwhile& meanwhile) { return session_->fence(meanwhile); }

void Pmix::abort(int code, std::string_view message) noexcept {
  write_last_message(message);
  session_->abort(visible_exit_code(code));
  _exit(visible_exit_code(code));
}

Status Pmix::finalize() {
  said_goodbye_ = true;
  return session_->finalize();
}

}  // namespace heddle::boot
