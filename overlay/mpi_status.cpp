// What a request of either kind is, without its end; and its end without its completion.
#include "mixed.hpp"

using namespace heddle::overlay;

#pragma GCC visibility push(default)
extern "C" {

int MPI_Request_free(MPI_Request* request) {
  if (!is_ours(*request)) return PMPI_Request_free(request);
  Operation* own = find_request(*request);
  if (own == nullptr && engine().is_closed()) {  // by a callback within the host's finalize
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  if (own == nullptr) return freed(__func__);
  remove_request(*request);
  *request = MPI_REQUEST_NULL;
  own->release();
  engine().progress();
  return MPI_SUCCESS;
}

int MPI_Request_get_status(MPI_Request request, int* flag, MPI_Status* status) {
  if (!is_ours(request)) {
    engine().step();
    return PMPI_Request_get_status(request, flag, status);
  }
  Operation* own = find_request(request);
  if (own == nullptr) return freed(__func__);
  engine().progress();
  *flag = is_over(*own);
  if (!*flag) return MPI_SUCCESS;
  own->is_active() ? own->describe(status) : set_empty_status(status);
  return MPI_SUCCESS;
}

#if HEDDLE_HOST_MPI_41
int MPI_Request_get_status_all(int count, const MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  engine().step();
  if (!any_ours(count, requests)) return PMPI_Request_get_status_all(count, requests, flag, statuses);
  *flag = 1;
  for (int i = 0; i < count && *flag; ++i) {
    const int rc = MPI_Request_get_status(requests[i], flag, at(statuses, i));
    if (rc != MPI_SUCCESS) return rc;
  }
  return MPI_SUCCESS;
}

// The host says of its own ones which are inactive.
int MPI_Request_get_status_any(int count, const MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  engine().step();
  if (!any_ours(count, requests)) return PMPI_Request_get_status_any(count, requests, index, flag, status);
  Mixed mixed(count, requests);
  if (mixed.bad) return freed(__func__);
  engine().progress();
  *index = MPI_UNDEFINED;
  *flag = 1;
  const bool active = visit_over(mixed, [&](const Mixed::Own& own) {
    *index = own.index;
    own.request->describe(status);
    return false;
  });
  if (*index != MPI_UNDEFINED) return MPI_SUCCESS;
  int which = MPI_UNDEFINED;
  const int rc = PMPI_Request_get_status_any(mixed.host_count(), mixed.host.data(), &which, flag, status);
  *index = which == MPI_UNDEFINED ? MPI_UNDEFINED : mixed.host_index[static_cast<std::size_t>(which)];
  if (active && *index == MPI_UNDEFINED) *flag = 0;
  return rc;
}

int MPI_Request_get_status_some(int count, const MPI_Request requests[], int* outcount, int indices[],
                                MPI_Status statuses[]) {
  engine().step();
  if (!any_ours(count, requests)) return PMPI_Request_get_status_some(count, requests, outcount, indices, statuses);
  Mixed mixed(count, requests);
  if (mixed.bad) return freed(__func__);
  engine().progress();
  *outcount = 0;
  const bool active = visit_over(mixed, [&](const Mixed::Own& own) {
    own.request->describe(at(statuses, *outcount));
    indices[(*outcount)++] = own.index;
    return true;
  });
  std::vector<MPI_Status> host_statuses(mixed.host.size());
  std::vector<int> host_indices(mixed.host.size());
  int n = MPI_UNDEFINED;
  const int rc = PMPI_Request_get_status_some(mixed.host_count(), mixed.host.data(), &n, host_indices.data(),
                                              host_statuses.data());
  for (int i = 0; n != MPI_UNDEFINED && i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    if (statuses != MPI_STATUSES_IGNORE) statuses[*outcount] = host_statuses[k];
    indices[(*outcount)++] = mixed.host_index[static_cast<std::size_t>(host_indices[k])];
  }
  if (!active && n == MPI_UNDEFINED) *outcount = MPI_UNDEFINED;
  return rc;
}
#endif

int MPI_Cancel(MPI_Request* request) {
  if (!is_ours(*request)) return PMPI_Cancel(request);
  const Operation* own = find_request(*request);
  if (own == nullptr) return freed(__func__);
  return own->misused(__func__, "cannot be cancelled");
}

}  // extern "C"
#pragma GCC visibility pop
