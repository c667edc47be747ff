#include "p2p/buffer.hpp"

#include <cstdlib>
#include <mutex>

#include "mpi/process.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

using Account = mpi::BsendAccount;

MPI_Count charged(mpi::Process& process) {
  std::lock_guard lock(process.bsend_account().mutex);
  return process.bsend_account().charged;
}

void give_back(const SendRequest& request) {
  Account& a = request.comm->process->bsend_account();
  std::lock_guard lock(a.mutex);
  a.charged -= static_cast<MPI_Count>(request.copy_bytes) + MPI_BSEND_OVERHEAD;
}

// MPI_Buffer_iflush. What is buffered after it was made counts too, which only makes it later.
struct FlushRequest : Request, Task {
  explicit FlushRequest(Comm& c);
  ~FlushRequest() { mpi::release(*comm); }
};

void destroy_flush(Request& request) { request.vci->destroy(static_cast<FlushRequest*>(&request)); }
constexpr mpi::RequestType kFlushType{nullptr, nullptr, destroy_flush};

bool step_flush(Task& task) {
  auto& flush = static_cast<FlushRequest&>(task);
  if (charged(*flush.comm->process) != 0) return false;
  finish(flush);
  return true;
}

FlushRequest::FlushRequest(Comm& c) : Request(kFlushType) {
  step = step_flush;
  comm = &c;
  vci = c.vci;
  c.retain();
}

}  // namespace

mpi::Request* iflush_buffer(mpi::Comm& comm) noexcept {
  auto* request = comm.vci->make<FlushRequest>(comm);
  if (request != nullptr) add_task(comm, *request);
  return request;
}

Status attach_buffer(mpi::Process& process, void* buffer, MPI_Count size) {
  Account& a = process.bsend_account();
  std::lock_guard lock(a.mutex);
  if (a.attached) return error(MPI_ERR_BUFFER, "a buffer is attached already; detach it first");
  a.automatic = buffer == MPI_BUFFER_AUTOMATIC;
  a.buffer = buffer;
  a.size = a.automatic ? 0 : size;
  a.attached = true;
  return Status::ok();
}

void flush_buffer(mpi::Process& process) {
  process.domain().wait(*process.world()->vci, [&process] { return charged(process) == 0; });
}

Status detach_buffer(mpi::Process& process, void* buffer_address, MPI_Count* size) {
  flush_buffer(process);
  Account& a = process.bsend_account();
  std::lock_guard lock(a.mutex);
  if (!a.attached) return error(MPI_ERR_BUFFER, "no buffer is attached");
  *static_cast<void**>(buffer_address) = a.buffer;
  *size = a.size;
  a.attached = false;
  a.buffer = nullptr;
  a.size = 0;
  return Status::ok();
}

Status take_copy(SendRequest& request) noexcept {
  const std::size_t bytes = request.cursor.total();
  const auto charge = static_cast<MPI_Count>(bytes) + MPI_BSEND_OVERHEAD;
  {
    Account& a = request.comm->process->bsend_account();
    std::lock_guard lock(a.mutex);
    if (!a.attached)
      return error(MPI_ERR_BUFFER, "no buffer is attached; call MPI_Buffer_attach before a buffered send");
    if (!a.automatic && a.charged + charge > a.size) {
      return error(MPI_ERR_BUFFER,
                   "a buffered send of %zu bytes needs %lld bytes of the attached buffer, which has %lld of %lld left; "
                   "attach a larger one (MPI_Buffer_attach) or receive sooner",
                   bytes, static_cast<long long>(charge), static_cast<long long>(a.size - a.charged),
                   static_cast<long long>(a.size));
    }
    a.charged += charge;
  }
  request.copy = std::malloc(bytes == 0 ? 1 : bytes);
  request.copy_bytes = bytes;
  if (request.copy == nullptr) {
    give_back(request);
    return error(MPI_ERR_NO_MEM, "no memory to buffer a send of %zu bytes", bytes);
  }
  request.cursor.pack(static_cast<std::byte*>(request.copy), bytes);
  request.cursor.init(mpi::byte_type(), static_cast<MPI_Count>(bytes), request.copy);
  return Status::ok();
}

void release_copy(SendRequest& request) noexcept {
  if (request.copy == nullptr) return;
  std::free(request.copy);
  request.copy = nullptr;
  give_back(request);
}

}  // namespace heddle::p2p
