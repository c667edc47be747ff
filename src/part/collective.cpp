#include "part/collective.hpp"

#include "mpi/handle.hpp"
#include "p2p/loss.hpp"
#include "p2p/request.hpp"
#include "vci/domain.hpp"

namespace heddle::part {
namespace {

Collective& as_collective(mpi::Request& request) noexcept { return static_cast<Collective&>(request); }

}  // namespace

const mpi::RequestType kCollectiveType{
    .start = [](mpi::Request& request) { return as_collective(request).start(); },
    .cancel = nullptr,
    .destroy = [](mpi::Request& request) { delete &as_collective(request); },
    .is_collective = true,
    .give_up = [](mpi::Request& request) { return as_collective(request).give_up(); },
    .must_complete = "a collective operation"};

Collective::Part::Part(Collective& owner, mpi::Comm& comm) noexcept
    : collective(owner), schedule(comm.rank, comm.size, 0, &comm.plans) {
  step = [](p2p::Task& task) {
    auto& part = static_cast<Part&>(task);
    return part.collective.go_on(part);
  };
}

Collective::Collective(mpi::Comm& c, const Uses& uses, bool gives) noexcept
    : Request(kCollectiveType), uses_(uses), gives_(gives) {
  comm = &c;
  vci = c.vci;
  make_persistent();
  c.retain();
  for (mpi::Datatype* datatype : {uses.send, uses.recv}) {
    if (datatype != nullptr) mpi::retain(*datatype);
  }
  if (uses.op != nullptr) mpi::retain(*uses.op);
}

Collective::~Collective() {
  parts_.clear();  // before what they refer to
  for (mpi::Datatype* datatype : {uses_.send, uses_.recv}) {
    if (datatype != nullptr) mpi::release(*datatype);
  }
  if (uses_.op != nullptr) mpi::release(*uses_.op);
  mpi::release(*comm);
}

coll::Schedule& Collective::add() { return parts_.emplace_back(*this, *comm).schedule; }

void Collective::settle(std::uint32_t first_tag) noexcept {
  for (Part& part : parts_) {
    part.messages.emplace(*comm, /*blocking=*/false, static_cast<int>(first_tag++ & (coll::kFirstGroupTag - 1)));
  }
}

Status Collective::start() noexcept {
  error = MPI_SUCCESS;
  first_error_.store(MPI_SUCCESS, std::memory_order_relaxed);
  left_.store(partitions(), std::memory_order_relaxed);
  complete.store(parts_.empty() ? 1 : 0, std::memory_order_relaxed);
  active = true;
  for (Part& part : parts_) {
    part.at = {};
    part.messages->restart();
    part.state.store(gives_ ? kShut : kOpen, std::memory_order_release);
  }
  if (gives_) return Status::ok();
  for (Part& part : parts_) open(part);
  return Status::ok();
}

Status Collective::ready(std::uint32_t partition) noexcept {
  std::uint32_t state = kShut;
  if (parts_[partition].state.compare_exchange_strong(state, kOpen, std::memory_order_acq_rel)) {
    open(parts_[partition]);
    return Status::ok();
  }
  if (state == kGivenUp) return p2p::loss_error(*comm, MPI_ANY_SOURCE);
  return heddle::error(MPI_ERR_ARG, "partition %u has been made ready before, since the collective was started",
                       partition);
}

void Collective::open(Part& part) noexcept {
  mpi::Comm& c = *comm;  // a partition that is through may be the last one
  if (!go_on(part)) p2p::add_task(c, part);
}

// True when the partition is through; `this` may be gone then.
bool Collective::go_on(Part& part) noexcept {
  if (!coll::run(part.schedule, part.at, *part.messages)) return false;
  part.error = part.messages->error();
  note(part.error);
  part.state.store(kArrived, std::memory_order_release);
  leave();
  return true;
}

void Collective::note(int one) noexcept {
  int none = MPI_SUCCESS;
  if (one != MPI_SUCCESS) first_error_.compare_exchange_strong(none, one, std::memory_order_relaxed);
}

void Collective::leave() noexcept {
  if (left_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  error = first_error_.load(std::memory_order_relaxed);
  p2p::finish(*this);
}

bool Collective::has(std::uint32_t partition) const noexcept {
  return parts_[partition].state.load(std::memory_order_acquire) >= kArrived;
}

Status Collective::outcome_of(std::uint32_t partition) const noexcept {
  const Part& part = parts_[partition];
  const bool given_up = part.state.load(std::memory_order_acquire) == kGivenUp;
  if (given_up || part.error == MPI_ERR_PROC_ABORTED) return p2p::loss_error(*comm, MPI_ANY_SOURCE);
  if (part.error == MPI_SUCCESS) return Status::ok();
  if (part.error != MPI_ERR_TRUNCATE && part.error != MPI_ERR_NOT_SAME) {
    return heddle::error(part.error, "partition %u could not be carried out", partition);
  }
  return heddle::error(
      part.error,
      "a message of partition %u was %s than this rank's arguments say; counts and datatypes have to match at all "
      "ranks",
      partition, part.error == MPI_ERR_TRUNCATE ? "longer" : "shorter");
}

bool Collective::give_up() noexcept {
  if (!p2p::has_lost_member(*comm)) return false;
  for (Part& part : parts_) {
    std::uint32_t state = kShut;
    if (!part.state.compare_exchange_strong(state, kGivenUp, std::memory_order_acq_rel)) continue;
    note(MPI_ERR_PROC_ABORTED);
    leave();
  }
  return is_complete();
}

}  // namespace heddle::part
