#include "mpi/handle.hpp"
#include "p2p/api_get_status.hpp"
#include "p2p/completion.hpp"
#include "p2p/p2p.hpp"

namespace heddle::api {
namespace {

using mpi::Request;

// After a round of progress; an inactive or null request has nothing left to do.
bool is_done(Request* request) { return !p2p::is_active(request) || p2p::test(*request); }

void report(Request* request, MPI_Status* status) {
  p2p::is_active(request) ? p2p::fill_status(*request, status) : p2p::set_empty(status);
}

MPI_Status* at(MPI_Status* statuses, MPI_Count i) { return statuses == MPI_STATUSES_IGNORE ? nullptr : statuses + i; }

// In a set of statuses each has an MPI_ERROR of its own (MPI 5.0, 3.7.5).
bool report_with_error(Request* request, MPI_Status* status) {
  int outcome = p2p::is_active(request) ? request->error : MPI_SUCCESS;
  report(request, status);
  if (status != nullptr) status->MPI_ERROR = outcome;
  return outcome == MPI_SUCCESS;
}

}  // namespace

Status request_get_status_any(MPI_Count count, const MPI_Request requests[], int* index, int* flag,
                              MPI_Status* status) {
  *index = MPI_UNDEFINED;
  *flag = 1;
  for (MPI_Count i = 0; i < count; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    if (!p2p::is_active(request)) continue;
    if (is_done(request)) {
      *flag = 1;
      *index = static_cast<int>(i);
      report(request, status);
      return Status::of_class(request->error);
    }
    *flag = 0;
  }
  if (*flag) p2p::set_empty(status);  // none of them is active
  return Status::ok();
}

Status request_get_status_all(MPI_Count count, const MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  *flag = 0;
  for (MPI_Count i = 0; i < count; ++i) {
    if (!is_done(mpi::from_handle(requests[i]))) return Status::ok();
  }
  *flag = 1;
  bool good = true;
  for (MPI_Count i = 0; i < count; ++i) good &= report_with_error(mpi::from_handle(requests[i]), at(statuses, i));
  return good ? Status::ok() : Status::of_class(MPI_ERR_IN_STATUS);
}

Status request_get_status_some(MPI_Count incount, const MPI_Request requests[], int* outcount, int indices[],
                               MPI_Status statuses[]) {
  bool active = false, good = true;
  *outcount = 0;
  for (MPI_Count i = 0; i < incount; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    if (!p2p::is_active(request)) continue;
    active = true;
    if (!is_done(request)) continue;
    indices[*outcount] = static_cast<int>(i);
    good &= report_with_error(request, at(statuses, *outcount));
    ++*outcount;
  }
  if (!active) *outcount = MPI_UNDEFINED;
  return good ? Status::ok() : Status::of_class(MPI_ERR_IN_STATUS);
}

}  // namespace heddle::api
