#include "coll_request.hpp"

#include <new>

#include "call.hpp"

namespace heddle::overlay {

CollRequest::CollRequest(CollComm& comm, const Asked& asked, int tag, bool once)
    : Operation(false, once), comm_(share(comm)), tag_(tag) {
  const Wanted& wanted = asked.wanted;
  job_.prepare(wanted, asked.bytes, comm.plan(wanted.kind, wanted.root, asked.bytes, spare_), comm.rank, comm.size);
}

void CollRequest::start() {
  coll_counts.by_messages.fetch_add(1, std::memory_order_relaxed);
  {
    const std::lock_guard guard(busy_);  // the thread may still look at the run before
    begun_ = false;
    error = MPI_SUCCESS;
    complete.store(false, std::memory_order_relaxed);
    active.store(true, std::memory_order_release);
  }
  if (!poll()) engine().attend_to(*this);
}

bool CollRequest::poll() {
  if (is_complete() || !busy_.try_lock()) return is_complete();
  const std::lock_guard guard(busy_, std::adopt_lock);
  if (is_complete()) return true;
  try {
    if (!begun_) {
      if (!comm_->is_open()) return false;
      if (comm_->refusal() != MPI_SUCCESS) {
        finish(comm_->refusal());
        return true;
      }
      job_.begin(comm_->own(), tag_);
      begun_ = true;
    }
    if (!job_.advance()) return false;
    finish(job_.error());
  } catch (const std::bad_alloc&) {
    finish(MPI_ERR_NO_MEM);
  }
  return true;
}

void CollRequest::describe(MPI_Status* status) const { set_empty_status(status); }

int CollRequest::raise(const char* procedure, int error_class) const {
  return error_class == MPI_ERR_NO_MEM ? no_memory(procedure, comm_->hears())
                                       : conclude_collective(procedure, comm_->hears(), error_class);
}

int CollRequest::misused(const char* procedure, const char* how) const {
  Identity caller;
  caller.handle = comm_->hears();
  return fail(procedure, &caller, MPI_ERR_REQUEST, "a collective operation %s", how);
}

namespace {

int made(std::shared_ptr<CollRequest> request, const char* name, MPI_Comm handle, MPI_Request* out) {
  if (!add_request(*request, out)) return no_memory(name, handle);
  CollRequest& kept = *request;
  kept.keep(std::move(request));
  return MPI_SUCCESS;
}

}  // namespace

int run_nonblocking(CollComm& comm, const char* name, MPI_Comm handle, const Asked& asked, MPI_Request* request) try {
  const int tag = comm.next_tag();  // before anything fails: the others take one
  comm.begin_to_open();
  const auto own = std::make_shared<CollRequest>(comm, asked, tag, true);
  const int rc = made(own, name, handle, request);
  if (rc == MPI_SUCCESS) own->start();
  return rc;
} catch (const std::bad_alloc&) {
  return no_memory(name, handle);
}

int make_persistent(CollComm& comm, int tag, const char* name, MPI_Comm handle, const Asked& asked,
                    MPI_Request* request) try {
  return made(std::make_shared<CollRequest>(comm, asked, tag, false), name, handle, request);
} catch (const std::bad_alloc&) {
  return no_memory(name, handle);
}

}  // namespace heddle::overlay
