#include "p2p/completion.hpp"

#include "mpi/handle.hpp"
#include "mpi/status.hpp"
#include "p2p/api.hpp"
#include "p2p/install.hpp"
#include "p2p/p2p.hpp"
#include "vci/domain.hpp"
#include "vci/vci.hpp"

namespace heddle::p2p {

void set_empty(MPI_Status* status) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  status->MPI_ERROR = MPI_SUCCESS;
  mpi::set_status_bytes(*status, 0);
  mpi::set_status_cancelled(*status, false);
}

void fill_status(const mpi::Request& request, MPI_Status* status) noexcept {
  if (status == MPI_STATUS_IGNORE) return;
  status->MPI_SOURCE = request.source;
  status->MPI_TAG = request.tag;
  mpi::set_status_bytes(*status, request.bytes);
  mpi::set_status_cancelled(*status, request.cancelled);
}

int consume(MPI_Request* handle, mpi::Request& request, MPI_Status* status) noexcept {
  fill_status(request, status);
  const int error = request.error;
  if (request.persistent) {
    request.active = false;
  } else {
    *handle = MPI_REQUEST_NULL;
    destroy(&request);
  }
  return error;
}

}  // namespace heddle::p2p

namespace heddle::api {
namespace {

using mpi::Request;

MPI_Status* at(MPI_Status* statuses, int i) noexcept {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : statuses + i;
}

Status check(const MPI_Request requests[], int count) {
  for (int i = 0; i < count; ++i) {
    if (requests[i] != MPI_REQUEST_NULL && mpi::from_handle(requests[i]) == nullptr) {
      return error(MPI_ERR_REQUEST, "request %d of %d is no live request; was it completed or freed before?", i, count);
    }
  }
  return Status::ok();
}

Request* first_active(const MPI_Request requests[], int count) noexcept {
  for (int i = 0; i < count; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    if (p2p::is_active(request)) return request;
  }
  return nullptr;
}

// The first active request that is complete, from `from` on; -1 when there is none.
int find_complete(const MPI_Request requests[], int count, int from = 0) noexcept {
  for (int i = from; i < count; ++i) {
    const Request* request = mpi::from_handle(requests[i]);
    if (p2p::is_active(request) && request->is_complete()) return i;
  }
  return -1;
}

// Consumes every complete request, or all inactive ones as empty, and reports as MPI_Waitall does (MPI 4.1, 3.7.5).
// REQUIRES: all active requests are complete.
Status consume_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
  bool failed = false;
  for (int i = 0; i < count; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    MPI_Status* status = at(statuses, i);
    int outcome = MPI_SUCCESS;
    if (p2p::is_active(request)) {
      outcome = p2p::consume(&requests[i], *request, status);
    } else {
      p2p::set_empty(status);
    }
    failed |= outcome != MPI_SUCCESS;
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = outcome;
  }
  return failed ? Status::of_class(MPI_ERR_IN_STATUS) : Status::ok();
}

Status consume_some(int count, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  bool failed = false;
  int found = 0;
  for (int i = find_complete(requests, count); i >= 0; i = find_complete(requests, count, i + 1)) {
    MPI_Status* status = at(statuses, found);
    indices[found++] = i;
    const int outcome = p2p::consume(&requests[i], *mpi::from_handle(requests[i]), status);
    failed |= outcome != MPI_SUCCESS;
    if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = outcome;
  }
  *outcount = found;
  return failed ? Status::of_class(MPI_ERR_IN_STATUS) : Status::ok();
}

void wait_for_one(const MPI_Request requests[], int count, Request& first) {
  if (find_complete(requests, count) >= 0) return;  // the request that is complete from birth has no VCI
  first.vci->domain().wait(*first.vci, [=] { return find_complete(requests, count) >= 0; });
}

}  // namespace

Status wait(MPI_Request* handle, MPI_Status* status) {
  if (*handle == MPI_REQUEST_NULL) {
    p2p::set_empty(status);
    return Status::ok();
  }
  Request* request = mpi::from_handle(*handle);
  if (request == nullptr) return error(MPI_ERR_REQUEST, "no live request; was it completed or freed before?");
  if (!request->active) {
    p2p::set_empty(status);
    return Status::ok();
  }
  p2p::wait(*request);
  return Status::of_class(p2p::consume(handle, *request, status));
}

Status test(MPI_Request* handle, int* flag, MPI_Status* status) {
  HEDDLE_TRY(check(handle, 1));
  Request* request = mpi::from_handle(*handle);
  *flag = !p2p::is_active(request) || p2p::test(*request);
  if (!*flag) return Status::ok();
  if (p2p::is_active(request)) return Status::of_class(p2p::consume(handle, *request, status));
  p2p::set_empty(status);
  return Status::ok();
}

