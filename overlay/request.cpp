#include "request.hpp"

#include "engine.hpp"

namespace heddle::overlay {

Request::Request(IdentityPtr i, const Arguments& a, bool is_send)
    : sends(is_send),
      identity(std::move(i)),
      carrier(identity->carrier),
      args(a),
      buffer(carrier->comm, a.buffer, a.partitions, a.count, a.type, a.each) {}

void Request::release() {
  const std::shared_ptr<Request> keep = shared_from_this();  // who attends to an orphan may drop it
  orphan.store(true, std::memory_order_release);
  if (!attend()) engine().attend_to(*this);
}

void Request::finish(int error_class) noexcept {
  error = error_class;
  complete.store(true, std::memory_order_release);
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
