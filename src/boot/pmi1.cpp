#include "boot/pmi1.hpp"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <algorithm>
#include <unordered_map>

#include "boot/environment.hpp"
#include "boot/loss_line.hpp"
#include "boot/mapping.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

constexpr std::size_t kMaxName = 256;
constexpr std::string_view kBarrier = "cmd=barrier_in\n", kBarrierOut = "barrier_out";

std::string host_identity() {
  // Two processes can share memory when they run on one kernel and see the same processes.
  char boot_id[64] = {}, pids[64] = {};
  const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (fd >= 0) {
    if (read(fd, boot_id, sizeof boot_id - 1) < 0) boot_id[0] = 0;
    close(fd);
  }
  if (readlink("/proc/self/ns/pid", pids, sizeof pids - 1) < 0) pids[0] = 0;
  std::string identity = std::string(boot_id) + "/" + pids;
  std::erase_if(identity, [](char c) { return c <= ' ' || c > '~'; });
  return identity;
}

Status read_word(const Pmi1Line& answer, const char* name, std::string& value) {
  const std::string* found = answer.find(name);
  if (found == nullptr || found->empty() || found->size() > kMaxName) {
    return error(MPI_ERR_OTHER,
                 "the launcher's answer '%.*s' has no usable %s=", static_cast<int>(answer.command().size()),
                 answer.command().data(), name);
  }
  value = *found;
  return Status::ok();
}

Status read_number(const Pmi1Line& answer, const char* name, int low, int high, int& value) {
  const std::string* found = answer.find(name);
  if (found != nullptr && parse_int(*found, low, high, value)) return Status::ok();
  return error(MPI_ERR_OTHER, "the launcher's answer '%.*s' has %s='%.40s', not a number between %d and %d",
               static_cast<int>(answer.command().size()), answer.command().data(), name,
               found == nullptr ? "" : found->c_str(), low, high);
}

std::string put_line(const std::string& job, std::string_view key, std::string_view value) {
  std::string line = "cmd=put kvsname=" + job + " key=";
  line.append(key).append(" value=").append(value).append("\n");
  return line;
}

std::string get_line(const std::string& job, std::string_view key) {
  std::string line = "cmd=get kvsname=" + job + " key=";
  line.append(key).append("\n");
  return line;
}

}  // namespace

Pmi1::Pmi1(Job job, std::unique_ptr<Pmi1Channel> channel, Limits limits)
    : Boot(std::move(job)), channel_(std::move(channel)), limits_(limits) {}

Pmi1::~Pmi1() = default;

std::size_t Pmi1::max_value() const noexcept { return limits_.value; }

std::unique_ptr<Boot> Pmi1::join(Job job, std::unique_ptr<Pmi1Channel> channel, Status& status) {
  Limits limits;
  status = [&]() -> Status {
    HEDDLE_TRY(learn_job(*channel, job, limits));
    HEDDLE_TRY(learn_segment(*channel, job, limits));
    return learn_nodes(*channel, job, limits);
  }();
  if (!status) return nullptr;
  return std::unique_ptr<Boot>(new Pmi1(std::move(job), std::move(channel), limits));
}

Status Pmi1::learn_job(Pmi1Channel& channel, Job& job, Limits& limits) {
  Pmi1Line answer;
  int key = 0, value = 0;
  HEDDLE_TRY(channel.ask("cmd=get_maxes\n", "maxes", answer));
  HEDDLE_TRY(read_number(answer, "keylen_max", 16, INT_MAX, key));
  HEDDLE_TRY(read_number(answer, "vallen_max", 64, INT_MAX, value));
  // The limits count a terminating zero in some launchers.
  limits.key = std::min<std::size_t>(static_cast<std::size_t>(key) - 1, kMaxName);
  limits.value = std::min<std::size_t>(static_cast<std::size_t>(value) - 1, Pmi1Buffer::kMaxLine / 2);
  HEDDLE_TRY(channel.ask("cmd=get_my_kvsname\n", "my_kvsname", answer));
  HEDDLE_TRY(read_word(answer, "kvsname", job.name));
  HEDDLE_TRY(channel.ask("cmd=get_appnum\n", "appnum", answer));
  HEDDLE_TRY(read_number(answer, "appnum", -1, INT_MAX, job.appnum));
  HEDDLE_TRY(channel.ask("cmd=get_universe_size\n", "universe_size", answer));
  return read_number(answer, "size", -1, INT_MAX, job.universe_size);
}

// Heddle's mpiexec answers with a descriptor that every rank has, to the first program of a rank alone: the memory of one
// program is not for the next.
Status Pmi1::learn_segment(Pmi1Channel& channel, Job& job, Limits& limits) {
  Pmi1Line answer;
  HEDDLE_TRY(channel.ask(get_line(job.name, kSegmentKey), "get_result", answer));
  const std::string* value = answer.refused() ? nullptr : answer.find("value");
  if (value == nullptr) return Status::ok();
  std::string_view number = *value;
  const bool used = number.starts_with(kUsedSegment);
  if (used) number.remove_prefix(kUsedSegment.size());
  int fd = -1;
  limits.own_launcher = parse_int(number, 0, INT_MAX, fd);
  if (!limits.own_launcher) return Status::ok();
  const bool is_memfd = fcntl(fd, F_GET_SEALS) >= 0;  // nothing else has seals
  if (used) {
    if (is_memfd) close(fd);
    return Status::ok();
  }
  if (!is_memfd || fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    return error(
        MPI_ERR_OTHER,
        "mpiexec passed the node's shared memory as descriptor %d, but that is not open here: something between "
        "mpiexec and this program closes descriptors; make it leave them open",
        fd);
  }
  job.facts.segment_fd = fd;
  return Status::ok();
}

