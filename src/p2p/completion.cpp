#include "p2p/completion.hpp"

#include <cstdio>

#include "mpi/error_text.hpp"
#include "mpi/handle.hpp"
#include "mpi/status.hpp"
#include "p2p/api.hpp"
#include "p2p/api_at_once.hpp"
#include "p2p/generalized.hpp"
#include "p2p/loss.hpp"
#include "p2p/p2p.hpp"
#include "vci/domain.hpp"

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

void note_failure(Status& all, const mpi::Request& request, int index, int count) noexcept {
  if (request.error == MPI_SUCCESS || !all) return;
  const Status one = outcome(request);
  char sentence[kDetailBytes];
  std::snprintf(sentence, sizeof sentence, "%s", last_error_detail());
  const char* name = mpi::error_class_name(one.error_class());
  all = error(MPI_ERR_IN_STATUS, "request %d of %d: %s: %s", index, count, name != nullptr ? name : "the program's own",
              sentence);
}

}  // namespace heddle::p2p

namespace heddle::api {
namespace {

using mpi::Request;

constexpr unsigned kAskedAtOnce = 16;  // peers, of the launcher, by a thread that should also make progress

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

// Whether one of them cannot come any more and is complete for that.
bool any_given_up(vci::Domain& domain, const MPI_Request requests[], int count) noexcept {
  if (domain.losses().count() == 0) [[likely]]
    return false;
  for (int i = 0; i < count; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    if (p2p::is_active(request) && p2p::give_up(*request)) return true;
  }
  return false;
}

// After a round of progress, if that is needed: as find_complete().
int test_for_one(const MPI_Request requests[], int count, Request& first) noexcept {
  int found = find_complete(requests, count);
  if (found >= 0) return found;
  vci::Domain& domain = first.vci->domain();
  domain.progress_once(*first.vci);
  any_given_up(domain, requests, count);
  return find_complete(requests, count);
}

// Consumes one of several, which is complete.
void consume_one_of(Status& all, MPI_Request requests[], int index, int count, MPI_Status* status) {
  Request& request = *mpi::from_handle(requests[index]);
  p2p::settle(request);
  p2p::note_failure(all, request, index, count);
  p2p::set_error(status, p2p::consume(&requests[index], request, status));
}

// Consumes every complete request, or all inactive ones as empty, and reports as MPI_Waitall does (MPI 5.0, 3.7.5).
// REQUIRES: all active requests are complete.
Status consume_all(int count, MPI_Request requests[], MPI_Status statuses[]) {
  Status all;
  for (int i = 0; i < count; ++i) {
    MPI_Status* status = p2p::at(statuses, i);
    if (p2p::is_active(mpi::from_handle(requests[i]))) {
      consume_one_of(all, requests, i, count, status);
    } else {
      p2p::set_empty(status);
    }
  }
  return all;
}

Status consume_some(int count, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  Status all;
  int found = 0;
  for (int i = find_complete(requests, count); i >= 0; i = find_complete(requests, count, i + 1)) {
    consume_one_of(all, requests, i, count, p2p::at(statuses, found));
    indices[found++] = i;
  }
  *outcount = found;
  return all;
}

[[gnu::hot]] Status start_one(MPI_Request handle, MPI_Count index) {
  Request* request = mpi::from_handle(handle);
  if (request == nullptr || !request->persistent) {
    return error(MPI_ERR_REQUEST, "request %lld is not persistent", static_cast<long long>(index));
  }
  if (request->active) {
    return error(MPI_ERR_REQUEST, "request %lld is active; complete it before it is started again",
                 static_cast<long long>(index));
  }
  const Status started = request->type->start(*request);
  if (!started) {  // as it was before
    request->active = false;
    request->complete.store(1, std::memory_order_relaxed);
  }
  return started;
}

// Consumes one that is complete. REQUIRES: `*handle` is its own.
[[gnu::hot]] Status consume_one(MPI_Request* handle, Request& request, MPI_Status* status) {
  p2p::settle(request);
  const Status outcome = p2p::outcome(request);
  p2p::consume(handle, request, status);
  return outcome;
}

void wait_for_one(const MPI_Request requests[], int count, Request& first) {
  if (find_complete(requests, count) >= 0) return;  // the request that is complete from birth has no VCI
  vci::Domain& domain = first.vci->domain();
  domain.wait(
      *first.vci, [&] { return find_complete(requests, count) >= 0 || any_given_up(domain, requests, count); },
      [&] {
        unsigned asked = 0;
        for (int i = 0; i < count && asked < kAskedAtOnce; ++i) {
          const Request* request = mpi::from_handle(requests[i]);
          asked += p2p::is_active(request) && p2p::expect(*request);
        }
      });
}

// Waits for one after the other, and takes what has come meanwhile with it.
Status waitall_in_order(int count, MPI_Request requests[]) {
  Status all;
  for (int i = 0; i < count;) {
    Request* request = mpi::from_handle(requests[i]);
    if (p2p::is_active(request)) {
      p2p::wait(*request);
      if (const MPI_Count received = complete_receives_at_once(count - i, requests + i); received != 0) {
        i += static_cast<int>(received);
        continue;
      }
      consume_one_of(all, requests, i, count, MPI_STATUS_IGNORE);
    }
    ++i;
  }
  return all;
}

}  // namespace

[[gnu::hot]] Status wait(MPI_Request* handle, MPI_Status* status) {
  Request* request = mpi::from_handle(*handle);
  if (!p2p::is_active(request)) {
    p2p::set_empty(status);
    return Status::ok();
  }
  p2p::wait(*request);
  return consume_one(handle, *request, status);
}

Status test(MPI_Request* handle, int* flag, MPI_Status* status) {
  Request* request = mpi::from_handle(*handle);
  if (!p2p::is_active(request)) {
    *flag = 1;
    p2p::set_empty(status);
    return Status::ok();
  }
  *flag = p2p::test(*request);
  return *flag ? consume_one(handle, *request, status) : Status::ok();
}

Status waitall(MPI_Count count, MPI_Request requests[], MPI_Status statuses[]) {
  const int n = static_cast<int>(count);
  if (statuses == MPI_STATUSES_IGNORE) return waitall_in_order(n, requests);
  for (int i = 0; i < n; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    if (p2p::is_active(request)) p2p::wait(*request);
  }
  return consume_all(n, requests, statuses);
}

Status testall(MPI_Count count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  const int n = static_cast<int>(count);
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
  Request* first = first_active(requests, n);
  if (first == nullptr) {
    *index = MPI_UNDEFINED;
    p2p::set_empty(status);
    return Status::ok();
  }
  wait_for_one(requests, n, *first);
  *index = find_complete(requests, n);
  return consume_one(&requests[*index], *mpi::from_handle(requests[*index]), status);
}

Status testany(MPI_Count count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  const int n = static_cast<int>(count);
  Request* first = first_active(requests, n);
  *index = MPI_UNDEFINED;
  *flag = first == nullptr;
  if (first == nullptr) {
    p2p::set_empty(status);
    return Status::ok();
  }
  const int found = test_for_one(requests, n, *first);
  if (found < 0) return Status::ok();
  *flag = 1;
  *index = found;
  return consume_one(&requests[found], *mpi::from_handle(requests[found]), status);
}

Status waitsome(MPI_Count incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  const int n = static_cast<int>(incount);
  Request* first = first_active(requests, n);
  *outcount = MPI_UNDEFINED;
  if (first == nullptr) return Status::ok();
  wait_for_one(requests, n, *first);
  return consume_some(n, requests, outcount, indices, statuses);
}

Status testsome(MPI_Count incount, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  const int n = static_cast<int>(incount);
  Request* first = first_active(requests, n);
  *outcount = MPI_UNDEFINED;
  if (first == nullptr) return Status::ok();
  test_for_one(requests, n, *first);
  return consume_some(n, requests, outcount, indices, statuses);
}

namespace {

Status refuse(const Request& request, const char* procedure) {
  return error(MPI_ERR_REQUEST, "the request is of %s, for which %s may not be called; complete it",
               request.type->must_complete, procedure);
}

}  // namespace

Status request_free(MPI_Request* handle) {
  Request* request = mpi::from_handle(*handle);
  const bool under_way = request->active && !request->is_complete();
  if (request->type->must_complete != nullptr && under_way) return refuse(*request, "MPI_Request_free");
  *handle = MPI_REQUEST_NULL;
  if (p2p::is_generalized(*request)) return p2p::free_generalized(*request);
  under_way ? p2p::abandon(*request) : p2p::destroy(request);
  return Status::ok();
}

Status cancel(MPI_Request* handle) {
  Request* request = mpi::from_handle(*handle);
  if (p2p::is_generalized(*request)) return p2p::cancel_generalized(*request);
  if (request->type->must_complete != nullptr) return refuse(*request, "MPI_Cancel");
  if (request->persistent && !request->active) {
    return error(MPI_ERR_REQUEST,
                 "the request is persistent and not active, so there is nothing to cancel; "
                 "call MPI_Cancel between MPI_Start and its completion");
  }
  // A round of progress first: a program that only posts and cancels until something has come must get it.
  if (!p2p::test(*request) && request->type->cancel != nullptr) request->type->cancel(*request);
  return Status::ok();
}

[[gnu::hot]] Status start(MPI_Request* handle) { return start_one(*handle, 0); }

Status startall(MPI_Count count, MPI_Request requests[]) {
  for (MPI_Count i = 0; i < count; ++i) HEDDLE_TRY(start_one(requests[i], i));
  return Status::ok();
}

}  // namespace heddle::api
