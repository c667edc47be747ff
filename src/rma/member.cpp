// What a window that is there tells of its members, and its end.
#include <cstring>

#include "coll/api.hpp"
#include "comm/api_comm.hpp"
#include "mpi/attribute.hpp"
#include "mpi/handle.hpp"
#include "rma/active.hpp"
#include "rma/api.hpp"
#include "rma/backlog.hpp"
#include "rma/remote.hpp"
#include "rma/window.hpp"

namespace heddle::api {

using rma::as_window;
using rma::Window;

// MPI 5.0, 12.2.6: of memory that is not shared with this process there are 0 bytes at a null pointer.
Status win_shared_query(mpi::Win& win, int rank, MPI_Aint* size, MPI_Aint* disp_unit, void* baseptr) {
  Window& window = as_window(win);
  if (window.flavor == MPI_WIN_FLAVOR_DYNAMIC) {
    return error(MPI_ERR_RMA_FLAVOR, "a window of MPI_Win_create_dynamic has no memory of its own to ask for");
  }
  int of = rank;
  for (int i = 0; rank == MPI_PROC_NULL && i < window.comm->size && of == MPI_PROC_NULL; ++i) {
    if (window.target(i).card.size != 0) of = i;
  }
  std::byte* base = nullptr;
  *size = 0;
  *disp_unit = 1;
  if (of != MPI_PROC_NULL) {
    rma::Target& target = window.target(of);
    *disp_unit = target.card.disp_unit;
    const bool is_shared = window.is_allocated() ? target.is_direct() : of == window.comm->rank;
    if (is_shared) {
      HEDDLE_TRY(rma::map_target(window, target, &base));
      *size = static_cast<MPI_Aint>(target.card.size);
    }
  }
  std::memcpy(baseptr, &base, sizeof base);
  return Status::ok();
}

Status win_free(MPI_Win* handle) {
  Window& window = as_window(*mpi::from_handle(*handle));
  if (window.is_started || window.is_posted || window.all.load() || window.locks.load() != 0) {
    return error(MPI_ERR_RMA_SYNC, "the window is freed in the middle of an epoch; end it first");
  }
  HEDDLE_TRY(mpi::delete_all_attributes(window));
  const Status flushed = rma::flush_all(window);
  rma::let_go_of_backlogs(window);
  HEDDLE_TRY(barrier(*window.comm));
  window.queue.drain();
  rma::conceal_memory(window);
  window.mark_dead();
  *handle = MPI_WIN_NULL;
  // Who has left the first one knows that all came there; who leaves this one, that all have left the first. A loss may part them.
  const bool all_have_left = window.is_allocated() && barrier(*window.comm).is_ok();
  rma::give_back(window, all_have_left);
  return flushed;
}

Status win_get_group(mpi::Win& win, MPI_Group* group) { return comm_group(*win.comm, group); }

}  // namespace heddle::api
