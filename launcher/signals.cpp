#include "signals.hpp"

#include <sys/epoll.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>

#include "mpi.h"

namespace heddle::launcher {
namespace {

bool is_ignored(int number) {
  struct sigaction action {};
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

}  // namespace

Status Signals::open(EventLoop& loop, std::function<void(int)> handler) {
  handler_ = std::move(handler);
  for (const int ours :
       {SIGPIPE, SIGTTIN}) {  // writes to a reader that left and reads from the background report an error
    if (!is_ignored(ours)) default_in_ranks_.push_back(ours);
    signal(ours, SIG_IGN);
  }
  sigset_t set;
  sigemptyset(&set);
  for (const int s : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGTSTP}) {
    if (!is_ignored(s)) sigaddset(&set, s);
  }
  signal(SIGCHLD, SIG_DFL);  // inherited as ignored, children could not be waited for
  sigaddset(&set, SIGCHLD);
  sigaddset(&set, SIGCONT);
  sigprocmask(SIG_BLOCK, &set, &original_mask_);
  fd_ = Fd(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!fd_.is_open()) return error(MPI_ERR_OTHER, "signalfd: %s", std::strerror(errno));
  return loop.watch(fd_.get(), EPOLLIN, [this] { read_all(); });
}

void Signals::read_all() {
  signalfd_siginfo info;
  while (read(fd_.get(), &info, sizeof info) == sizeof info) handler_(static_cast<int>(info.ssi_signo));
}

std::string signal_text(int signal) {
  const char* name = sigdescr_np(signal);
  return "signal " + std::to_string(signal) + (name == nullptr ? "" : std::string(" (") + name + ")");
}

}  // namespace heddle::launcher
