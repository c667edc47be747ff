// MPI_Comm_dup and its kin.
//
// Method:  the blocking forms propose, agree, make. The nonblocking ones make the communicator at once, so that its
//          handle is there when the call returns, and tell it the others' addresses when the exchange is over; if that
//          fails, the caller's handle becomes MPI_COMM_NULL. Attributes are copied before the exchange, by the
//          callbacks of the user.
#include <memory>

#include "base/slab.hpp"
#include "comm/api_comm.hpp"
#include "comm/creation.hpp"
#include "mpi/attribute.hpp"
#include "mpi/handle.hpp"
#include "p2p/request.hpp"

namespace heddle::api {
namespace {

using comm::Creation;
using mpi::Attributes;

// MPI 5.0, 7.4.4: what lets messages of one communicator go different ways.
std::uint16_t assertions(Info* info) {
  if (info == nullptr) return 0;
  std::uint16_t asserted = 0;
  if (info->get("mpi_assert_no_any_source") == "true") asserted |= mpi::kNoAnySource;
  if (info->get("mpi_assert_no_any_tag") == "true") asserted |= mpi::kNoAnyTag;
  return asserted;
}

void set_info(Comm& made, Info* info) {
  if (info != nullptr) made.info = mpi::take_info(info->copy());
}

Status duplicate_intra(Comm& comm, Status refusal, Info* info, Comm** made) {
  Creation creation(comm);
  creation.refuse(refusal);
  creation.join(assertions(info));
  HEDDLE_TRY(creation.agree());
  HEDDLE_TRY(creation.make_early(made));
  return creation.connect(**made);
}

Status duplicate(Comm& comm, Info* info, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  Attributes* copies = nullptr;
  const Status copied = mpi::copy_attributes(comm, &copies);
  Comm* made = nullptr;
  const Status status =
      comm.is_inter() ? duplicate_inter(comm, copied, &made) : duplicate_intra(comm, copied, info, &made);
  if (!status) {
    mpi::undo_copies(comm, copies);
    if (made != nullptr) mpi::release(*made);
    return status;
  }
  made->attributes = copies;
  made->topology = comm.topology;
  set_info(*made, info);
  *newcomm = mpi::to_handle(made);
  return Status::ok();
}

// A nonblocking duplication under way.
struct Duplication : mpi::Request, p2p::Task {
  Duplication(Comm& parent, MPI_Comm* out) noexcept;

  Creation creation;
  coll::Schedule schedule;
  coll::Progress at;
  comm::Messages messages;
  Attributes* copies = nullptr;
  Comm* made = nullptr;
  MPI_Comm* newcomm;
};

SharedSlab<Duplication, 4>& duplications() {
  static auto* slab = new SharedSlab<Duplication, 4>;
  return *slab;
}

void destroy(mpi::Request& request) {
  auto& duplication = static_cast<Duplication&>(request);
  Comm& parent = *duplication.comm;
  duplications().give_back(&duplication);
  mpi::release(parent);
}

const mpi::RequestType kDuplicationType{nullptr, nullptr, destroy};

void settle(Duplication& d) {
  Status status = d.creation.verdict(d.messages.error());
  if (status) status = d.creation.connect(*d.made);
  d.error = status.error_class();
  if (status) {
    d.made->attributes = d.copies;
    return;
  }
  *d.newcomm = MPI_COMM_NULL;
  mpi::undo_copies(*d.comm, d.copies);
  if (d.made != nullptr) mpi::release(*d.made);
}

// True when it is over; it belongs to its owner again then.
bool go_on(Duplication& d) {
  if (!coll::run(d.schedule, d.at, d.messages)) return false;
  settle(d);
  p2p::finish(d);
  return true;
}

Duplication::Duplication(Comm& parent, MPI_Comm* out) noexcept
    : Request(kDuplicationType),
      creation(parent),
      schedule(parent.rank, parent.size),
      messages(parent, /*blocking=*/false),
      newcomm(out) {
  comm = &parent;
  vci = parent.vci;
  parent.retain();
  step = [](p2p::Task& task) { return go_on(static_cast<Duplication&>(task)); };
}

Status start_duplicate(Comm& comm, Info* info, MPI_Comm* newcomm, MPI_Request* request) {
  HEDDLE_TRY(coll::check_intra(comm));
  Attributes* copies = nullptr;
  const Status copied = mpi::copy_attributes(comm, &copies);
  Duplication* d = duplications().take(comm, newcomm);
  if (d == nullptr) {
    mpi::undo_copies(comm, copies);
    return coll::out_of_memory(comm);
  }
  d->copies = copies;
  d->creation.refuse(copied);
  d->creation.join(assertions(info));
  if (d->creation.has_address()) d->creation.refuse(d->creation.make_early(&d->made));
  comm::build_exchange(d->schedule, d->creation.records());
  if (d->schedule.out_of_memory()) {
    mpi::undo_copies(comm, copies);
    if (d->made != nullptr) mpi::release(*d->made);
    destroy(*d);
    return coll::out_of_memory(comm);
  }
  if (d->made != nullptr) {
    d->made->topology = comm.topology;
    set_info(*d->made, info);
  }
  *newcomm = mpi::to_handle(d->made);
  *request = mpi::to_handle(static_cast<mpi::Request*>(d));
  if (!go_on(*d)) p2p::add_task(comm, *d);
  return Status::ok();
}

}  // namespace

Status comm_dup(Comm& comm, MPI_Comm* newcomm) { return duplicate(comm, nullptr, newcomm); }
Status comm_dup_with_info(Comm& comm, Info* info, MPI_Comm* newcomm) { return duplicate(comm, info, newcomm); }

Status comm_idup(Comm& comm, MPI_Comm* newcomm, MPI_Request* request) {
  return start_duplicate(comm, nullptr, newcomm, request);
}
Status comm_idup_with_info(Comm& comm, Info* info, MPI_Comm* newcomm, MPI_Request* request) {
  return start_duplicate(comm, info, newcomm, request);
}

}  // namespace heddle::api
