#include "guard.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "mpi.h"

namespace heddle::launcher {
namespace {

// Until the one it waits for ends (true) or hangs (false). Several waits in a row must be in vain: one alone may be
// that of a machine that slept.
bool wait_for_end(int lifeline, int patience_ms) {
  constexpr int kWaits = 4;
  char bytes[64];
  for (int in_vain = 0; in_vain < kWaits;) {
    pollfd p{lifeline, POLLIN, 0};
    const int ready = poll(&p, 1, patience_ms < 0 ? -1 : patience_ms / kWaits);
    if (ready == 0) ++in_vain;
    if (ready <= 0) continue;
    in_vain = 0;
    const ssize_t got = read(lifeline, bytes, sizeof bytes);
    if (got == 0 || (got < 0 && errno != EINTR)) return true;
  }
  return false;
}

// The guard's whole life. Every signal but SIGKILL and SIGSTOP is blocked: those for the group are not for it.
[[noreturn]] void watch(int lifeline, pid_t parent, int patience_ms) {
  setpgid(0, 0);
  sigset_t all;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  prctl(PR_SET_NAME, "mpiexec-guard");
  // Whoever waits for the end of mpiexec's output must not wait for this process.
  const int null = open("/dev/null", O_RDWR);
  for (int fd = 0; fd < 3; ++fd) {
    if (null < 0 || dup2(null, fd) < 0) close(fd);
  }
  if (!wait_for_end(lifeline, patience_ms) && getppid() == parent) kill(parent, SIGKILL);
  killpg(0, SIGKILL);
  _exit(0);
}

}  // namespace

Status Guard::start(std::chrono::seconds patience) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return error(MPI_ERR_OTHER, "pipe: %s", std::strerror(errno));
  Fd read_end(ends[0]), write_end(ends[1]);
  const int patience_ms = patience.count() == 0 ? -1 : static_cast<int>(1000 * patience.count());
  const pid_t parent = getpid(), pid = fork();
  if (pid < 0) return error(MPI_ERR_OTHER, "cannot start a process: %s", std::strerror(errno));
  if (pid == 0) {
    write_end.reset();
    watch(read_end.get(), parent, patience_ms);
  }
  setpgid(pid, pid);  // both sides do it, so that it holds whoever runs first
  pid_ = pid;
  lifeline_ = std::move(write_end);
  return Status::ok();
}

void Guard::beat() const noexcept {
  if (lifeline_.is_open()) [[maybe_unused]]
    const ssize_t written = write(lifeline_.get(), "", 1);
}

Guard::~Guard() { kill_group(); }

void Guard::signal_group(int signal) const noexcept {
  if (pid_ > 0) killpg(pid_, signal);
}

void Guard::kill_group() noexcept {
  if (pid_ <= 0) return;
  killpg(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void Guard::dismiss() noexcept {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace heddle::launcher
