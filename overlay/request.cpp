#include "request.hpp"

#include "call.hpp"
#include "engine.hpp"
#include "errors.hpp"

namespace heddle::overlay {

Request::Request(IdentityPtr i, const Arguments& a, bool is_send)
    : Operation(true),
      sends(is_send),
      identity(std::move(i)),
      carrier(identity->carrier),
      args(a),
      buffer(carrier->comm, a.buffer, a.partitions, a.count, a.type, a.each) {}

void Request::release() {
  const std::shared_ptr<Operation> keep = shared_from_this();  // who attends to an orphan may drop it
  orphan.store(true, std::memory_order_release);
  if (!attend()) engine().attend_to(*this);
}

void Request::describe(MPI_Status* status) const {
  if (status == MPI_STATUS_IGNORE) return;
  const bool nobody = args.carrier_peer == MPI_PROC_NULL;
  const bool got = !sends && !nobody && error == MPI_SUCCESS;
  set_empty_status(status);
  if (!sends) {
    status->MPI_SOURCE = args.peer;
    status->MPI_TAG = nobody ? MPI_ANY_TAG : args.tag;
  }
  PMPI_Status_set_elements_x(status, MPI_BYTE, got ? static_cast<MPI_Count>(args.total()) : 0);
}

int Request::raise(const char* procedure, int error_class) const {
  return fail(procedure, identity.get(), error_class,
              "the partitions of this operation with rank %d and tag %d are %llu bytes in all, and those of the other "
              "side %llu; make the totals equal",
              args.peer, args.tag, static_cast<unsigned long long>(args.total()),
              static_cast<unsigned long long>(peer_total));
}

int Request::misused(const char* procedure, const char* how) const {
  return fail(procedure, identity.get(), MPI_ERR_REQUEST, "the partitioned operation with rank %d %s", args.peer, how);
}

void Request::say(Control control) {
  control.from = id;
  engine().say(*carrier, args.carrier_peer, control);
}

bool Request::test_some() {
  found = 0;
  indices.resize(host_requests.size());
  PMPI_Testsome(static_cast<int>(host_requests.size()), host_requests.data(), &found, indices.data(),
                MPI_STATUSES_IGNORE);
  return found != MPI_UNDEFINED && found > 0;
}

void Request::free_host_requests() {
  for (MPI_Request& request : host_requests) PMPI_Request_free(&request);
  host_requests.clear();
}

}  // namespace heddle::overlay
