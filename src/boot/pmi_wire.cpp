#include "boot/pmi_wire.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "boot/environment.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

using Clock = std::chrono::steady_clock;

Status check_socket(int fd) {
  struct stat s {};
  if (fstat(fd, &s) == 0 && S_ISSOCK(s.st_mode)) return Status::ok();
  return error(MPI_ERR_OTHER,
               "PMI_FD is %d, which is not an open socket: the environment was left by another job, or a program "
               "between mpiexec and this one closed it. Start with mpiexec, or unset PMI_FD, PMI_RANK and PMI_SIZE",
               fd);
}

}  // namespace

Status PmiWire::open(const PmiOptions& options, Job& job, std::unique_ptr<PmiWire>& wire) {
  int fd = -1;
  HEDDLE_TRY(require_environment_int("PMI_FD", 0, 1 << 24, fd));
  HEDDLE_TRY(require_environment_int("PMI_SIZE", 1, kMaxRanks, job.size));
  HEDDLE_TRY(require_environment_int("PMI_RANK", 0, job.size - 1, job.rank));
  HEDDLE_TRY(check_socket(fd));
  fcntl(fd, F_SETFD, FD_CLOEXEC);
  wire = std::make_unique<PmiWire>(fd, options.answer_ms);
  return Status::ok();
}

PmiWire::~PmiWire() { close(fd_); }

PmiPatience PmiWire::patience(std::string_view what) const noexcept {
  return {.what = what, .deadline = Clock::now() + std::chrono::milliseconds(answer_ms_)};
}

Status PmiWire::wait_for(short events, const PmiPatience& patience, bool& ready) {
  const bool idle = patience.meanwhile == nullptr || !*patience.meanwhile;
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(patience.deadline - Clock::now()).count();
    const int timeout = !patience.forever ? static_cast<int>(std::clamp<long>(left, 0, INT_MAX)) : idle ? -1 : 1;
    pollfd p{fd_, events, 0};
    const int got = poll(&p, 1, timeout);
    ready = got > 0;
    if (ready) return Status::ok();
    if (got < 0 && errno != EINTR) {
      return error(MPI_ERR_OTHER, "waiting for the launcher: %s", std::strerror(errno));
    }
    if (got < 0) continue;
    if (!patience.forever) {
      return error(MPI_ERR_OTHER, "the launcher has not answered for %d ms (waiting for '%.*s' on PMI_FD %d)",
                   answer_ms_, static_cast<int>(patience.what.size()), patience.what.data(), fd_);
    }
    (*patience.meanwhile)();
    return Status::ok();
  }
}

Status PmiWire::send(std::string_view text) {
  const PmiPatience room = patience("room to write");
  while (!text.empty()) {
    const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      bool ready = false;
      HEDDLE_TRY(wait_for(POLLOUT, room, ready));
    } else if (errno != EINTR) {
      return error(MPI_ERR_OTHER, "cannot write to the launcher on PMI_FD %d: %s. Has mpiexec ended?", fd_,
                   std::strerror(errno));
    }
  }
  return Status::ok();
}

Status PmiWire::receive(const PmiPatience& patience, std::string_view& bytes) {
  bytes = {};
  while (true) {
    bool ready = false;
    HEDDLE_TRY(wait_for(POLLIN, patience, ready));
    if (!ready) return Status::ok();
    const ssize_t got = recv(fd_, bytes_, sizeof bytes_, MSG_DONTWAIT);
    if (got > 0) {
      bytes = {bytes_, static_cast<std::size_t>(got)};
      return Status::ok();
    }
    if (got == 0) {
      return error(MPI_ERR_OTHER, "the launcher closed its end of PMI_FD %d (waiting for '%.*s'). Has mpiexec ended?",
                   fd_, static_cast<int>(patience.what.size()), patience.what.data());
    }
    if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
      return error(MPI_ERR_OTHER, "cannot read from the launcher on PMI_FD %d: %s", fd_, std::strerror(errno));
    }
  }
}

std::string_view PmiWire::receive_now() noexcept {
  const ssize_t got = recv(fd_, bytes_, sizeof bytes_, MSG_DONTWAIT);
  return got > 0 ? std::string_view(bytes_, static_cast<std::size_t>(got)) : std::string_view();
}

void PmiWire::shout(std::string_view text) noexcept {
  [[maybe_unused]] const ssize_t sent = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

bool PmiWire::is_closed() const noexcept {
  char byte;
  const ssize_t got = recv(fd_, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return !hung_up_ && (got == 0 || (got < 0 && errno == ECONNRESET));
}

void PmiWire::hang_up() noexcept {
  hung_up_ = true;
  shutdown(fd_, SHUT_RDWR);
}

}  // namespace heddle::boot
