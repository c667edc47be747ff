// Arrays in which requests of the host and of the overlay stand side by side.
//
// Method:  an array is parted, the host gets its own part, and what it has done is put back; where there is none of the overlay's, the host
//          gets the array as it is.
#pragma once

#include <algorithm>
#include <vector>

#include "call.hpp"
#include "errors.hpp"

namespace heddle::overlay {

inline bool any_ours(int count, const MPI_Request requests[]) {
  return std::any_of(requests, requests + std::max(count, 0), [](MPI_Request r) { return is_ours(r); });
}

// The host alone can see to it.
inline bool is_hosts(int count, const MPI_Request requests[]) {
  return !any_ours(count, requests) && !engine().needs_calls();
}

inline int freed(const char* name) { return fail(name, nullptr, MPI_ERR_REQUEST, "the request has been freed"); }

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
  void let_go(const Own& one) { overlay::let_go(*one.request, &all_[one.index]); }
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

inline MPI_Status* at(MPI_Status statuses[], int i) {
  return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

inline void set_error(MPI_Status* status, int error) {
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
inline void conclude_in(const char* name, Mixed& mixed, const Mixed::Own& own, MPI_Status* status, int* rc) {
  const int error = conclude(*own.request, status);
  set_error(status, error);
  if (tell(name, *own.request, error) != MPI_SUCCESS) *rc = MPI_ERR_IN_STATUS;
  mixed.let_go(own);
}

// A null flag: waits.
int complete_all(const char* name, int count, MPI_Request requests[], int* flag, MPI_Status statuses[]);
int complete_any(const char* name, int count, MPI_Request requests[], int* index, int* flag, MPI_Status* status);
int complete_some(const char* name, int count, MPI_Request requests[], bool waits, int* outcount, int indices[],
                  MPI_Status statuses[]);

}  // namespace heddle::overlay
