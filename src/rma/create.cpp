// MPI_Win_create and its kin: each says what it wants as a Wish.
#include <cstring>

#include "mpi/handle.hpp"
#include "mpi/info.hpp"
#include "mpi/win.hpp"
#include "rma/api.hpp"
#include "rma/make.hpp"

namespace heddle::api {
namespace {

bool is_contiguous(mpi::Info* info) {
  return info == nullptr || info->get("alloc_shared_noncontig").value_or("false") != "true";
}

Status allocate(rma::Wish wish, mpi::Comm& comm, void* baseptr, MPI_Win* win) {
  HEDDLE_TRY(rma::make_window(comm, wish, win));
  std::memcpy(baseptr, &mpi::from_handle(*win)->base, sizeof(void*));
  return Status::ok();
}

}  // namespace

Status win_create(void* base, MPI_Aint size, MPI_Aint disp_unit, mpi::Info* info, mpi::Comm& comm, MPI_Win* win) {
  return rma::make_window(comm, {MPI_WIN_FLAVOR_CREATE, base, size, static_cast<int>(disp_unit), info}, win);
}

Status win_create_dynamic(mpi::Info* info, mpi::Comm& comm, MPI_Win* win) {
  return rma::make_window(comm, {MPI_WIN_FLAVOR_DYNAMIC, nullptr, 0, 1, info}, win);
}

Status win_allocate(MPI_Aint size, MPI_Aint disp_unit, mpi::Info* info, mpi::Comm& comm, void* baseptr, MPI_Win* win) {
  return allocate({MPI_WIN_FLAVOR_ALLOCATE, nullptr, size, static_cast<int>(disp_unit), info}, comm, baseptr, win);
}

Status win_allocate_shared(MPI_Aint size, MPI_Aint disp_unit, mpi::Info* info, mpi::Comm& comm, void* baseptr,
                           MPI_Win* win) {
  return allocate({MPI_WIN_FLAVOR_SHARED, nullptr, size, static_cast<int>(disp_unit), info, is_contiguous(info)}, comm,
                  baseptr, win);
}

}  // namespace heddle::api
