#include "p2p/generalized.hpp"

#include "base/slab.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"
#include "mpi/status.hpp"
#include "p2p/api.hpp"
#include "p2p/completion.hpp"
#include "p2p/ownership.hpp"
#include "p2p/p2p.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {
namespace {

struct Generalized : mpi::Request {
  Generalized(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
              MPI_Grequest_cancel_function* cancel, void* state) noexcept
      : Request(kGeneralizedType), query_fn(query), free_fn(free), cancel_fn(cancel), extra_state(state) {
    vci = mpi::process()->own()->vci;
  }

  MPI_Grequest_query_function* query_fn;
  MPI_Grequest_free_function* free_fn;
  MPI_Grequest_cancel_function* cancel_fn;
  void* extra_state;
};

constinit SharedSlab<Generalized, 8> generalized_requests;

Generalized& as_generalized(mpi::Request& request) noexcept { return static_cast<Generalized&>(request); }

void destroy_generalized(mpi::Request& request) { generalized_requests.give_back(&as_generalized(request)); }

// Not is_complete(): one that its owner has let go may be neither, and is named by a copy of its handle (13.2).
bool was_completed(const mpi::Request& request) noexcept {
  return request.complete.load(std::memory_order_acquire) == Ownership<>::kComplete;
}

// Codes of the program's own have no sentence; an older one of this thread must not be taken for it.
Status of_code(int code) noexcept { return code == MPI_SUCCESS ? Status::ok() : error(code, "%s", ""); }

// The last act: free_fn, then the request goes.
Status end(mpi::Request& request) {
  Generalized& g = as_generalized(request);
  const Status freed = of_code(g.free_fn(g.extra_state));
  destroy(&request);
  return freed;
}

}  // namespace

const mpi::RequestType kGeneralizedType{nullptr, nullptr, destroy_generalized};

Status query_generalized(mpi::Request& request) {
  Generalized& g = as_generalized(request);
  MPI_Status status;
  set_empty(&status);
  g.error = g.query_fn(g.extra_state, &status);
  g.source = status.MPI_SOURCE;
  g.tag = status.MPI_TAG;
  g.bytes = mpi::status_bytes(status);
  g.cancelled = mpi::status_cancelled(status);
  return of_code(g.error);
}

void settle_generalized(mpi::Request& request) {
  query_generalized(request).ignore();
  Generalized& g = as_generalized(request);
  const int freed = g.free_fn(g.extra_state);
  if (freed != MPI_SUCCESS) g.error = freed;  // the last callback's code counts; but a failure of query_fn is not lost
}

Status free_generalized(mpi::Request& request) {
  return Ownership<>::abandon(request.complete) ? Status::ok() : end(request);
}

Status cancel_generalized(mpi::Request& request) {
  Generalized& g = as_generalized(request);
  return of_code(g.cancel_fn(g.extra_state, was_completed(g)));
}

}  // namespace heddle::p2p

namespace heddle::api {

using p2p::Ownership;

Status grequest_start(MPI_Grequest_query_function* query, MPI_Grequest_free_function* free,
                      MPI_Grequest_cancel_function* cancel, void* extra_state, MPI_Request* request) {
  mpi::Request* made = p2p::generalized_requests.take(query, free, cancel, extra_state);
  return mpi::hand_out(made, request, "a generalized request");
}

Status grequest_complete(MPI_Request handle) {
  mpi::Request& request = *mpi::from_handle(handle);
  if (!p2p::is_generalized(request)) {
    return error(MPI_ERR_REQUEST, "the request was not made by MPI_Grequest_start; the library completes it by itself");
  }
  if (p2p::was_completed(request)) {
    return error(MPI_ERR_REQUEST, "MPI_Grequest_complete was called for this request before");
  }
  vci::Vci& vci = *request.vci;
  if (Ownership<>::complete(request.complete) == Ownership<>::kAbandoned) return p2p::end(request);
  vci.wake_waiters();  // the request may be gone
  return Status::ok();
}

}  // namespace heddle::api
