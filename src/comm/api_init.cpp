#include "comm/api_init.hpp"

#include <cstdlib>
#include <string>
#include <thread>

#include "boot/boot.hpp"
#include "mpi/attribute.hpp"
#include "mpi/control.hpp"
#include "mpi/counts.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/process.hpp"
#include "mpi/state.hpp"
#include "p2p/install.hpp"
#include "vci/domain.hpp"

namespace heddle::api {
namespace {

std::thread::id main_thread;

// Until every message that this process owes somebody has left.
void drain(mpi::Process& process) {
  vci::Domain& domain = process.domain();
  domain.wait(*process.world()->vci, [&] {
    for (std::uint32_t i = 0; i < domain.vci_count(); ++i) {
      if (domain.vci(i).has_busy_lanes()) return false;
    }
    return !domain.has_abandoned();
  });
}

Status start(mpi::Process& process, int threads) {
  Status status;
  std::unique_ptr<boot::Boot> boot = boot::connect(status);
  HEDDLE_TRY(status);
  HEDDLE_TRY(mpi::freeze_controls());
  return process.start(std::move(boot), threads);
}

}  // namespace

Status init(int* argc, char*** argv) {
  int provided;
  return init_thread(argc, argv, MPI_THREAD_SINGLE, &provided);
}

Status init_thread(int*, char***, int required, int* provided) {
  if (required < MPI_THREAD_SINGLE || required > MPI_THREAD_MULTIPLE) {
    return error(MPI_ERR_ARG, "required = %d is no thread level; say MPI_THREAD_SINGLE, ..., MPI_THREAD_MULTIPLE",
                 required);
  }
  if (mpi::initialized()) {
    return error(MPI_ERR_OTHER, mpi::finalized() ? "MPI was finalized in this program and can't be initialized again"
                                                 : "MPI is initialized already; call MPI_Init once");
  }
  auto process = std::make_unique<mpi::Process>();
  if (Status status = start(*process, required); !status) {
    mpi::thaw_controls();
    return status;
  }
  p2p::install(process->domain());
  main_thread = std::this_thread::get_id();
  *provided = required;
  mpi::open_counts(process->domain(), process->contexts());
  mpi::set_process(process.release());
  mpi::set_state(mpi::State::kRunning);
  return Status::ok();
}

Status finalize() {
  mpi::Process* process = mpi::process();
  HEDDLE_TRY(mpi::delete_all_attributes(*process->self()));  // MPI 4.1, 11.2.4: before anything else
  drain(*process);
  mpi::set_state(mpi::State::kFinalized);
  mpi::close_counts();
  const Status status = process->finish();
  mpi::set_process(nullptr);
  delete process;
  return status;
}

Status initialized(int* flag) {
  *flag = mpi::initialized();
  return Status::ok();
}

Status finalized(int* flag) {
  *flag = mpi::finalized();
  return Status::ok();
}

Status query_thread(int* provided) {
  *provided = mpi::process()->threads();
  return Status::ok();
}

Status is_thread_main(int* flag) {
  *flag = std::this_thread::get_id() == main_thread;
  return Status::ok();
}

Status abort(mpi::Comm& comm, int errorcode) {
  boot::Boot& boot = comm.process->boot();
  mpi::flush_output();
  boot.abort(errorcode, "heddle: rank " + std::to_string(boot.rank()) + ": MPI_Abort was called with code " +
                            std::to_string(errorcode));
  std::abort();  // gcc does not see that a virtual function never returns
}

}  // namespace heddle::api
