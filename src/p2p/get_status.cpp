#include "mpi/handle.hpp"
#include "p2p/api.hpp"
#include "p2p/completion.hpp"
#include "p2p/generalized.hpp"
#include "p2p/p2p.hpp"
#include "p2p/request.hpp"

namespace heddle::api {
namespace {

using mpi::Request;

// After a round of progress; an inactive or null request has nothing left to do.
bool is_done(Request* request) { return !p2p::is_active(request) || p2p::test(*request); }

// The code of a generalized request's query_fn; ok for others.
Status report(Request* request, MPI_Status* status) {
  if (!p2p::is_active(request)) {
    p2p::set_empty(status);
    return Status::ok();
  }
  const Status asked = p2p::ask(*request);
  p2p::fill_status(*request, status);
  return asked;
}

void report_in_set(Request* request, MPI_Status* status, Status& all, MPI_Count index, MPI_Count count) {
  report(request, status).ignore();  // the request has it, too
  if (!p2p::is_active(request)) return;
  p2p::note_failure(all, *request, static_cast<int>(index), static_cast<int>(count));
  p2p::set_error(status, request->error);
}

}  // namespace

Status request_get_status(MPI_Request handle, int* flag, MPI_Status* status) {
  Request* request = mpi::from_handle(handle);
  *flag = is_done(request);
  return *flag ? report(request, status) : Status::ok();
}

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
      report(request, status).ignore();
      return p2p::outcome(*request);
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
  Status all;
  for (MPI_Count i = 0; i < count; ++i) {
    report_in_set(mpi::from_handle(requests[i]), p2p::at(statuses, i), all, i, count);
  }
  return all;
}

Status request_get_status_some(MPI_Count incount, const MPI_Request requests[], int* outcount, int indices[],
                               MPI_Status statuses[]) {
  bool active = false;
  Status all;
  *outcount = 0;
  for (MPI_Count i = 0; i < incount; ++i) {
    Request* request = mpi::from_handle(requests[i]);
    if (!p2p::is_active(request)) continue;
    active = true;
    if (!is_done(request)) continue;
    indices[*outcount] = static_cast<int>(i);
    report_in_set(request, p2p::at(statuses, *outcount), all, i, incount);
    ++*outcount;
  }
  if (!active) *outcount = MPI_UNDEFINED;
  return all;
}

}  // namespace heddle::api
