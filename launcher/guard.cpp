#include "guard.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cerrno>
#include <cstring>

#include "mpi.h"

namespace heddle::launcher {
namespace {

// The guard's whole life. Every signal but SIGKILL and SIGSTOP is blocked: those for the group are not for it.
[[noreturn]] void watch(int lifeline) {
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
  char byte;
  ssize_t got;
  do {
    got = read(lifeline, &byte, 1);
  } while (got < 0 && errno == EINTR);
  if (got != 1) killpg(0, SIGKILL);
  _exit(0);
}

}  // namespace

Status Guard::start() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return error(MPI_ERR_OTHER, "pipe: %s", std::strerror(errno));
  Fd read_end(ends[0]), write_end(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return error(MPI_ERR_OTHER, "cannot start a process: %s", std::strerror(errno));
  if (pid == 0) {
    write_end.reset();
    watch(read_end.get());
  }
  setpgid(pid, pid);  // both sides do it, so that it holds whoever runs first
  pid_ = pid;
  lifeline_ = std::move(write_end);
  return Status::ok();
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
