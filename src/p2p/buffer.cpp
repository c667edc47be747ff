#include "p2p/buffer.hpp"

#include <cstdlib>
#include <mutex>
#include <new>

#include "mpi/process.hpp"
#include "mpi/session.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

MPI_Count charged(BsendAccount& account) {
  std::lock_guard lock(account.mutex);
  return account.charged;
}

void give_back(BsendAccount& account, MPI_Count amount) {
  std::lock_guard lock(account.mutex);
  account.charged -= amount;
}

MPI_Count charge_for(std::size_t bytes) noexcept { return static_cast<MPI_Count>(bytes) + MPI_BSEND_OVERHEAD; }

struct Attached {
  BsendAccount* account;
  const char* whose;
};

// The buffer of the communicator, or, if that has none, of its session, or of the process.
Attached attached_to(const Comm& comm) {
  const auto has_one = [](BsendAccount& a) {
    std::lock_guard lock(a.mutex);
    return a.attached;
  };
  BsendAccount* of_comm = comm.bsend_account.load(std::memory_order_acquire);
  if (of_comm != nullptr && has_one(*of_comm)) return {of_comm, "the communicator"};
  mpi::Session* session = comm.group->session;
  if (session != nullptr && has_one(session->bsend_account)) return {&session->bsend_account, "the session"};
  BsendAccount& of_process = comm.process->bsend_account();
  return {has_one(of_process) ? &of_process : nullptr, "the process"};
}

Status no_buffer() {
  return error(
      MPI_ERR_BUFFER,
      "no buffer is attached; call MPI_Buffer_attach, MPI_Comm_attach_buffer or MPI_Session_attach_buffer before "
      "a buffered send");
}

Status no_room(const BsendAccount& a, std::size_t bytes, const char* whose, MPI_Count left) {
  return error(MPI_ERR_BUFFER,
               "a buffered send of %zu bytes needs %lld bytes of the buffer attached to %s, which has %lld of %lld "
               "left; attach a larger one or receive sooner",
               bytes, static_cast<long long>(charge_for(bytes)), whose, static_cast<long long>(left),
               static_cast<long long>(a.size));
}

Status charge(const Attached& to, std::size_t bytes) {
  BsendAccount& a = *to.account;
  std::lock_guard lock(a.mutex);
  if (!a.automatic && a.charged + charge_for(bytes) > a.size) return no_room(a, bytes, to.whose, a.size - a.charged);
  a.charged += charge_for(bytes);
  return Status::ok();
}

// The message moves to memory of its own, for which an account was charged.
Status copy_charged(SendRequest& request) noexcept {
  const std::size_t bytes = request.cursor.total();
  request.copy = std::malloc(bytes == 0 ? 1 : bytes);
  if (request.copy == nullptr) {
    give_back(*request.charged, charge_for(bytes));
    return error(MPI_ERR_NO_MEM, "no memory to buffer a send of %zu bytes", bytes);
  }
  request.cursor.seek(0);
  request.cursor.pack(static_cast<std::byte*>(request.copy), bytes);
  request.cursor.init(mpi::byte_type(), static_cast<MPI_Count>(bytes), request.copy);
  return Status::ok();
}

// MPI_Buffer_iflush and MPI_Comm_iflush_buffer. What is buffered after it was made counts too, which only makes it later.
struct FlushRequest : Request, Task {
  FlushRequest(Comm& c, BsendAccount& a);
  ~FlushRequest() { mpi::release(*comm); }

  BsendAccount& account;
};

void destroy_flush(Request& request) { request.vci->destroy(static_cast<FlushRequest*>(&request)); }
constexpr mpi::RequestType kFlushType{nullptr, nullptr, destroy_flush};

bool step_flush(Task& task) {
  auto& flush = static_cast<FlushRequest&>(task);
  if (charged(flush.account) != 0) return false;
  finish(flush);
  return true;
}

FlushRequest::FlushRequest(Comm& c, BsendAccount& a) : Request(kFlushType), account(a) {
  step = step_flush;
  comm = &c;
  vci = c.vci;
  c.retain();
}

}  // namespace

BsendAccount* account_of(Comm& comm) noexcept {
  BsendAccount* account = comm.bsend_account.load(std::memory_order_acquire);
  if (account != nullptr) return account;
  auto* made = new (std::nothrow) BsendAccount;
  if (made == nullptr || comm.bsend_account.compare_exchange_strong(account, made, std::memory_order_acq_rel))
    return made;
  delete made;  // another thread's was first
  return account;
}

mpi::Request* iflush_buffer(Comm& comm, BsendAccount& account) noexcept {
  auto* request = comm.vci->make<FlushRequest>(comm, account);
  if (request != nullptr) add_task(comm, *request);
  return request;
}

Status attach_buffer(BsendAccount& a, void* buffer, MPI_Count size) {
  std::lock_guard lock(a.mutex);
  if (a.attached) return error(MPI_ERR_BUFFER, "a buffer is attached already; detach it first");
  if (buffer == MPI_IN_PLACE || (buffer == nullptr && size != 0)) {
    return error(MPI_ERR_BUFFER, "buffer is %s; give the address of %lld bytes, or MPI_BUFFER_AUTOMATIC",
                 buffer == nullptr ? "null" : "MPI_IN_PLACE", static_cast<long long>(size));
  }
  a.automatic = buffer == MPI_BUFFER_AUTOMATIC;
  a.buffer = buffer;
  a.size = a.automatic ? 0 : size;
  a.attached = true;
  return Status::ok();
}

void flush_buffer(Comm& comm, BsendAccount& account) {
  comm.process->domain().wait(*comm.vci, [&account] { return charged(account) == 0; });
}

Status detach_buffer(Comm& comm, BsendAccount& a, void* buffer_address, MPI_Count* size) {
  flush_buffer(comm, a);
  std::lock_guard lock(a.mutex);
  if (!a.attached) return error(MPI_ERR_BUFFER, "no buffer is attached");
  *static_cast<void**>(buffer_address) = a.buffer;
  *size = a.size;
  a.attached = false;
  a.buffer = nullptr;
  a.size = 0;
  return Status::ok();
}

Status check_buffer(const Comm& comm, std::size_t bytes) noexcept {
  const Attached to = attached_to(comm);
  if (to.account == nullptr) return no_buffer();
  std::lock_guard lock(to.account->mutex);
  if (to.account->automatic || charge_for(bytes) <= to.account->size) return Status::ok();
  return no_room(*to.account, bytes, to.whose, to.account->size);
}

Status take_copy(SendRequest& request) noexcept {
  const Attached to = attached_to(*request.comm);
  if (to.account == nullptr) return no_buffer();  // it was detached meanwhile
  HEDDLE_TRY(charge(to, request.cursor.total()));
  request.charged = to.account;
  return copy_charged(request);
}

bool keep_copy(SendRequest& request) noexcept {
  LockGuard guard(request.lane->lock());
  if (!request.lane->is_kept_at_home(request) || request.streaming || request.copy != nullptr) return false;
  BsendAccount& account = request.comm->process->kept_sends();
  if (!charge({&account, "the library"}, request.cursor.total())) return false;
  request.charged = &account;
  return copy_charged(request).is_ok();
}

void release_copy(SendRequest& request) noexcept {
  if (request.copy == nullptr) return;
  std::free(request.copy);
  request.copy = nullptr;
  give_back(*request.charged, charge_for(request.cursor.total()));
  request.vci->wake_waiters();  // of which one may wait for room
}

}  // namespace heddle::p2p
