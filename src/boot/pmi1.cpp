#include "boot/pmi1.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <unordered_map>

#include "boot/environment.hpp"
#include "boot/mapping.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kForever = -1;
constexpr std::size_t kMaxName = 256;

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

}  // namespace

class Pmi1::Channel {
 public:
  Channel(int fd, int answer_ms) : fd_(fd), answer_ms_(answer_ms) {}
  ~Channel() { close(fd_); }
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  Status ask(const std::string& question, std::string_view expected, Pmi1Line& answer) {
    return exchange(question, expected, answer, answer_ms_);
  }
  Status ask_forever(const std::string& question, std::string_view expected, Pmi1Line& answer,
                     const Meanwhile& meanwhile = {}) {
    meanwhile_ = &meanwhile;
    const Status status = exchange(question, expected, answer, kForever);
    meanwhile_ = nullptr;
    return status;
  }
  // Sends without waiting for anything; safe beside an exchange of another thread.
  void shout(const std::string& line) noexcept {
    [[maybe_unused]] const ssize_t sent = send(fd_, line.data(), line.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  Status exchange(const std::string& question, std::string_view expected, Pmi1Line& answer, int limit_ms);
  Status try_exchange(const std::string& question, std::string_view expected, Pmi1Line& answer, int limit_ms);
  Status send_all(std::string_view text);
  Status receive_line(std::string_view expected, std::string& line, int limit_ms);
  Status wait_for(short events, Clock::time_point deadline, bool forever, std::string_view what);

  const int fd_;
  const int answer_ms_;
  Pmi1Buffer received_;
  const Meanwhile* meanwhile_ = nullptr;  // of a wait without limit
};

Status Pmi1::Channel::wait_for(short events, Clock::time_point deadline, bool forever, std::string_view what) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
    const bool idle = forever && (meanwhile_ == nullptr || !*meanwhile_);
    const int timeout = idle ? -1 : forever ? 1 : static_cast<int>(std::clamp<long>(left, 0, INT_MAX));
    pollfd p{fd_, events, 0};
    const int ready = poll(&p, 1, timeout);
    if (ready > 0) return Status::ok();
    if (ready < 0 && errno != EINTR) {
      return error(MPI_ERR_OTHER, "waiting for the launcher: %s", std::strerror(errno));
    }
    if (forever) {
      if (ready == 0) (*meanwhile_)();
    } else if (ready == 0) {
      return error(MPI_ERR_OTHER, "the launcher has not answered for %d ms (waiting for '%.*s' on PMI_FD %d)",
                   answer_ms_, static_cast<int>(what.size()), what.data(), fd_);
    }
  }
}

Status Pmi1::Channel::send_all(std::string_view text) {
  const auto deadline = Clock::now() + std::chrono::milliseconds(answer_ms_);
  while (!text.empty()) {
    const ssize_t sent = send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      HEDDLE_TRY(wait_for(POLLOUT, deadline, false, "room to write"));
    } else if (errno != EINTR) {
      return error(MPI_ERR_OTHER, "cannot write to the launcher on PMI_FD %d: %s. Has mpiexec ended?", fd_,
                   std::strerror(errno));
    }
  }
  return Status::ok();
}

Status Pmi1::Channel::receive_line(std::string_view expected, std::string& line, int limit_ms) {
  const bool forever = limit_ms == kForever;
  const auto deadline = Clock::now() + std::chrono::milliseconds(forever ? 0 : limit_ms);
  while (true) {
    Status status;
    if (received_.next(line, status)) return Status::ok();
    HEDDLE_TRY(status);
    HEDDLE_TRY(wait_for(POLLIN, deadline, forever, expected));
    char bytes[4096];
    const ssize_t got = recv(fd_, bytes, sizeof bytes, MSG_DONTWAIT);
    if (got > 0) {
      received_.append({bytes, static_cast<std::size_t>(got)});
    } else if (got == 0) {
      return error(MPI_ERR_OTHER, "the launcher closed its end of PMI_FD %d (waiting for '%.*s'). Has mpiexec ended?",
                   fd_, static_cast<int>(expected.size()), expected.data());
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return error(MPI_ERR_OTHER, "cannot read from the launcher on PMI_FD %d: %s", fd_, std::strerror(errno));
    }
  }
}

Status Pmi1::Channel::exchange(const std::string& question, std::string_view expected, Pmi1Line& answer, int limit_ms) {
  const Status status = try_exchange(question, expected, answer, limit_ms);
  // Question and answer are out of step from here on: a late answer must not be taken for the next one.
  if (!status) shutdown(fd_, SHUT_RDWR);
  return status;
}

Status Pmi1::Channel::try_exchange(const std::string& question, std::string_view expected, Pmi1Line& answer,
                                   int limit_ms) {
  HEDDLE_TRY(send_all(question));
  std::string line;
  HEDDLE_TRY(receive_line(expected, line, limit_ms));
  HEDDLE_TRY(Pmi1Line::parse(line, answer));
  if (answer.command() == expected) return Status::ok();
  return error(
      MPI_ERR_OTHER,
      "the launcher answered '%.80s' where PMI-1 has 'cmd=%.*s'; do two MPI programs share this rank's PMI_FD?",
      line.c_str(), static_cast<int>(expected.size()), expected.data());
}

