// The first half of a Node: what is checked and prepared, and the ranks' start.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "boot/launch_facts.hpp"
#include "executable.hpp"
#include "mpi.h"
#include "node.hpp"

namespace heddle::launcher {

void Node::prepare() {
  int code = kFailed;
  if (try_prepare(code)) {
    home_.upstream.ready(home_.index);
  } else {
    home_.upstream.failed(home_.index, code, last_error_detail());
  }
}

Status Node::try_prepare(int& code) {
  code = kUsage;
  HEDDLE_TRY(enter_directory());
  HEDDLE_TRY(find_executables(code));
  code = kUsage;
  HEDDLE_TRY(raise_descriptor_limit());
  HEDDLE_TRY(plan_binding(spec_.binding, spec_.ranks.size(), inherited_cpus(), cpus_));
  code = kFailed;
  HEDDLE_TRY(guard_.start(home_.guard_patience));
  null_ = Fd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!null_.is_open()) return error(MPI_ERR_OTHER, "/dev/null: %s", std::strerror(errno));
  if (!home_.own_input && spec_.ranks.front().number == 0) HEDDLE_TRY(input_.open());
  make_segment();
  return Status::ok();
}

// The same directory as mpiexec's, where programs that do not all name their own depend on it.
Status Node::enter_directory() {
  if (spec_.directory.empty() || chdir(spec_.directory.c_str()) == 0) return Status::ok();
  const int problem = errno;
  const auto names_its_own = [](const Program& p) { return p.directory.starts_with('/'); };
  if (std::ranges::all_of(spec_.programs, names_its_own)) return Status::ok();
  return error(MPI_ERR_ARG, "cannot run in mpiexec's directory '%s': %s; say -wdir DIR for one that is there",
               spec_.directory.c_str(), std::strerror(problem));
}

// Not all ranks can be told of it if it fails, nor need they: they make one among themselves then.
void Node::make_segment() {
  constexpr int kAboveThoseOfShells = 100;
  Fd made(memfd_create("heddle", MFD_CLOEXEC));
  if (!made.is_open()) return;
  fchmod(made.get(), 0600);
  segment_ = Fd(fcntl(made.get(), F_DUPFD_CLOEXEC, kAboveThoseOfShells));
  if (!segment_.is_open()) segment_ = std::move(made);
  pmi_.set_segment(segment_.get());
}

Status Node::find_executables(int& code) {
  paths_.resize(spec_.programs.size());
  for (const NodeSpec::Rank& rank : spec_.ranks) {
    std::string& path = paths_[static_cast<std::size_t>(rank.program)];
    if (!path.empty()) continue;
    HEDDLE_TRY(find_executable(spec_.programs[static_cast<std::size_t>(rank.program)], path, code));
  }
  return Status::ok();
}

// Three descriptors per rank here: output, error output, PMI.
Status Node::raise_descriptor_limit() {
  constexpr rlim_t kOthers = 32;
  getrlimit(RLIMIT_NOFILE, &descriptors_);
  const rlim_t needed = 3 * static_cast<rlim_t>(spec_.ranks.size()) + kOthers;
  if (descriptors_.rlim_cur >= needed) return Status::ok();
  if (descriptors_.rlim_max < needed) {
    return error(
        MPI_ERR_OTHER,
        "%zu ranks need %llu open files in mpiexec, and the limit is %llu; raise it (ulimit -Hn) or start fewer",
        spec_.ranks.size(), static_cast<unsigned long long>(needed),
        static_cast<unsigned long long>(descriptors_.rlim_max));
  }
  rlimit raised = descriptors_;
  raised.rlim_cur = needed;
  setrlimit(RLIMIT_NOFILE, &raised);
  return Status::ok();
}

void Node::start() {
  int code = kFailed;
  const Status status = try_start(code);
  null_.reset();
  segment_.reset();  // from here on it is the ranks' alone, and of what they start before MPI
  if (!status) return home_.upstream.failed(home_.index, code, last_error_detail());
  input_.start();
  if (spec_.size > 1) look_for_stopped();
}

Status Node::try_start(int& code) {
  ranks_.resize(spec_.ranks.size());
  for (std::size_t p = 0; p < spec_.programs.size(); ++p) {
    if (paths_[p].empty()) continue;
    const Program& program = spec_.programs[p];
    Environment environment(spec_, program, boot::cores_of_affinity());
    const std::vector<char*> argv = pointers(program.argv);
    Launch launch = launch_of(program, paths_[p].c_str());
    launch.argv = argv.data();
    for (std::size_t local = 0; local < ranks_.size(); ++local) {
      if (spec_.ranks[local].program != static_cast<int>(p)) continue;
      const Status status = start_rank(local, launch, environment);
      if (status) continue;
      code = status.error_class() == MPI_ERR_NO_SUCH_FILE ? kNotFound : kCannotExecute;
      return status;
    }
  }
  return Status::ok();
}

Launch Node::launch_of(const Program& program, const char* path) const {
  Launch launch;
  launch.path = path;
  launch.directory = program.directory.empty() ? nullptr : program.directory.c_str();
  launch.group = guard_.group();
  launch.segment = segment_.get();
  launch.descriptors = descriptors_;
  launch.signal_mask = home_.signals.original_mask();
  launch.default_signals = home_.signals.default_in_ranks();
  return launch;
}

Status Node::start_rank(std::size_t local, Launch& launch, Environment& environment) {
  const auto [number, program] = spec_.ranks[local];
  int out[2], err[2], pmi[2];
  const auto failed = [&, number = number] {
    return error(MPI_ERR_OTHER, "cannot start rank %d: %s", number, std::strerror(errno));
  };
  if (pipe2(out, O_CLOEXEC) != 0) return failed();
  Fd out_read(out[0]), out_write(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) return failed();
  Fd err_read(err[0]), err_write(err[1]);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pmi) != 0) return failed();
  Fd pmi_here(pmi[0]), pmi_there(pmi[1]);

  const std::vector<char*> variables = pointers(environment.of_rank(number, static_cast<int>(local), pmi_there.get()));
  launch.environment = variables.data();
  launch.in = number != 0 ? null_.get() : home_.own_input ? STDIN_FILENO : input_.rank_end();
  launch.out = out_write.get();
  launch.err = err_write.get();
  launch.pmi = pmi_there.get();
  launch.cpus = cpus_[local].get();
  launch.cpus_bytes = cpus_[local].bytes();
  const Spawned spawned = spawn(launch);
  if (spawned.error != 0) {
    return error(spawned.error == ENOENT ? MPI_ERR_NO_SUCH_FILE : MPI_ERR_OTHER, "cannot start rank %d, '%s': %s: %s%s",
                 number, launch.path, spawned.step, std::strerror(spawned.error),
                 spawned.error == ENOENT ? " (does the interpreter in its first line exist?)" : "");
  }
  Rank& r = ranks_[local];
  r.pid = spawned.pid;
  r.running = true;
  rank_of_pid_[spawned.pid] = local;
  const bool alone = spec_.size == 1;
  r.out = std::make_unique<Stream>(home_.loop, home_.out, number, alone, std::move(out_read));
  r.err = std::make_unique<Stream>(home_.loop, home_.err, number, alone, std::move(err_read));
  home_.upstream.started(number, spawned.pid);
  return pmi_.serve(local, program, std::move(pmi_here));
}

}  // namespace heddle::launcher
