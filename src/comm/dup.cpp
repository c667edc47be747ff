// MPI_Comm_dup and its kin.
//
// Method:  the communicator is made at once, so that a nonblocking call has its handle to return, and is told the others'
//          addresses when the exchange is over; if that fails, the caller's handle becomes MPI_COMM_NULL. Attributes are
//          copied before the exchange, by the callbacks of the user.
#include <cstdio>
#include <utility>
#include <vector>

#include "base/slab.hpp"
#include "comm/api_comm.hpp"
#include "comm/creation.hpp"
#include "comm/hints.hpp"
#include "comm/intercomm.hpp"
#include "mpi/attribute.hpp"
#include "mpi/handle.hpp"
#include "p2p/request.hpp"

namespace heddle::api {
namespace {

using comm::Creation;
using comm::Proposal;
using mpi::Attributes;

// One process's part in a duplicate. Of an intercommunicator it has two communicators to make: the one that the library
// has of the local group is exchanged within that, the addresses of the other with the remote group.
class Copy {
 public:
  // Lets go what was made, unless somebody took it.
  ~Copy() {
    if (made_ != nullptr) mpi::release(*made_);
  }
  explicit Copy(Comm& comm) : comm_(comm), creation_(comm.is_inter() ? *comm.local : comm), inter_(comm) {}

  // Makes the communicator, which knows nobody's address yet, and says what the others have to know. `refusal`: why this
  // process cannot take part.
  void propose(Status refusal, Info* info) {
    creation_.refuse(refusal);
    creation_.join(comm::assertions(info));
    if (comm_.is_inter()) {
      inter_.join();
      creation_.refuse(inter_.refusal());
      theirs_.resize(static_cast<std::size_t>(comm_.peer_count));
    }
    if (creation_.refusal()) creation_.refuse(make(info));
  }
  void build(coll::Schedule& s) {
    s.stay_local(comm_.is_inter());
    comm::build_exchange(s, creation_.records());
    s.stay_local(false);
    if (!comm_.is_inter()) return;
    inter_.refuse(creation_.refusal());
    coll::build_inter_allgather(s, coll::Buffer(&inter_.mine(), sizeof(Proposal), mpi::byte_type()),
                                coll::Blocks(coll::Buffer(theirs_.data(), sizeof(Proposal), mpi::byte_type())));
    s.join();
  }
  // After the exchange: tells the communicator the others' addresses, and gives it the attributes.
  Status settle(int transport_error, Attributes* attributes) {
    HEDDLE_TRY(creation_.verdict(transport_error));
    for (const Proposal& p : theirs_) {
      if (p.error != MPI_SUCCESS) {
        return error(p.error, "no communicator was made: a rank of the other group could not take part");
      }
    }
    HEDDLE_TRY(connect());
    comm::follow_hints(*made_);
    made_->attributes = attributes;
    made_ = nullptr;
    return Status::ok();
  }
  Comm* made() const noexcept { return made_; }

 private:
  Status make(Info* info) {
    Comm* made = nullptr;
    HEDDLE_TRY(creation_.make_early(&made));
    if (comm_.is_inter()) {
      Comm& local = *made;
      made = comm::make_inter_early(comm_, local, inter_.take_address());
      mpi::release(local);
      if (made == nullptr) return error(MPI_ERR_NO_MEM, "no memory for an intercommunicator");
    }
    made->topology = comm_.topology;
    comm::set_info(*made, info);
    made_ = made;
    return Status::ok();
  }
  Status connect() {
    if (!comm_.is_inter()) return creation_.connect(*made_);
    HEDDLE_TRY(creation_.connect(*made_->local));
    std::vector<mpi::Address> addresses;
    for (const Proposal& p : theirs_) addresses.push_back(p.address);
    return mpi::connect(*made_, addresses.data());
  }

  Comm& comm_;
  Creation creation_;
  Creation inter_;
  std::vector<Proposal> theirs_;
  Comm* made_ = nullptr;
};

Status run(Comm& comm, Copy& copy, Attributes* attributes) {
  coll::Schedule schedule(comm.rank, comm.size, comm.is_inter() ? comm.peer_count : 0, &comm.plans);
  copy.build(schedule);
  if (schedule.failed()) return coll::failure(comm, schedule);
  comm::Messages messages(comm, /*blocking=*/true);
  coll::Progress at;
  coll::run(schedule, at, messages);
  return copy.settle(messages.error(), attributes);
}

Status duplicate(Comm& comm, Info* info, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  Attributes* attributes = nullptr;
  Copy copy(comm);
  copy.propose(mpi::copy_attributes(comm, &attributes), info);
  Comm* made = copy.made();
  const Status status = run(comm, copy, attributes);
  if (status) {
    *newcomm = mpi::to_handle(made);
  } else {
    mpi::undo_copies(comm, attributes);
  }
  return status;
}

// A nonblocking duplication under way.
struct Duplication : mpi::Request, p2p::Task {
  Duplication(Comm& parent, MPI_Comm* out) noexcept;

  Copy copy;
  coll::Schedule schedule;
  coll::Progress at;
  comm::Messages messages;
  Attributes* attributes = nullptr;
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

const mpi::RequestType kDuplicationType{
    .start = nullptr, .cancel = nullptr, .destroy = destroy, .must_complete = "the making of a communicator"};

void settle(Duplication& d) {
  const Status status = d.copy.settle(d.messages.error(), d.attributes);
  d.error = status.error_class();
  if (status) return;
  *d.newcomm = MPI_COMM_NULL;
  mpi::undo_copies(*d.comm, d.attributes);
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
      copy(parent),
      schedule(parent.rank, parent.size, parent.is_inter() ? parent.peer_count : 0, &parent.plans),
      messages(parent, /*blocking=*/false),
      newcomm(out) {
  comm = &parent;
  vci = parent.vci;
  parent.retain();
  step = [](p2p::Task& task) { return go_on(static_cast<Duplication&>(task)); };
}

Status start_duplicate(Comm& comm, Info* info, MPI_Comm* newcomm, MPI_Request* request) {
  Attributes* attributes = nullptr;
  const Status copied = mpi::copy_attributes(comm, &attributes);
  Duplication* d = duplications().take(comm, newcomm);
  if (d == nullptr) {
    mpi::undo_copies(comm, attributes);
    return coll::out_of_memory(comm);
  }
  d->attributes = attributes;
  d->copy.propose(copied, info);
  d->copy.build(d->schedule);
  if (d->schedule.failed()) {
    const Status why = coll::failure(comm, d->schedule);
    char sentence[kDetailBytes];  // undoing calls functions of the user
    std::snprintf(sentence, sizeof sentence, "%s", last_error_detail());
    mpi::undo_copies(comm, attributes);
    destroy(*d);
    return error(why.error_class(), "%s", sentence);
  }
  *newcomm = mpi::to_handle(d->copy.made());
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
