#include "comm/life.hpp"

#include <unistd.h>

#include <atomic>
#include <memory>
#include <mutex>

#include "boot/boot.hpp"
#include "mpi/control.hpp"
#include "mpi/counts.hpp"
#include "mpi/file.hpp"
#include "mpi/process.hpp"
#include "mpi/state.hpp"
#include "p2p/install.hpp"
#include "vci/domain.hpp"

namespace heddle::comm {
namespace {

using mpi::Process;

// Guarded by `mutex`, which is not held while anybody waits for another rank, but for the very first user where the ranks
// make their shared memory together: nobody can do anything before that is there.
std::mutex mutex;
bool said_goodbye = false;
pid_t owner = 0;  // a forked child has no part in it

std::atomic<bool> program_ends{false};

Status start(Process& process, int threads) {
  Status status;
  std::unique_ptr<boot::Boot> boot = boot::connect(status);
  HEDDLE_TRY(status);
  HEDDLE_TRY(mpi::freeze_controls());
  HEDDLE_TRY(process.start(std::move(boot), threads));
  p2p::install(process.domain());
  return process.open();
}

Status make_process(int threads) {
  auto process = std::make_unique<Process>();
  if (Status status = start(*process, threads); !status) {
    mpi::thaw_controls();
    return status;
  }
  owner = getpid();
  mpi::set_process(process.release());
  return Status::ok();
}

// Until every message that this process owes somebody has left. Sends that were let go before they were complete may
// have to wait for what other users do.
void drain(Process& process, bool alone) {
  vci::Domain& domain = process.domain();
  domain.wait(*process.own()->vci, [&] {
    if (domain.losses().count() != 0) domain.abandoned().tell_of_loss();  // of one that was being read then
    for (std::uint32_t i = 0; i < domain.vci_count(); ++i) {
      if (domain.vci(i).has_busy_lanes()) return false;
    }
    return !domain.owes() && (!alone || domain.abandoned().empty());
  });
}

// The last user has gone.
Status say_goodbye(Process& process) {
  mpi::library_users.store(0, std::memory_order_release);
  mpi::close_counts();
  mpi::forget_files();
  process.leave();
  // A launcher from which there is no return hears of it when no session can come any more, or when MPI_Finalize has told
  // it all that it waits for.
  if (said_goodbye || !(process.boot().can_rejoin() || mpi::finalized() || program_ends)) return Status::ok();
  said_goodbye = true;
  return process.boot().finalize();
}

Status come_back(Process& process) {
  if (said_goodbye && process.boot().can_rejoin()) {
    HEDDLE_TRY(process.boot().rejoin());
    said_goodbye = false;
  }
  return process.open();
}

void take_down() {
  Process* process = mpi::process();
  mpi::set_process(nullptr);
  if (!said_goodbye) process->boot().finalize().ignore();
  delete process;
}

// Whoever ends the program while a user comes or goes ends it as it stands.
struct AtProgramEnd {
  ~AtProgramEnd() {
    program_ends = true;
    if (owner != getpid() || !mutex.try_lock()) return;
    if (mpi::process() != nullptr && !mpi::running()) take_down();
    mutex.unlock();
  }
} at_program_end;

}  // namespace

Status join(int threads) {
  std::lock_guard lock(mutex);
  if (mpi::process() != nullptr && owner != getpid()) {
    return error(MPI_ERR_OTHER, "this process was forked from one that uses MPI; only that one can go on with it");
  }
  if (mpi::process() == nullptr) {
    HEDDLE_TRY(make_process(threads));
  } else if (!mpi::running()) {
    HEDDLE_TRY(come_back(*mpi::process()));
  }
  Process& process = *mpi::process();
  if (!mpi::running()) mpi::open_counts(process.domain(), process.contexts());
  mpi::library_users.fetch_add(1, std::memory_order_release);
  return Status::ok();
}

Status meet() {
  Process& process = *mpi::process();
  // Peers on other hosts that are past it already may send.
  if (mpi::library_users.load(std::memory_order_relaxed) == 1 && !process.has_fabric()) return process.fence();
  return process.fence([&] { process.domain().progress_once(*process.own()->vci); });
}

Status part() {
  Process& process = *mpi::process();
  if (mpi::library_users.load(std::memory_order_relaxed) == 1) process.domain().set_unlimited(true);
  if (!process.has_fabric()) return Status::ok();
  drain(process, false);
  process.set_all_stay(false);
  return meet();
}

Status leave() {
  Process& process = *mpi::process();
  for (;;) {
    const bool alone = mpi::library_users.load(std::memory_order_relaxed) == 1;
    drain(process, alone);
    std::lock_guard lock(mutex);
    if (mpi::library_users.load(std::memory_order_relaxed) > 1) {
      mpi::library_users.fetch_sub(1, std::memory_order_release);
      return Status::ok();
    }
    if (!alone) continue;  // the others have left meanwhile
    const Status status = say_goodbye(process);
    if (program_ends) take_down();
    return status;
  }
}

}  // namespace heddle::comm
