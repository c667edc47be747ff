#include "output.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "boot/boot.hpp"

namespace heddle::launcher {
namespace {

constexpr auto kStandsStill = std::chrono::milliseconds(100);

bool same_file(int a, int b) {
  struct stat x {
  }, y{};
  return fstat(a, &x) == 0 && fstat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool can_write_now(int fd) {
  pollfd p{fd, POLLOUT, 0};
  return poll(&p, 1, 0) > 0;
}

}  // namespace

Sink::Sink(EventLoop& loop, int fd, bool tag) : loop_(loop), fd_(fd), tag_(tag), terminal_(isatty(fd) == 1) {
  struct stat s {};
  regular_ = fstat(fd, &s) == 0 && S_ISREG(s.st_mode);
}

void Sink::put(int rank, std::string_view text) {
  if (text.empty() || broken_) return;
  if (!at_line_start_ && last_rank_ != rank) {
    pending_ += '\n';
    at_line_start_ = true;
  }
  last_rank_ = rank;
  if (tag_ && rank != kMpiexecItself) {
    append_tagged(rank, text);
  } else {
    pending_ += text;
  }
  at_line_start_ = text.back() == '\n';
  if (!waiting_) write_some();
  if (is_full()) was_full_ = true;
}

void Sink::append_tagged(int rank, std::string_view text) {
  const std::string prefix = "[" + std::to_string(rank) + "] ";
  while (!text.empty()) {
    if (at_line_start_) pending_ += prefix;
    const std::size_t line = std::min(text.find('\n'), text.size() - 1) + 1;
    pending_ += text.substr(0, line);
    at_line_start_ = text[line - 1] == '\n';
    text.remove_prefix(line);
  }
}

// Writes only where poll() promises room: the descriptor is shared with the user's shell, so making it non-blocking
// would make it non-blocking for the shell.
void Sink::write_some() {
  while (written_ < pending_.size()) {
    if (!regular_ && !can_write_now(fd_)) {
      wait_for_room();
      break;
    }
    const std::size_t left = pending_.size() - written_;
    const ssize_t n = write(fd_, pending_.data() + written_, regular_ ? left : std::min(left, kPiece));
    if (n >= 0) {
      written_ += static_cast<std::size_t>(n);
    } else if (errno == EAGAIN) {
      wait_for_room();
      break;
    } else if (errno != EINTR) {
      give_up(errno);
      written_ = pending_.size();
    }
  }
  after_write();
}

void Sink::give_up(int cause) {
  broken_ = true;
  if (cause == EPIPE) return;  // a reader that left is no news
  lost_ = true;
  const std::string line = std::string("mpiexec: cannot write to ") +
                           (fd_ == STDOUT_FILENO ? "standard output: " : "standard error: ") + std::strerror(cause);
  if (fd_ != STDERR_FILENO) boot::write_message(line);
}

void Sink::after_write() {
  const bool done = written_ == pending_.size();
  if (done || written_ >= kFull) {
    pending_.erase(0, written_);
    written_ = 0;
  }
  if (done && waiting_) {
    loop_.forget(fd_);
    waiting_ = false;
  }
  const bool room_again = was_full_ && pending_.size() - written_ <= kRoom;
  if (room_again || broken_) {
    was_full_ = false;
    if (on_room_) on_room_();
  }
}

void Sink::wait_for_room() {
  if (waiting_) return;
  waiting_ = loop_.watch(fd_, EPOLLOUT, [this] { write_some(); }).is_ok();
}

void Sink::drain(const std::function<bool()>& stop) {
  while (written_ < pending_.size() && !broken_) {
    pollfd p{fd_, POLLOUT, 0};
    poll(&p, 1, 100);
    write_some();
    if (stop()) return;
  }
}

Stream::Stream(EventLoop& loop, Outlet& outlet, int rank, bool alone, Fd fd)
    : loop_(loop), outlet_(outlet), rank_(rank), alone_(alone), fd_(std::move(fd)) {
  fcntl(fd_.get(), F_SETFL, O_NONBLOCK);
  follow_outlet();
}

Stream::~Stream() { *alive_ = false; }

void Stream::follow_outlet() {
  if (!fd_.is_open()) return;
  if (outlet_.is_broken()) {
    // The rank's next write raises SIGPIPE in it, as it would without mpiexec in between.
    close();
  } else if (outlet_.is_full() && reading_) {
    loop_.forget(fd_.get());
    reading_ = false;
  } else if (!outlet_.is_full() && !reading_) {
    reading_ = loop_.watch(fd_.get(), EPOLLIN, [this] { read_once(); }).is_ok();
  }
}

void Stream::read_available() {
  while (fd_.is_open() && read_once()) {
  }
}

bool Stream::read_once() {
  static char bytes[65536];  // not on the stack: a small 'ulimit -s' is for the ranks
  const ssize_t n = read(fd_.get(), bytes, sizeof bytes);
  if (n > 0) {
    take({bytes, static_cast<std::size_t>(n)});
    follow_outlet();
    return true;
  }
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  close();
  return false;
}

void Stream::take(std::string_view bytes) {
  received_ += bytes.size();
  const std::size_t last_newline = bytes.rfind('\n');
  if (last_newline != bytes.npos) {
    const std::string_view lines = bytes.substr(0, last_newline + 1);
    bytes.remove_prefix(last_newline + 1);
    if (rest_.empty()) {
      outlet_.put(rank_, lines);
    } else {
      rest_ += lines;
      outlet_.put(rank_, rest_);
      rest_.clear();
    }
  }
  rest_ += bytes;
  if (alone_ || rest_.size() > kMaxLine) {
    outlet_.put(rank_, rest_);
    rest_.clear();
  } else if (!rest_.empty() && outlet_.is_terminal()) {
    show_rest_later();
  }
}

void Stream::show_rest_later() {
  loop_.at(Clock::now() + kStandsStill, [this, alive = alive_, then = received_] {
    if (!*alive || received_ != then) return;
    outlet_.put(rank_, rest_);
    rest_.clear();
  });
}

void Stream::close() {
  if (!fd_.is_open()) return;
  outlet_.put(rank_, rest_);
  rest_.clear();
  if (reading_) loop_.forget(fd_.get());
  reading_ = false;
  fd_.reset();
}

Outputs::Outputs(EventLoop& loop, bool tag) : out_(std::make_unique<Sink>(loop, STDOUT_FILENO, tag)) {
  if (!same_file(STDOUT_FILENO, STDERR_FILENO)) err_ = std::make_unique<Sink>(loop, STDERR_FILENO, tag);
}

void Outputs::say(std::string_view message) {
  err().put(kMpiexecItself, std::string("mpiexec: ").append(message).append("\n"));
}

}  // namespace heddle::launcher
