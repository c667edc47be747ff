// Start, test and wait for arrays in which requests of the host and of the overlay stand side by side. Where there is none of the
// overlay, the host gets the array as it is.
#include <algorithm>
#include <vector>

#include "call.hpp"
#include "errors.hpp"

namespace heddle::overlay {

void set_empty_status(MPI_Status* status) {
  if (status == MPI_STATUS_IGNORE) return;
  const int error = status->MPI_ERROR;  // which only those for several requests set
  *status = MPI_Status{};
  status->MPI_SOURCE = MPI_ANY_SOURCE;
  status->MPI_TAG = MPI_ANY_TAG;
  status->MPI_ERROR = error;
  PMPI_Status_set_elements_x(status, MPI_BYTE, 0);
  PMPI_Status_set_cancelled(status, 0);
}

int conclude(Operation& operation, MPI_Status* status) {
  if (!operation.is_active()) {
    set_empty_status(status);
    return MPI_SUCCESS;
  }
  operation.describe(status);
  const int error = operation.error;
  operation.active.store(false, std::memory_order_release);
  return error;
}

int tell(const char* procedure, const Operation& operation, int error_class) {
  return error_class == MPI_SUCCESS ? MPI_SUCCESS : operation.raise(procedure, error_class);
}

void let_go(Operation& operation, MPI_Request* handle) {
  if (!operation.is_once) return;
  remove_request(*handle);
  *handle = MPI_REQUEST_NULL;
  operation.release();
}

bool is_over(Operation& operation) { return !operation.is_active() || operation.poll(); }

}  // namespace heddle::overlay

using namespace heddle::overlay;

namespace {

bool any_ours(int count, const MPI_Request requests[]) {
  return std::any_of(requests, requests + std::max(count, 0), [](MPI_Request r) { return is_ours(r); });
}

// The host alone can see to it.
bool is_hosts(int count, const MPI_Request requests[]) { return !any_ours(count, requests) && !engine().needs_calls(); }

int freed(const char* name) { return fail(name, nullptr, MPI_ERR_REQUEST, "the request has been freed"); }

// An array, parted.
class Mixed {
 public:
  struct Own {
    int index;
    Operation* request;
  };

  Mixed(int count, MPI_Request requests[]) : Mixed(count, const_cast<const MPI_Request*>(requests)) { all_ = requests; }
  // Not to be put back.
  Mixed(int count, const MPI_Request requests[]) {
    for (int i = 0; i < count; ++i) {
      if (is_ours(requests[i])) {
        own.push_back({i, find_request(requests[i])});
        if (own.back().request == nullptr) bad = true;
      } else {
        host.push_back(requests[i]);
        host_index.push_back(i);
      }
    }
  }

  int host_count() const noexcept { return static_cast<int>(host.size()); }
  void let_go(const Own& one) { heddle::overlay::let_go(*one.request, &all_[one.index]); }
  void put_back() {
    for (std::size_t i = 0; i < host.size(); ++i) all_[host_index[i]] = host[i];
  }

  std::vector<Own> own;
  std::vector<MPI_Request> host;
  std::vector<int> host_index;
  bool bad = false;

