#include "remote_shell.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "mpi.h"

namespace heddle::launcher {
namespace {

struct Pipe {
  Fd read_end, write_end;
};

Status open_pipe(Pipe& pipe) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return error(MPI_ERR_OTHER, "pipe: %s", std::strerror(errno));
  pipe = {Fd(ends[0]), Fd(ends[1])};
  return Status::ok();
}

// Signals as mpiexec found them, and a process group.
class Attributes {
 public:
  Attributes(const Signals& signals, pid_t group) {
    posix_spawnattr_init(&attributes_);
    sigset_t defaults;
    sigemptyset(&defaults);
    for (const int s : signals.default_in_ranks()) sigaddset(&defaults, s);
    posix_spawnattr_setsigdefault(&attributes_, &defaults);
    posix_spawnattr_setsigmask(&attributes_, &signals.original_mask());
    posix_spawnattr_setpgroup(&attributes_, group);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  }
  ~Attributes() { posix_spawnattr_destroy(&attributes_); }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  const posix_spawnattr_t* get() const noexcept { return &attributes_; }

 private:
  posix_spawnattr_t attributes_;
};

}  // namespace

std::string default_remote_shell(int detection_seconds) {
  const int patience = std::max(1, detection_seconds - 1);  // ssh knows better than we why nobody answers
  return "ssh -x -T -o BatchMode=yes -o ConnectTimeout=" + std::to_string(patience);
}

std::string quoted(const std::string& word) {
  constexpr const char* kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+=:@%,";
  if (!word.empty() && word.find_first_not_of(kPlain) == word.npos) return word;
  std::string text = "'";
  for (const char c : word) {
    if (c == '\'') {
      text += "'\\''";
    } else {
      text += c;
    }
  }
  return text + "'";
}

Status start_remote_shell(const std::string& command, const std::string& host, const std::string& program, pid_t group,
                          const Signals& signals, RemoteShell& shell) {
  Pipe in, out, err;
  HEDDLE_TRY(open_pipe(in));
  HEDDLE_TRY(open_pipe(out));
  HEDDLE_TRY(open_pipe(err));
  const std::string line = "exec " + command + " \"$@\"", on_host = quoted(program);
  const char* argv[] = {"sh", "-c", line.c_str(), "sh", host.c_str(), on_host.c_str(), "--node", nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, in.read_end.get(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, out.write_end.get(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, err.write_end.get(), STDERR_FILENO);
  const int failure = posix_spawn(&shell.pid, "/bin/sh", &actions, Attributes(signals, group).get(),
                                  const_cast<char* const*>(argv), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failure != 0) {
    return error(MPI_ERR_OTHER, "cannot start the remote shell for '%s': %s", host.c_str(), std::strerror(failure));
  }
  shell.in = std::move(in.write_end);
  shell.out = std::move(out.read_end);
  shell.err = std::move(err.read_end);
  return Status::ok();
}

}  // namespace heddle::launcher
