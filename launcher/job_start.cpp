// The first half of a Job: what is checked and prepared, and the ranks' start.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "boot/launch_facts.hpp"
#include "environment.hpp"
#include "executable.hpp"
#include "job.hpp"
#include "mpi.h"

namespace heddle::launcher {

Status Job::prepare(int& code) {
  for (const std::string& note : options_.notes) outputs_.say(note);
  HEDDLE_TRY(find_executables(code));
  code = kUsage;
  HEDDLE_TRY(raise_descriptor_limit());
  HEDDLE_TRY(plan_binding(options_, inherited_cpus(), cpus_));
  code = kFailed;
  HEDDLE_TRY(guard_.start());
  HEDDLE_TRY(loop_.open());
  HEDDLE_TRY(signals_.open(loop_, [this](int signal) { on_signal(signal); }));
  HEDDLE_TRY(input_.open());
  make_segment();
  const auto follow = [this](std::unique_ptr<Stream> Rank::*stream) {
    for (Rank& r : ranks_) {
      if (r.*stream) (r.*stream)->follow_sink();
    }
  };
  outputs_.out().on_room([this, follow] {
    follow(&Rank::out);
    if (&outputs_.out() == &outputs_.err()) follow(&Rank::err);
  });
  if (&outputs_.out() != &outputs_.err()) outputs_.err().on_room([follow] { follow(&Rank::err); });
  return Status::ok();
}

// Not all ranks can be told of it if it fails, nor need they: they make one among themselves then.
void Job::make_segment() {
  constexpr int kAboveThoseOfShells = 100;
  Fd made(memfd_create("heddle", MFD_CLOEXEC));
  if (!made.is_open()) return;
  fchmod(made.get(), 0600);
  segment_ = Fd(fcntl(made.get(), F_DUPFD_CLOEXEC, kAboveThoseOfShells));
  if (!segment_.is_open()) segment_ = std::move(made);
  pmi_.set_segment(segment_.get());
}

Status Job::find_executables(int& code) {
  for (const Program& program : options_.programs) HEDDLE_TRY(find_executable(program, paths_.emplace_back(), code));
  return Status::ok();
}

// Three descriptors per rank here: output, error output, PMI.
Status Job::raise_descriptor_limit() {
  constexpr rlim_t kOthers = 32;
  getrlimit(RLIMIT_NOFILE, &descriptors_);
  const rlim_t needed = 3 * static_cast<rlim_t>(size_) + kOthers;
  if (descriptors_.rlim_cur >= needed) return Status::ok();
  if (descriptors_.rlim_max < needed) {
    return error(
        MPI_ERR_OTHER,
        "%d ranks need %llu open files in mpiexec, and the limit is %llu; raise it (ulimit -Hn) or start fewer", size_,
        static_cast<unsigned long long>(needed), static_cast<unsigned long long>(descriptors_.rlim_max));
  }
  rlimit raised = descriptors_;
  raised.rlim_cur = needed;
  setrlimit(RLIMIT_NOFILE, &raised);
  return Status::ok();
}

Status Job::start_all(int& code) {
  ranks_.resize(static_cast<std::size_t>(size_));
  int first_rank = 0;
  for (std::size_t p = 0; p < options_.programs.size(); ++p) HEDDLE_TRY(start_program(p, first_rank, code));
  segment_.reset();  // from here on it is the ranks' alone, and of what they start before MPI
  input_.start();
  return Status::ok();
}

Status Job::start_program(std::size_t index, int& first_rank, int& code) {
  const Program& program = options_.programs[index];
  Environment environment(options_, program, size_, boot::cores_of_affinity());
  const std::vector<char*> argv = pointers(program.argv);
  Launch launch;
  launch.path = paths_[index].c_str();
  launch.argv = argv.data();
  launch.directory = program.directory.empty() ? nullptr : program.directory.c_str();
  launch.group = guard_.group();
  launch.segment = segment_.get();
  launch.descriptors = descriptors_;
  launch.signal_mask = signals_.original_mask();
  launch.default_signals = signals_.default_in_ranks();
  for (int i = 0; i < program.ranks; ++i, ++first_rank) {
    const Status status = start_rank(first_rank, static_cast<int>(index), launch, environment);
    if (status) continue;
    code = status.error_class() == MPI_ERR_NO_SUCH_FILE ? kNotFound : kCannotExecute;
    return status;
  }
  return Status::ok();
}

Status Job::start_rank(int rank, int appnum, Launch& launch, Environment& environment) {
  int out[2], err[2], pmi[2];
  const auto failed = [&] { return error(MPI_ERR_OTHER, "cannot start rank %d: %s", rank, std::strerror(errno)); };
  if (pipe2(out, O_CLOEXEC) != 0) return failed();
  Fd out_read(out[0]), out_write(out[1]);
  if (pipe2(err, O_CLOEXEC) != 0) return failed();
  Fd err_read(err[0]), err_write(err[1]);
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pmi) != 0) return failed();
  Fd pmi_here(pmi[0]), pmi_there(pmi[1]);

  const std::vector<char*> variables = pointers(environment.of_rank(rank, pmi_there.get()));
  launch.environment = variables.data();
  launch.in = input_.for_rank(rank);
  launch.out = out_write.get();
  launch.err = err_write.get();
  launch.pmi = pmi_there.get();
  launch.cpus = cpus_[rank].get();
  launch.cpus_bytes = cpus_[rank].bytes();
  const Spawned spawned = spawn(launch);
  if (spawned.error != 0) {
    return error(spawned.error == ENOENT ? MPI_ERR_NO_SUCH_FILE : MPI_ERR_OTHER, "cannot start rank %d, '%s': %s: %s%s",
                 rank, launch.path, spawned.step, std::strerror(spawned.error),
                 spawned.error == ENOENT ? " (does the interpreter in its first line exist?)" : "");
  }
  Rank& r = ranks_[rank];
  r.pid = spawned.pid;
  r.running = true;
  rank_of_pid_[spawned.pid] = rank;
  ++running_;
  const bool alone = size_ == 1;
  r.out = std::make_unique<Stream>(loop_, outputs_.out(), rank, alone, std::move(out_read));
  r.err = std::make_unique<Stream>(loop_, outputs_.err(), rank, alone, std::move(err_read));
  return pmi_.serve(rank, appnum, std::move(pmi_here));
}

}  // namespace heddle::launcher
