#include "mixed.hpp"

namespace heddle::overlay {

int complete_all(const char* name, int count, MPI_Request requests[], int* flag, MPI_Status statuses[]) {
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

int complete_any(const char* name, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status) {
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

int complete_some(const char* name, int count, MPI_Request requests[], bool waits, int* outcount, int indices[],
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

}  // namespace heddle::overlay
