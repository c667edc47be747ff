#include "mpi/win.hpp"

#include "mpi/attribute.hpp"
#include "mpi/comm.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/info.hpp"

namespace heddle::mpi {

Win::~Win() {
  if (errhandler != nullptr) mpi::release(*errhandler);
  if (info != nullptr) mpi::release(*info);
  drop_attributes(attributes);
  if (comm->win == this) comm->win = nullptr;
  mpi::release(*comm);
}

}  // namespace heddle::mpi
