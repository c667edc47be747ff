#include "input.hpp"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>

#include "mpi.h"

namespace heddle::launcher {
namespace {
constexpr auto kForegroundCheck = std::chrono::milliseconds(200);
}

Status InputPipe::open() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return error(MPI_ERR_OTHER, "pipe: %s", std::strerror(errno));
  rank_end_ = Fd(ends[0]);
  to_rank_ = Fd(ends[1]);
  fcntl(to_rank_.get(), F_SETPIPE_SZ, sysconf(_SC_PAGESIZE));
  fcntl(to_rank_.get(), F_SETFL, O_NONBLOCK);
  return Status::ok();
}

void InputPipe::start() {
  rank_end_.reset();
  if (to_rank_.is_open()) wait_until_taken();
}

void InputPipe::stop() {
  if (!to_rank_.is_open()) return;
  int unread = 0;
  if (ioctl(to_rank_.get(), FIONREAD, &unread) == 0) left_ += static_cast<std::size_t>(unread);
  loop_.forget(to_rank_.get());
  to_rank_.reset();
}

void InputPipe::wait_until_taken() {
  loop_.watch(to_rank_.get(), EPOLLOUT, [this] { on_writable(); }).ignore();
}

void InputPipe::on_writable() {
  loop_.forget(to_rank_.get());
  pollfd pipe{to_rank_.get(), POLLOUT, 0};
  if (poll(&pipe, 1, 0) > 0 && (pipe.revents & POLLERR) != 0) return stop();  // rank 0 has closed it
  empty_();
}

void InputPipe::give(std::string_view bytes) {
  if (bytes.empty()) return stop();  // rank 0 sees it too
  // At most a page, and so at once or not at all.
  if (!to_rank_.is_open() || write(to_rank_.get(), bytes.data(), bytes.size()) < 0) {
    left_ += bytes.size();
    return stop();
  }
  wait_until_taken();
}

void InputSource::read_next(Taker taker) {
  if (stopped_) return;
  taker_ = std::move(taker);
  wait();
}

void InputSource::wait() {
  const bool allowed = !is_terminal() || tcgetpgrp(STDIN_FILENO) == getpgrp();
  if (allowed) {
    if (loop_.watch(STDIN_FILENO, EPOLLIN, [this] { on_ready(); })) return;
    return on_ready();  // a file: always ready, and nothing that can be waited for
  }
  loop_.at(Clock::now() + kForegroundCheck, [this, alive = alive_] {
    if (*alive && !stopped_) wait();
  });
}

void InputSource::on_ready() {
  loop_.forget(STDIN_FILENO);
  if (is_terminal() && tcgetpgrp(STDIN_FILENO) != getpgrp()) return wait();
  char bytes[PIPE_BUF];
  const ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got < 0 && (errno == EINTR || errno == EAGAIN || (errno == EIO && is_terminal()))) return wait();
  taker_({bytes, static_cast<std::size_t>(got > 0 ? got : 0)});
}

void InputSource::give_back(std::size_t bytes) {
  if (lseek(STDIN_FILENO, 0, SEEK_CUR) < 0) return;  // a pipe cannot take it
  lseek(STDIN_FILENO, -static_cast<off_t>(bytes), SEEK_CUR);
}

void InputSource::stop() {
  if (stopped_) return;
  stopped_ = true;
  *alive_ = false;
  loop_.forget(STDIN_FILENO);
}

}  // namespace heddle::launcher