Status waitall(MPI_Count count, MPI_Request requests[], MPI_Status statuses[]) {
  const int n = static_cast<int>(count);
  HEDDLE_TRY(check(requests, n));
  for (int i = 0; i < n; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    if (p2p::is_active(request)) p2p::wait(*request);
  }
  return consume_all(n, requests, statuses);
}

Status testall(MPI_Count count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const int n = static_cast<int>(count);
  HEDDLE_TRY(check(requests, n));
  *flag = 0;
  for (int i = 0; i < n; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    if (p2p::is_active(request) && !p2p::test(*request)) return Status::ok();
  }
  *flag = 1;
  return consume_all(n, requests, statuses);
}

Status waitany(MPI_Count count, MPI_Request requests[], int* index, MPI_Status* status) {
  const int n = static_cast<int>(count);
  HEDDLE_TRY(check(requests, n));
  Request* first = first_active(requests, n);
  if (first == nullptr) {
    *index = MPI_UNDEFINED;
    p2p::set_empty(status);
    return Status::ok();
  }
  wait_for_one(requests, n, *first);
  *index = find_complete(requests, n);
  return Status::of_class(p2p::consume(&requests[*index], *mpi::from_handle(requests[*index]), status));
}

Status testany(MPI_Count count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const int n = static_cast<int>(count);
  HEDDLE_TRY(check(requests, n));
  Request* first = first_active(requests, n);
  *index = MPI_UNDEFINED;
  *flag = first == nullptr;
  if (first == nullptr) {
    p2p::set_empty(status);
    return Status::ok();
  }
  int found = find_complete(requests, n);
  if (found < 0) {
    first->vci->domain().progress_once(*first->vci);
    found = find_complete(requests, n);
  }
  if (found < 0) return Status::ok();
  *flag = 1;
  *index = found;
  return Status::of_class(p2p::consume(&requests[found], *mpi::from_handle(requests[found]), status));
}

Status waitsome(MPI_Count incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  const int n = static_cast<int>(incount);
  HEDDLE_TRY(check(requests, n));
  Request* first = first_active(requests, n);
  *outcount = MPI_UNDEFINED;
  if (first == nullptr) return Status::ok();
  wait_for_one(requests, n, *first);
  return consume_some(n, requests, outcount, indices, statuses);
}

Status testsome(MPI_Count incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  const int n = static_cast<int>(incount);
  HEDDLE_TRY(check(requests, n));
  Request* first = first_active(requests, n);
  *outcount = MPI_UNDEFINED;
  if (first == nullptr) return Status::ok();
  if (find_complete(requests, n) < 0) first->vci->domain().progress_once(*first->vci);
  return consume_some(n, requests, outcount, indices, statuses);
}

Status request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  Request* request = mpi::from_handle(handle);
  *flag = !p2p::is_active(request) || p2p::test(*request);
  if (!*flag) return Status::ok();
  p2p::is_active(request) ? p2p::fill_status(*request, status) : p2p::set_empty(status);
  return Status::ok();
}

Status request_free(MPI_Request* handle) {
  Request* request = mpi::from_handle(*handle);
  if (request == nullptr) return error(MPI_ERR_REQUEST, "no live request; was it completed or freed before?");
  *handle = MPI_REQUEST_NULL;
  request->active && !request->is_complete() ? p2p::abandon(*request) : p2p::destroy(request);
  return Status::ok();
}

Status cancel(MPI_Request* handle) {
  Request* request = mpi::from_handle(*handle);
  if (request == nullptr) return error(MPI_ERR_REQUEST, "no live request; was it completed or freed before?");
  if (request->type->cancel != nullptr && request->active && !request->is_complete()) request->type->cancel(*request);
  return Status::ok();
}

Status start(MPI_Request* handle) { return startall(1, handle); }

Status startall(MPI_Count count, MPI_Request requests[]) {
  for (MPI_Count i = 0; i < count; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    if (request == nullptr || !request->persistent) {
      return error(MPI_ERR_REQUEST, "request %lld is not persistent", static_cast<long long>(i));
    }
    if (request->active) {
      return error(MPI_ERR_REQUEST, "request %lld is active; complete it before it is started again",
                   static_cast<long long>(i));
    }
    HEDDLE_TRY(Status::of_class(request->type->start(*request)));
  }
  return Status::ok();
}

}  // namespace heddle::api
