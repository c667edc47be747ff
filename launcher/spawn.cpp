#include "spawn.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>

namespace heddle::launcher {
namespace {

struct Failure {
  volatile int error = 0;
  const char* volatile step = "";
};

// Runs in mpiexec's memory: no allocation, no libc state, no return.
class Child {
 public:
  Child(const Launch& launch, char* const* shell_argv, pid_t parent, Failure& failure)
      : launch_(launch), shell_argv_(shell_argv), parent_(parent), failure_(failure) {}

  [[noreturn]] void run() {
    must(setpgid(0, launch_.group), "joining the job's process group");
    must(prctl(PR_SET_PDEATHSIG, SIGKILL), "prctl");
    if (getppid() != parent_) _exit(127);  // mpiexec died before the line above
    if (launch_.directory != nullptr) must(chdir(launch_.directory), "changing to its directory");
    if (launch_.cpus != nullptr) must(sched_setaffinity(0, launch_.cpus_bytes, launch_.cpus), "binding");
    set_up_descriptors();
    setrlimit(RLIMIT_NOFILE, &launch_.descriptors);
    for (const int s : launch_.default_signals) signal(s, SIG_DFL);
    sigprocmask(SIG_SETMASK, &launch_.signal_mask, nullptr);
    execve(launch_.path, launch_.argv, launch_.environment);
    if (errno == ENOEXEC) execve(shell_argv_[0], shell_argv_, launch_.environment);  // a script without #!
    fail("starting the program");
  }

 private:
  void set_up_descriptors() {
    // Sources are close-on-exec and above 2 (main.cpp sees to that), except for an `in` that already is 0.
    if (launch_.in != 0) must(dup2(launch_.in, 0), "dup2");
    must(dup2(launch_.out, 1), "dup2");
    must(dup2(launch_.err, 2), "dup2");
    must(fcntl(launch_.pmi, F_SETFD, 0), "fcntl");
    if (launch_.segment >= 0) must(fcntl(launch_.segment, F_SETFD, 0), "fcntl");
  }
  void must(int result, const char* step) {
    if (result < 0) fail(step);
  }
  [[noreturn]] void fail(const char* step) {
    failure_.error = errno;
    failure_.step = step;
    _exit(127);
  }

  const Launch& launch_;
  char* const* const shell_argv_;
  const pid_t parent_;
  Failure& failure_;
};

}  // namespace

Spawned spawn(const Launch& launch) {
  std::vector<char*> shell_argv = {const_cast<char*>("/bin/sh"), const_cast<char*>(launch.path)};
  for (char* const* a = launch.argv + 1; *a != nullptr; ++a) shell_argv.push_back(*a);
  shell_argv.push_back(nullptr);
  Failure failure;
  Child child(launch, shell_argv.data(), getpid(), failure);
  const pid_t pid = vfork();
  if (pid == 0) child.run();
  if (pid < 0) return {-1, errno, "vfork"};
  // A child that failed is left for the caller's waitpid; its pid is of no use to anyone.
  return {failure.error == 0 ? pid : -1, failure.error, failure.step};
}

std::vector<char*> pointers(const std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (const std::string& s : strings) result.push_back(const_cast<char*>(s.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace heddle::launcher
