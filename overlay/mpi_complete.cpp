// Start, test and wait, for one and for arrays.
#include "mixed.hpp"

using namespace heddle::overlay;

namespace {

// One of ours that is over is handed over, alone.
int end(const char* name, Operation& own, MPI_Request* handle, MPI_Status* status) {
  const int rc = tell(name, own, conclude(own, status));
  let_go(own, handle);
  return rc;
}

int start_one(const char* name, Operation* request) {
  if (request == nullptr) return freed(name);
  if (request->is_active()) return request->misused(name, "is active");
  request->start();
  return MPI_SUCCESS;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int MPI_Start(MPI_Request* request) {
  return is_ours(*request) ? start_one(__func__, find_request(*request)) : PMPI_Start(request);
}

int MPI_Startall(int count, MPI_Request requests[]) {
  if (!any_ours(count, requests)) return PMPI_Startall(count, requests);
  Mixed mixed(count, requests);
  int rc = MPI_SUCCESS;
  for (const auto& own : mixed.own) {
    if (rc == MPI_SUCCESS) rc = start_one(__func__, own.request);
  }
  if (rc != MPI_SUCCESS || mixed.host.empty()) return rc;
  rc = PMPI_Startall(mixed.host_count(), mixed.host.data());
  mixed.put_back();
  return rc;
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  if (!is_ours(*request)) {
    if (!engine().needs_calls()) return PMPI_Wait(request, status);
    int rc = MPI_SUCCESS, done = 0;
    engine().wait([&] { return (rc = PMPI_Test(request, &done, status)) != MPI_SUCCESS || done; });
    return rc;
  }
  Operation* own = find_request(*request);
  if (own == nullptr) return freed(__func__);
  engine().wait([own] { return is_over(*own); });
  return end(__func__, *own, request, status);
}

int MPI_Test(MPI_Request* request, int* flag, MPI_Status* status) {
  if (!is_ours(*request)) {
    engine().step();
    return PMPI_Test(request, flag, status);
  }
  Operation* own = find_request(*request);
  if (own == nullptr) return freed(__func__);
  engine().progress();
  *flag = is_over(*own);
  return *flag ? end(__func__, *own, request, status) : MPI_SUCCESS;
}

int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  if (is_hosts(count, requests)) return PMPI_Waitall(count, requests, statuses);
  return complete_all(__func__, count, requests, nullptr, statuses);
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (is_hosts(count, requests)) return PMPI_Testall(count, requests, flag, statuses);
  return complete_all(__func__, count, requests, flag, statuses);
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (is_hosts(count, requests)) return PMPI_Waitany(count, requests, index, status);
  return complete_any(__func__, count, requests, index, nullptr, status);
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (is_hosts(count, requests)) return PMPI_Testany(count, requests, index, flag, status);
  return complete_any(__func__, count, requests, index, flag, status);
}

int MPI_Waitsome(int count, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  if (is_hosts(count, requests)) return PMPI_Waitsome(count, requests, outcount, indices, statuses);
  return complete_some(__func__, count, requests, true, outcount, indices, statuses);
}

int MPI_Testsome(int count, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  if (is_hosts(count, requests)) return PMPI_Testsome(count, requests, outcount, indices, statuses);
  return complete_some(__func__, count, requests, false, outcount, indices, statuses);
}

}  // extern "C"
#pragma GCC visibility pop
