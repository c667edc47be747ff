#include "input.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>

#include "mpi.h"

namespace heddle::launcher {
namespace {
constexpr auto kForegroundCheck = std::chrono::milliseconds(200);
}

Status Input::open() {
  null_ = Fd(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_.is_open()) return error(MPI_ERR_OTHER, "/dev/null: %s", std::strerror(errno));
  if (isatty(STDIN_FILENO) != 1) return Status::ok();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return error(MPI_ERR_OTHER, "pipe: %s", std::strerror(errno));
  rank_end_ = Fd(ends[0]);
  to_rank_ = Fd(ends[1]);
  fcntl(to_rank_.get(), F_SETPIPE_SZ, sysconf(_SC_PAGESIZE));
  fcntl(to_rank_.get(), F_SETFL, O_NONBLOCK);
  return Status::ok();
}

int Input::for_rank(int rank) const noexcept {
  if (rank != 0) return null_.get();
  return rank_end_.is_open() ? rank_end_.get() : STDIN_FILENO;
}

void Input::start() {
  null_.reset();
  rank_end_.reset();
  if (to_rank_.is_open()) wait_until_taken();
}

void Input::stop() {
  if (stopped_) return;
  stopped_ = true;
  if (!to_rank_.is_open()) return;
  loop_.forget(to_rank_.get());
  loop_.forget(STDIN_FILENO);
  to_rank_.reset();
}

void Input::wait_until_taken() {
  loop_.forget(STDIN_FILENO);
  loop_.watch(to_rank_.get(), EPOLLOUT, [this] { wait_for_line(); }).ignore();
}

void Input::wait_for_line() {
  loop_.forget(to_rank_.get());
  pollfd pipe{to_rank_.get(), POLLOUT, 0};
  if (poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0) return stop();  // rank 0 has closed it
  const bool foreground = tcgetpgrp(STDIN_FILENO) == getpgrp();
  if (foreground && loop_.watch(STDIN_FILENO, EPOLLIN, [this] { on_line(); })) return;
  loop_.at(Clock::now() + kForegroundCheck, [this] {
    if (!stopped_) wait_for_line();
  });
}

void Input::on_line() {
  loop_.forget(STDIN_FILENO);
  if (tcgetpgrp(STDIN_FILENO) != getpgrp()) return wait_for_line();
  char line[PIPE_BUF];  // at most a page, and so at once or not at all
  const ssize_t got = read(STDIN_FILENO, line, sizeof line);
  if (got > 0) {
    if (write(to_rank_.get(), line, static_cast<std::size_t>(got)) < 0 && errno == EPIPE) return stop();
    wait_until_taken();
  } else if (got < 0 && (errno == EINTR || errno == EAGAIN || errno == EIO)) {
    wait_for_line();
  } else {
    stop();  // end of file: rank 0 sees it too
  }
}

}  // namespace heddle::launcher
