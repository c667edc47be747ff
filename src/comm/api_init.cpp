#include "comm/api_init.hpp"

#include <cstdlib>
#include <string>
#include <thread>

#include "boot/boot.hpp"
#include "comm/life.hpp"
#include "mpi/attribute.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/process.hpp"
#include "mpi/state.hpp"

namespace heddle::api {
namespace {

std::thread::id main_thread;

// For what belongs to the world model while sessions are open.
Status check_world(const char* procedure) {
  if (mpi::world() == mpi::World::kOpen) return Status::ok();
  return error(MPI_ERR_OTHER, "%s was called %s; sessions have MPI_Session_finalize and MPI_Session_get_info",
               procedure, mpi::finalized() ? "after MPI_Finalize" : "without MPI_Init");
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
  HEDDLE_TRY(comm::join(required));
  mpi::Process& process = *mpi::process();
  Status status = process.open_world(required);
  if (status) status = comm::meet();
  if (!status) {
    comm::leave().ignore();
    return status;
  }
  for (mpi::Comm* comm : {process.world(), process.self()}) mpi::set_errhandler(*comm, mpi::initial_errhandler());
  process.set_all_stay(true);
  process.tell(boot::Phase::kRunning);
  main_thread = std::this_thread::get_id();
  *provided = required;
  mpi::publish_world(&process);
  mpi::world_state.store(mpi::World::kOpen, std::memory_order_release);
  return Status::ok();
}

Status finalize() {
  HEDDLE_TRY(check_world("MPI_Finalize"));
  mpi::process()->tell(boot::Phase::kFinalize);
  HEDDLE_TRY(mpi::delete_all_attributes(*mpi::process()->self()));  // MPI 4.1, 11.2.4: before anything else
  mpi::world_state.store(mpi::World::kFinalized, std::memory_order_release);
  mpi::publish_world(nullptr);
  const Status parted = comm::part();
  const Status left = comm::leave();
  return parted ? left : parted;
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
  HEDDLE_TRY(check_world("MPI_Query_thread"));
  *provided = mpi::process()->world_threads();
  return Status::ok();
}

Status is_thread_main(int* flag) {
  HEDDLE_TRY(check_world("MPI_Is_thread_main"));
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
