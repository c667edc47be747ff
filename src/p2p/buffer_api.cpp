// Attaching, detaching and flushing the buffers of buffered sends: the process's, those of communicators and of sessions.
#include "mpi/handle.hpp"
#include "mpi/process.hpp"
#include "p2p/api.hpp"
#include "p2p/buffer.hpp"

namespace heddle::api {
namespace {

using mpi::BsendAccount;

// For what belongs to no communicator.
Comm& own() { return *mpi::process()->own(); }
BsendAccount& account_of_process() { return mpi::process()->bsend_account(); }

Status no_account() { return error(MPI_ERR_NO_MEM, "no memory to account for the buffer of a communicator"); }

Status iflush(Comm& comm, BsendAccount& account, MPI_Request* request) {
  return mpi::hand_out(p2p::iflush_buffer(comm, account), request, "the request of a flush");
}

}  // namespace

Status buffer_attach(void* buffer, MPI_Count size) { return p2p::attach_buffer(account_of_process(), buffer, size); }
Status buffer_detach(void* buffer_addr, MPI_Count* size) {
  return p2p::detach_buffer(own(), account_of_process(), buffer_addr, size);
}
Status buffer_flush() {
  p2p::flush_buffer(own(), account_of_process());
  return Status::ok();
}
Status buffer_iflush(MPI_Request* request) { return iflush(own(), account_of_process(), request); }

Status comm_attach_buffer(Comm& comm, void* buffer, MPI_Count size) {
  BsendAccount* account = p2p::account_of(comm);
  return account != nullptr ? p2p::attach_buffer(*account, buffer, size) : no_account();
}
Status comm_detach_buffer(Comm& comm, void* buffer_addr, MPI_Count* size) {
  BsendAccount* account = p2p::account_of(comm);
  return account != nullptr ? p2p::detach_buffer(comm, *account, buffer_addr, size) : no_account();
}
Status comm_flush_buffer(Comm& comm) {
  BsendAccount* account = p2p::account_of(comm);
  if (account == nullptr) return no_account();
  p2p::flush_buffer(comm, *account);
  return Status::ok();
}
Status comm_iflush_buffer(Comm& comm, MPI_Request* request) {
  BsendAccount* account = p2p::account_of(comm);
  return account != nullptr ? iflush(comm, *account, request) : no_account();
}

Status session_attach_buffer(mpi::Session& session, void* buffer, MPI_Count size) {
  return p2p::attach_buffer(session.bsend_account, buffer, size);
}
Status session_detach_buffer(mpi::Session& session, void* buffer_addr, MPI_Count* size) {
  return p2p::detach_buffer(own(), session.bsend_account, buffer_addr, size);
}
Status session_flush_buffer(mpi::Session& session) {
  p2p::flush_buffer(own(), session.bsend_account);
  return Status::ok();
}
Status session_iflush_buffer(mpi::Session& session, MPI_Request* request) {
  return iflush(own(), session.bsend_account, request);
}

}  // namespace heddle::api
