// The remote shell: ssh, or what the user has named, called like ssh.
//
// Method:  sh -c 'exec COMMAND "$@"' sh HOST PROGRAM --node, so COMMAND may have options and quotes of its own. PROGRAM
//          is quoted once more for the shell on the other side. All remote shells are in the process group of a guard,
//          so a key that interrupts mpiexec does not reach them, and they end with mpiexec, however that ends.
// Threads: one. Cost: a fork and two execs.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/status.hpp"
#include "fd.hpp"
#include "signals.hpp"

namespace heddle::launcher {

struct RemoteShell {
  pid_t pid = -1;
  Fd in, out, err;  // our ends of its standard descriptors
};

// ssh without terminal, X11 and questions.
std::string default_remote_shell(int detection_seconds);

// What a shell takes for this one word.
std::string quoted(const std::string& word);

// `group`: the process group to run it in.
Status start_remote_shell(const std::string& command, const std::string& host, const std::string& program, pid_t group,
                          const Signals& signals, RemoteShell& shell);

}  // namespace heddle::launcher
