#include "coll/operation.hpp"

#include <algorithm>

#include "base/slab.hpp"
#include "mpi/handle.hpp"
#include "p2p/request.hpp"

namespace heddle::coll {

namespace {

constinit SharedSlab<Operation, 8> operations;

// The user may free datatypes and the operation while the collective is under way (MPI 4.1, 6.12).
void retain_arguments(Schedule& schedule) {
  for (Step& step : schedule) {
    if (step.to.type != nullptr) mpi::retain(*step.to.type);
    if (step.kind == StepKind::kReduce) {
      mpi::retain(*step.operands.op);
    } else if (step.from.type != nullptr) {
      mpi::retain(*step.from.type);
    }
  }
}

void release_arguments(Schedule& schedule) {
  for (Step& step : schedule) {
    if (step.to.type != nullptr) mpi::release(*step.to.type);
    if (step.kind == StepKind::kReduce) {
      mpi::release(*step.operands.op);
    } else if (step.from.type != nullptr) {
      mpi::release(*step.from.type);
    }
  }
}

void destroy(mpi::Request& request) {
  auto& operation = static_cast<Operation&>(request);
  release_arguments(operation.schedule);
  mpi::release(*operation.comm);
  operations.give_back(&operation);
}

Status start(mpi::Request& request);

// What a check has found.
Status explain(const mpi::Request& request) {
  for (const Step& step : const_cast<Operation&>(static_cast<const Operation&>(request)).schedule) {
    if (step.kind == StepKind::kCheck) return verdict(step.from);
  }
  return Status::ok();
}

const mpi::RequestType kOperationType{.start = start,
                                      .cancel = nullptr,
                                      .destroy = destroy,
                                      .is_collective = true,
                                      .explain = explain,
                                      .must_complete = "a collective operation"};

// True when the collective is over; the operation belongs to its owner again then.
bool go_on(Operation& operation) {
  if (!run(operation.schedule, operation.at, operation.messages)) return false;
  operation.error = operation.messages.error();
  p2p::finish(operation);
  return true;
}

void begin(Operation& operation) {
  if (!go_on(operation)) p2p::add_task(*operation.comm, operation);
}

Status start(mpi::Request& request) {
  auto& operation = static_cast<Operation&>(request);
  operation.complete.store(0, std::memory_order_relaxed);
  operation.active = true;
  operation.error = MPI_SUCCESS;
  operation.at = {};
  operation.messages.restart();
  begin(operation);
  return Status::ok();
}

}  // namespace

Operation::Operation(mpi::Comm& c) noexcept
    : Request(kOperationType),
      schedule(c.rank, c.size, c.is_inter() ? c.peer_count : 0, &c.plans),
      messages(c, /*blocking=*/false) {
  comm = &c;
  vci = c.vci;
  c.retain();
  step = [](p2p::Task& task) { return go_on(static_cast<Operation&>(task)); };
}

void Messages::note_mismatch(const mpi::Request& request) noexcept {
  if (error_ != MPI_SUCCESS) return;  // the first one has the sentence
  if (!p2p::fell_short(request)) return fail(p2p::outcome(request).error_class());
  error_ =
      heddle::error(
          MPI_ERR_NOT_SAME,
          "rank %d sent %lld bytes where this rank's arguments say %llu; the counts and datatypes of a collective "
          "have to match",
          request.source, static_cast<long long>(request.bytes), static_cast<unsigned long long>(p2p::room(request)))
          .error_class();
}

bool Messages::has_lost_member() const noexcept {
  if (among_.empty()) return p2p::has_lost_member(comm_);
  return std::ranges::any_of(among_, [this](int rank) { return p2p::is_lost(comm_, rank); });
}

bool Messages::revoke(void* pending) noexcept {
  auto& request = *static_cast<mpi::Request*>(pending);
  bool over = p2p::revoke(request);
  if (!over && blocking_) comm_.vci->domain().wait(*request.vci, [&] { return over = p2p::revoke(request); });
  return over;
}

Status check_intra(const mpi::Comm& comm) {
  if (!comm.is_inter()) [[likely]]
    return Status::ok();
  return error(MPI_ERR_COMM,
               "this is not for intercommunicators; merge the two groups with MPI_Intercomm_merge and use the result");
}

Status out_of_memory(const mpi::Comm& comm) {
  return error(MPI_ERR_NO_MEM, "no memory for the temporary data of a collective on %d ranks", comm.size);
}

Status failure(const mpi::Comm& comm, const Schedule& schedule) {
  return schedule.error() == MPI_ERR_NO_MEM ? out_of_memory(comm) : Status::of_class(schedule.error());
}

Operation* new_operation(mpi::Comm& comm) { return operations.take(comm); }

Status launch(Operation& operation, Form form) {
  mpi::Comm& comm = *operation.comm;
  if (operation.schedule.failed()) {
    const Status why = failure(comm, operation.schedule);
    mpi::release(comm);
    operations.give_back(&operation);
    return why;
  }
  retain_arguments(operation.schedule);
  *form.request = mpi::to_handle(static_cast<mpi::Request*>(&operation));
  if (form.kind == Form::kNonblocking) {
    begin(operation);
  } else {
    operation.make_persistent();
  }
  return Status::ok();
}

}  // namespace heddle::coll
