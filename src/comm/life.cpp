#include "comm/life.hpp"

#include <unistd.h>

#include <memory>
#include <mutex>
#include <utility>

#include "boot/boot.hpp"
#include "mpi/control.hpp"
#include "mpi/counts.hpp"
#include "mpi/process.hpp"
#include "mpi/state.hpp"
#include "p2p/install.hpp"
#include "vci/domain.hpp"

namespace heddle::comm {
namespace {

using mpi::Process;

// What is guarded by `mutex`.
std::mutex mutex;
bool said_goodbye = false;
bool program_ends = false;
pid_t owner = 0;  // a forked child has no part in it

Status start(Process& process, int threads) {
  Status status;
  std::unique_ptr<boot::Boot> boot = boot::connect(status);
  HEDDLE_TRY(status);
  HEDDLE_TRY(mpi::freeze_controls());
  return process.start(std::move(boot), threads);
}

Status make_process(int threads) {
  auto process = std::make_unique<Process>();
  if (Status status = start(*process, threads); !status) {
    mpi::thaw_controls();
    return status;
  }
  p2p::install(process->domain());
  owner = getpid();
  mpi::set_process(process.release());
  return Status::ok();
}

// Until every message that this process owes somebody has left. Sends that were let go before they were complete may
// have to wait for what other users do.
void drain(Process& process, bool alone) {
  vci::Domain& domain = process.domain();
  domain.wait(*process.own()->vci, [&] {
    for (std::uint32_t i = 0; i < domain.vci_count(); ++i) {
      if (domain.vci(i).has_busy_lanes()) return false;
    }
    return !alone || !domain.has_abandoned();
  });
}

void take_down() {
  Process* process = mpi::process();
  mpi::set_process(nullptr);
  delete process;
}

struct AtProgramEnd {
  ~AtProgramEnd() {
    std::lock_guard lock(mutex);
    program_ends = true;
    if (owner == getpid() && mpi::process() != nullptr && !mpi::running()) take_down();
  }
} at_program_end;

}  // namespace

Status join(int threads) {
  std::lock_guard lock(mutex);
  Process* process = mpi::process();
  if (process == nullptr) {
    HEDDLE_TRY(make_process(threads));
    process = mpi::process();
  } else if (!mpi::running()) {
    process->set_away(false);
  }
  if (!mpi::running()) mpi::open_counts(process->domain(), process->contexts());
  mpi::library_users.fetch_add(1, std::memory_order_release);
  return Status::ok();
}

Status meet() {
  std::lock_guard lock(mutex);
  if (said_goodbye) return Status::ok();
  Process& process = *mpi::process();
  if (mpi::library_users.load(std::memory_order_relaxed) == 1) return process.boot().fence();
  return process.boot().fence([&] { process.domain().progress_once(*process.own()->vci); });
}

Status leave() {
  Process& process = *mpi::process();
  drain(process, false);
  std::lock_guard lock(mutex);
  if (mpi::library_users.load(std::memory_order_relaxed) > 1) {
    mpi::library_users.fetch_sub(1, std::memory_order_release);
    return Status::ok();
  }
  drain(process, true);
  mpi::library_users.store(0, std::memory_order_release);
  mpi::close_counts();
  process.set_away(true);
  Status status;
  if (!std::exchange(said_goodbye, true)) status = process.boot().finalize();
  if (program_ends) take_down();
  return status;
}

}  // namespace heddle::comm
