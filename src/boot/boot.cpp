#include "boot/boot.hpp"

#include <limits.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

#include "boot/environment.hpp"
#include "boot/pmi.hpp"
#include "boot/pmix.hpp"
#include "boot/singleton.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

constexpr int kReadMs = 200;                      // until a pipe is read
constexpr int kRoomMs = 2000;                     // to wait for whoever reads stderr, where that does not block
constexpr const char* kJoined = "HEDDLE_JOINED";  // pid of the process that took PMI_FD

bool printable_word(std::string_view text) {
  for (const char c : text) {
    if (c <= ' ' || c > '~') return false;
  }
  return !text.empty();
}

}  // namespace

Boot::Boot(Job job) : job_(std::move(job)) {
  const int mine = job_.node_of_rank[job_.rank];
  for (int r = 0; r < job_.size; ++r) {
    if (job_.node_of_rank[r] != mine) continue;
    if (r == job_.rank) local_rank_ = static_cast<int>(local_ranks_.size());
    local_ranks_.push_back(r);
  }
}

Boot::~Boot() {
  if (job_.facts.segment_fd >= 0) close(job_.facts.segment_fd);
}

std::unique_ptr<Boot> connect(Status& status) {
  const int me = getpid();
  if (environment_int(kJoined, 1, INT_MAX, 0) == me) {
    status = error(MPI_ERR_OTHER, "this process has joined its job before, and cannot join it again");
    return nullptr;
  }
  if (std::getenv("PMI_FD") != nullptr) {
    std::unique_ptr<Boot> boot = connect_pmi(PmiOptions{}, status);
    unsetenv("PMI_FD");
    setenv(kJoined, std::to_string(me).c_str(), 1);
    return boot;
  }
  if (std::getenv("PMIX_RANK") != nullptr && std::getenv("PMIX_NAMESPACE") != nullptr) {
    std::unique_ptr<Boot> boot = Pmix::connect(PmixOptions{}, status);
    for (const char* name : {"PMIX_RANK", "PMIX_NAMESPACE"}) unsetenv(name);
    setenv(kJoined, std::to_string(me).c_str(), 1);
    return boot;
  }
  // Running as n jobs of one process each, when the user asked for one job of n, is the worst answer of all.
  for (const char* foreign : {"PMI_PORT", "PMIX_RANK"}) {
    if (std::getenv(foreign) == nullptr) continue;
    status =
        error(MPI_ERR_OTHER,
              "the environment has %s but neither PMI_FD nor PMIX_NAMESPACE: it is of a launcher that speaks a dialect "
              "that Heddle does not, or was left by one. Start with Heddle's mpiexec (or unset %s to run this process "
              "alone)",
              foreign, foreign);
    return nullptr;
  }
  // But what a rank has started itself is alone.
  for (const char* name : {"PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* size = std::getenv(name);
    if (size == nullptr || std::string_view(size) == "1" || std::getenv(kJoined) != nullptr) continue;
    status = error(
        MPI_ERR_OTHER,
        "the environment has %s='%.20s' but neither PMI_FD nor PMIX_RANK: it is of a job that this process is not "
        "told how to join. Start with Heddle's mpiexec, or with srun --mpi=pmi2 or srun --mpi=pmix, whichever "
        "srun --mpi=list has (or unset %s to run this process alone)",
        name, size, name);
    return nullptr;
  }
  status = Status::ok();
  return std::make_unique<Singleton>();
}

Status check_key_value(std::string_view key, std::string_view value, std::size_t max_key, std::size_t max_value) {
  if (key.size() > max_key) {
    return error(MPI_ERR_ARG, "a key of %zu bytes; the launcher takes at most %zu", key.size(), max_key);
  }
  if (value.size() > max_value) {
    return error(MPI_ERR_ARG, "the value of '%.*s' has %zu bytes; the launcher takes at most %zu",
                 static_cast<int>(key.size()), key.data(), value.size(), max_value);
  }
  if (!printable_word(key) || key.find('=') != key.npos || !printable_word(value)) {
    return error(MPI_ERR_ARG, "key and value must be printable words (no spaces, no '=' in the key)");
  }
  return Status::ok();
}

void write_message(std::string_view message) noexcept {
  if (message.empty()) return;
  char newline[] = "\n";
  const bool ended = message.back() == '\n';
  iovec parts[] = {{const_cast<char*>(message.data()), message.size()}, {newline, ended ? std::size_t{0} : 1}};
  for (iovec *at = parts, *const end = parts + 2; at != end;) {
    const ssize_t written = writev(STDERR_FILENO, at, static_cast<int>(end - at));
    if (written < 0) {
      pollfd room{STDERR_FILENO, POLLOUT, 0};
      if (errno == EINTR || (errno == EAGAIN && poll(&room, 1, kRoomMs) == 1)) continue;
      return;
    }
    auto left = static_cast<std::size_t>(written);
    for (; at != end && left >= at->iov_len; ++at) left -= at->iov_len;
    if (at == end) return;
    at->iov_base = static_cast<char*>(at->iov_base) + left;
    at->iov_len -= left;
  }
}

void write_last_message(std::string_view message) noexcept {
  write_message(message);
  struct stat kind;
  if (message.empty() || fstat(STDERR_FILENO, &kind) != 0 || !S_ISFIFO(kind.st_mode)) return;
  for (int ms = 0, unread = 0; ms < kReadMs; ++ms) {
    if (ioctl(STDERR_FILENO, FIONREAD, &unread) != 0 || unread == 0) return;
    poll(nullptr, 0, 1);  // nothing tells that a pipe has become empty
  }
}

int visible_exit_code(int code) noexcept { return code != 0 && (code & 0xff) == 0 ? 1 : code & 0xff; }

}  // namespace heddle::boot
