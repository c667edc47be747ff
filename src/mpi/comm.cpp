#include "mpi/comm.hpp"

#include "base/slab.hpp"
#include "mpi/attribute.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/info.hpp"
#include "mpi/process.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::mpi {
namespace {

SharedSlab<Comm>& comms() {
  static auto* slab = new SharedSlab<Comm>;
  return *slab;
}

}  // namespace

Comm* take_comm(Process& process, Group& group, Address mine) noexcept {
  Comm* comm = comms().take(process, group);
  if (comm != nullptr) {
    comm->address = mine;
  } else {
    process.release_address(mine);
    release(group);
  }
  return comm;
}

void release(Comm& comm) noexcept {
  if (!comm.release()) return;
  comm.retain();  // until the stream has been asked
  {
    LockGuard guard(comm.vci->lock());
    if (comm.stream.receives != 0) {
      comm.stream.closing = true;
      comm.retain();
    }
  }
  close(comm);
}

void close(Comm& comm) noexcept {
  if (comm.release()) destroy(comm);
}

void destroy(Comm& comm) noexcept { comms().give_back(&comm); }

Comm::~Comm() {
  // What is still unexpected can never be received: no handle names the context any more.
  vci->lock().lock();
  vci->matching().purge(address.context + static_cast<std::uint32_t>(Channel::kUser));
  vci->matching().purge(address.context + static_cast<std::uint32_t>(Channel::kCollective));
  vci->lock().unlock();
  process->release_address(address);
  if (errhandler != nullptr) mpi::release(*errhandler);
  if (info != nullptr) mpi::release(*info);
  drop_attributes(attributes);
  mpi::release(*group);
  if (remote_group != nullptr) mpi::release(*remote_group);
}

}  // namespace heddle::mpi