Status Pmi1::learn_nodes(Pmi1Channel& channel, Job& job, const Limits& limits) {
  job.node_of_rank.assign(static_cast<std::size_t>(job.size), 0);
  if (job.size == 1) return Status::ok();
  Pmi1Line answer;
  HEDDLE_TRY(channel.ask(get_line(job.name, "PMI_process_mapping"), "get_result", answer));
  const std::string* mapping = answer.refused() ? nullptr : answer.find("value");
  if (mapping == nullptr || mapping->empty()) return compare_hosts(channel, job, limits);
  return parse_process_mapping(*mapping, job.size, job.node_of_rank);
}

// A launcher without a map: everyone says where it runs.
Status Pmi1::compare_hosts(Pmi1Channel& channel, Job& job, const Limits& limits) {
  const std::string mine = host_identity().substr(0, limits.value);
  Pmi1Line answer;
  HEDDLE_TRY(channel.ask(put_line(job.name, "heddle-host-" + std::to_string(job.rank), mine), "put_result", answer));
  if (answer.refused()) return error(MPI_ERR_OTHER, "the launcher has neither PMI_process_mapping nor room for a key");
  HEDDLE_TRY(channel.barrier(kBarrier, kBarrierOut, {}, answer));
  std::unordered_map<std::string, int> nodes;
  for (int r = 0; r < job.size; ++r) {
    HEDDLE_TRY(channel.ask(get_line(job.name, "heddle-host-" + std::to_string(r)), "get_result", answer));
    const std::string* host = answer.find("value");
    if (answer.refused() || host == nullptr)
      return error(MPI_ERR_OTHER, "rank %d has not said on which host it runs", r);
    job.node_of_rank[static_cast<std::size_t>(r)] =
        nodes.try_emplace(*host, static_cast<int>(nodes.size())).first->second;
  }
  return Status::ok();
}

Status Pmi1::put(std::string_view key, std::string_view value) {
  HEDDLE_TRY(check_key_value(key, value, limits_.key, limits_.value));
  Pmi1Line answer;
  HEDDLE_TRY(channel_->ask(put_line(std::string(job()), key, value), "put_result", answer));
  if (!answer.refused()) return Status::ok();
  return error(MPI_ERR_OTHER, "the launcher refuses the key '%.*s'", static_cast<int>(key.size()), key.data());
}

Status Pmi1::get(int, std::string_view key, std::string& value) {
  HEDDLE_TRY(check_key_value(key, "any", limits_.key, limits_.value));
  Pmi1Line answer;
  HEDDLE_TRY(channel_->ask(get_line(std::string(job()), key), "get_result", answer));
  const std::string* found = answer.find("value");
  if (answer.refused() || found == nullptr) {
    return error(MPI_ERR_NAME, "nobody has put '%.*s'", static_cast<int>(key.size()), key.data());
  }
  value = *found;
  return Status::ok();
}

Status Pmi1::fence(const Meanwhile& meanwhile) {
  Pmi1Line answer;
  HEDDLE_TRY(channel_->barrier(kBarrier, kBarrierOut, meanwhile, answer));
  return answer.refused() ? error(MPI_ERR_OTHER, "the launcher refuses the barrier") : Status::ok();
}

void Pmi1::abort(int code, std::string_view message) noexcept {
  write_last_message(message);
  char line[48];
  std::snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
  channel_->shout(line);
  _exit(visible_exit_code(code));
}

Status Pmi1::rejoin() {
  said_goodbye_ = false;
  Pmi1Line answer;
  return channel_->ask(kPmi1Init, "response_to_init", answer);
}

void Pmi1::tell(Phase phase) noexcept {
  if (limits_.own_launcher) channel_->shout(phase_line(phase));
}

void Pmi1::survive() noexcept {
  if (limits_.own_launcher) channel_->shout(survive_line());
}

bool Pmi1::next_loss(int* rank, std::string* why) {
  Pmi1Line notice;
  while (limits_.own_launcher && channel_->next_notice(notice)) {
    if (parse_loss(notice, size(), rank, why)) return true;
  }
  return false;
}

bool Pmi1::report_loss(int rank, std::string_view why) noexcept {
  if (limits_.own_launcher) channel_->shout(loss_line(kLossReport, rank, why));
  return limits_.own_launcher;
}

Status Pmi1::finalize() {
  said_goodbye_ = true;
  Pmi1Line answer;
  return channel_->ask("cmd=finalize\n", "finalize_ack", answer);
}

}  // namespace heddle::boot