 private:
  MPI_Request* all_ = nullptr;
};

MPI_Status* at(MPI_Status statuses[], int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

void set_error(MPI_Status* status, int error) {
  if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = error;
}

// visit(own): of ours those that are over, while it returns true. Whether any of ours is active.
template <class Visit>
bool visit_over(const Mixed& mixed, Visit visit) {
  bool active = false;
  for (const auto& own : mixed.own) {
    if (!own.request->is_active()) continue;
    active = true;
    if (own.request->poll() && !visit(own)) break;
  }
  return active;
}

// One of ours in an array is handed over.
void conclude_in(const char* name, Mixed& mixed, const Mixed::Own& own, MPI_Status* status, int* rc) {
  const int error = conclude(*own.request, status);
  set_error(status, error);
  if (tell(name, *own.request, error) != MPI_SUCCESS) *rc = MPI_ERR_IN_STATUS;
  mixed.let_go(own);
}

int all(const char* name, int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  Mixed mixed(count, requests);
  if (mixed.bad) return freed(name);
  std::vector<MPI_Status> host_statuses(mixed.host.size());
  int rc = MPI_SUCCESS, done = 0;
  const auto try_all = [&] {
    for (const auto& own : mixed.own) {
      if (!is_over(*own.request)) return false;
    }
    done = mixed.host.empty();
    if (!done) rc = PMPI_Testall(mixed.host_count(), mixed.host.data(), &done, host_statuses.data());
    return done || rc != MPI_SUCCESS;
  };
  if (flag == nullptr) {
    engine().wait(try_all);
  } else {
    engine().progress();
    *flag = try_all();
    if (!*flag) return MPI_SUCCESS;
  }
  mixed.put_back();
  for (std::size_t i = 0; i < mixed.host.size() && statuses != MPI_STATUSES_IGNORE; ++i) {
    statuses[mixed.host_index[i]] = host_statuses[i];
  }
  for (const auto& own : mixed.own) conclude_in(name, mixed, own, at(statuses, own.index), &rc);
  return rc;
}

int any(const char* name, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  Mixed mixed(count, requests);
  if (mixed.bad) return freed(name);
  int rc = MPI_SUCCESS, done = 0;
  *index = MPI_UNDEFINED;
  const auto try_any = [&] {
    const bool active = visit_over(mixed, [&](const Mixed::Own& own) {
      *index = own.index;
      rc = tell(name, *own.request, conclude(*own.request, status));
      mixed.let_go(own);
      return false;
    });
    if (*index != MPI_UNDEFINED) return true;
    if (mixed.host.empty()) {
      done = 1;
    } else {
      int which = MPI_UNDEFINED;
      rc = PMPI_Testany(mixed.host_count(), mixed.host.data(), &which, &done, status);
      mixed.put_back();
      if (which != MPI_UNDEFINED) *index = mixed.host_index[static_cast<std::size_t>(which)];
      if (rc != MPI_SUCCESS || *index != MPI_UNDEFINED) return true;
    }
    if (active || !done) return false;
    set_empty_status(status);
    return true;
  };
  if (flag == nullptr) {
    engine().wait(try_any);
  } else {
    engine().progress();
    *flag = try_any();
  }
  return rc;
}

int some(const char* name, int count, MPI_Request requests[], bool waits, int* outcount, int indices[],
         MPI_Status statuses[]) {
  Mixed mixed(count, requests);
  if (mixed.bad) return freed(name);
  std::vector<MPI_Status> host_statuses(mixed.host.size());
  std::vector<int> host_indices(mixed.host.size());
  int rc = MPI_SUCCESS;
  const auto try_some = [&] {
    *outcount = 0;
    bool active = visit_over(mixed, [&](const Mixed::Own& own) {
      conclude_in(name, mixed, own, at(statuses, *outcount), &rc);
      indices[(*outcount)++] = own.index;
      return true;
    });
    int n = MPI_UNDEFINED;
    if (!mixed.host.empty()) {
      const int host_rc =
          PMPI_Testsome(mixed.host_count(), mixed.host.data(), &n, host_indices.data(), host_statuses.data());
      mixed.put_back();
      if (host_rc != MPI_SUCCESS) rc = host_rc;
    }
    active = active || n != MPI_UNDEFINED;
    for (int i = 0; n != MPI_UNDEFINED && i < n; ++i) {
      const auto which = static_cast<std::size_t>(host_indices[static_cast<std::size_t>(i)]);
      if (statuses != MPI_STATUSES_IGNORE) statuses[*outcount] = host_statuses[static_cast<std::size_t>(i)];
      indices[(*outcount)++] = mixed.host_index[which];
    }
    if (!active) *outcount = MPI_UNDEFINED;
    return *outcount != 0 || rc != MPI_SUCCESS;
  };
  if (waits) {
    engine().wait(try_some);
  } else {
    engine().progress();
    try_some();
  }
  return rc;
}

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
  return all(__func__, count, requests, nullptr, statuses);
}

int MPI_Testall(int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
  if (is_hosts(count, requests)) return PMPI_Testall(count, requests, flag, statuses);
  return all(__func__, count, requests, flag, statuses);
}

int MPI_Waitany(int count, MPI_Request requests[], int* index, MPI_Status* status) {
  if (is_hosts(count, requests)) return PMPI_Waitany(count, requests, index, status);
  return any(__func__, count, requests, index, nullptr, status);
}

int MPI_Testany(int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
  if (is_hosts(count, requests)) return PMPI_Testany(count, requests, index, flag, status);
  return any(__func__, count, requests, index, flag, status);
}

int MPI_Waitsome(int count, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  if (is_hosts(count, requests)) return PMPI_Waitsome(count, requests, outcount, indices, statuses);
  return some(__func__, count, requests, true, outcount, indices, statuses);
}

int MPI_Testsome(int count, MPI_Request requests[], int* outcount, int indices[], MPI_Status statuses[]) {
  if (is_hosts(count, requests)) return PMPI_Testsome(count, requests, outcount, indices, statuses);
  return some(__func__, count, requests, false, outcount, indices, statuses);
}

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