namespace {

// rc is missing in older launchers' answers; then all is well.
bool refused(const Pmi1Line& answer) {
  const std::string* rc = answer.find("rc");
  return rc != nullptr && *rc != "0";
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

Status check_socket(int fd) {
  struct stat s {};
  if (fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode)) return Status::ok();
  return error(MPI_ERR_OTHER,
               "PMI_FD is %d, which is not an open socket: the environment was left by another job, or a program "
               "between mpiexec and this one closed it. Start with mpiexec, or unset PMI_FD, PMI_RANK and PMI_SIZE",
               fd);
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

constexpr const char* kInit = "cmd=init pmi_version=1 pmi_subversion=1\n";
constexpr const char* kBarrier = "cmd=barrier_in\n";

}  // namespace

Pmi1::Pmi1(Job job, std::unique_ptr<Channel> channel, Limits limits)
    : Boot(std::move(job)), channel_(std::move(channel)), limits_(limits) {}

Pmi1::~Pmi1() = default;

std::size_t Pmi1::max_value() const noexcept { return limits_.value; }

std::unique_ptr<Boot> Pmi1::connect(const Pmi1Options& options, Status& status) {
  Job job;
  Limits limits;
  std::unique_ptr<Channel> channel;
  status = [&]() -> Status {
    int fd = -1;
    HEDDLE_TRY(require_environment_int("PMI_FD", 0, 1 << 24, fd));
    HEDDLE_TRY(require_environment_int("PMI_SIZE", 1, kMaxRanks, job.size));
    HEDDLE_TRY(require_environment_int("PMI_RANK", 0, job.size - 1, job.rank));
    HEDDLE_TRY(check_socket(fd));
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    channel = std::make_unique<Channel>(fd, options.answer_ms);
    job.facts = read_launch_facts();
    HEDDLE_TRY(greet(*channel, job, limits));
    HEDDLE_TRY(learn_segment(*channel, job, limits));
    return learn_nodes(*channel, job, limits);
  }();
  if (!status) return nullptr;
  return std::unique_ptr<Boot>(new Pmi1(std::move(job), std::move(channel), limits));
}

Status Pmi1::greet(Channel& channel, Job& job, Limits& limits) {
  Pmi1Line answer;
  HEDDLE_TRY(channel.ask(kInit, "response_to_init", answer));
  if (refused(answer)) return error(MPI_ERR_OTHER, "the launcher refuses PMI version 1.1; start with Heddle's mpiexec");
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
Status Pmi1::learn_segment(Channel& channel, Job& job, Limits& limits) {
  Pmi1Line answer;
  HEDDLE_TRY(channel.ask(get_line(job.name, kSegmentKey), "get_result", answer));
  const std::string* value = refused(answer) ? nullptr : answer.find("value");
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

Status Pmi1::learn_nodes(Channel& channel, Job& job, const Limits& limits) {
  job.node_of_rank.assign(static_cast<std::size_t>(job.size), 0);
  if (job.size == 1) return Status::ok();
  Pmi1Line answer;
  HEDDLE_TRY(channel.ask(get_line(job.name, "PMI_process_mapping"), "get_result", answer));
  const std::string* mapping = refused(answer) ? nullptr : answer.find("value");
  if (mapping == nullptr || mapping->empty()) return compare_hosts(channel, job, limits);
  return parse_process_mapping(*mapping, job.size, job.node_of_rank);
}

// A launcher without a map: everyone says where it runs.
Status Pmi1::compare_hosts(Channel& channel, Job& job, const Limits& limits) {
  const std::string mine = host_identity().substr(0, limits.value);
  Pmi1Line answer;
  HEDDLE_TRY(channel.ask(put_line(job.name, "heddle-host-" + std::to_string(job.rank), mine), "put_result", answer));
  if (refused(answer)) return error(MPI_ERR_OTHER, "the launcher has neither PMI_process_mapping nor room for a key");
  HEDDLE_TRY(channel.ask_forever(kBarrier, "barrier_out", answer));
  std::unordered_map<std::string, int> nodes;
  for (int r = 0; r < job.size; ++r) {
    HEDDLE_TRY(channel.ask(get_line(job.name, "heddle-host-" + std::to_string(r)), "get_result", answer));
    const std::string* host = answer.find("value");
    if (refused(answer) || host == nullptr)
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
  if (!refused(answer)) return Status::ok();
  return error(MPI_ERR_OTHER, "the launcher refuses the key '%.*s'", static_cast<int>(key.size()), key.data());
}

Status Pmi1::get(std::string_view key, std::string& value) {
  HEDDLE_TRY(check_key_value(key, "any", limits_.key, limits_.value));
  Pmi1Line answer;
  HEDDLE_TRY(channel_->ask(get_line(std::string(job()), key), "get_result", answer));
  const std::string* found = answer.find("value");
  if (refused(answer) || found == nullptr) {
    return error(MPI_ERR_NAME, "nobody has put '%.*s'", static_cast<int>(key.size()), key.data());
  }
  value = *found;
  return Status::ok();
}

Status Pmi1::fence(const Meanwhile& meanwhile) {
  Pmi1Line answer;
  HEDDLE_TRY(channel_->ask_forever(kBarrier, "barrier_out", answer, meanwhile));
  return refused(answer) ? error(MPI_ERR_OTHER, "the launcher refuses the barrier") : Status::ok();
}

void Pmi1::abort(int code, std::string_view message) noexcept {
  write_message(message);
  char line[48];
  std::snprintf(line, sizeof line, "cmd=abort exitcode=%d\n", code);
  channel_->shout(line);
  _exit(visible_exit_code(code));
}

Status Pmi1::rejoin() {
  Pmi1Line answer;
  return channel_->ask(kInit, "response_to_init", answer);
}

Status Pmi1::finalize() {
  Pmi1Line answer;
  return channel_->ask("cmd=finalize\n", "finalize_ack", answer);
}

}  // namespace heddle::boot
