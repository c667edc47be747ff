// One collective under way: a schedule, run over point-to-point messages on the communicator's collective channel.
//
// Method:  all members start the collectives of a communicator in one order, so a count of them is the tag of the
//          messages. A blocking collective runs on the caller's stack and waits in each JOIN. A nonblocking one goes as
//          far as it can at once; the rest is a task that any thread's progress carries on. So does each run of a persistent
//          one.
// Threads: any. A task's step runs in one thread at a time and holds no lock, so user operations never run under one.
// Cost:    blocking: no allocation for short data on few ranks. Nonblocking: one object from a slab.
#pragma once

#include <span>

#include "base/status.hpp"
#include "coll/api.hpp"
#include "coll/run.hpp"
#include "mpi/comm.hpp"
#include "mpi/request.hpp"
#include "p2p/loss.hpp"
#include "p2p/p2p.hpp"
#include "p2p/request.hpp"

namespace heddle::coll {

// The tags of the collective channel: below this one they are given in turn, from it on they are those of
// MPI_Comm_create_group, which only some of the members call (comm/exchange.hpp).
inline constexpr std::uint32_t kFirstGroupTag = 1u << 30;

// The tag of the next collective of this communicator.
inline int next_tag(mpi::Comm& comm) noexcept {
  return static_cast<int>(comm.collective_sequence.fetch_add(1, std::memory_order_relaxed) & (kFirstGroupTag - 1));
}

// run.hpp's transport over p2p.
class Messages {
 public:
  Messages(mpi::Comm& comm, bool blocking) noexcept : Messages(comm, blocking, next_tag(comm)) {}
  // `among`: the ranks that take part; empty: all of them. They outlive this.
  Messages(mpi::Comm& comm, bool blocking, int tag, std::span<const int> among = {}) noexcept
      : comm_(comm), tag_(tag), blocking_(blocking), among_(among) {}

  void* send(Buffer from, int peer) noexcept {
    mpi::Request* request = nullptr;
    Status s = p2p::isend(comm_of(peer), from.data, from.count, *from.type, rank_of(peer), tag_of(peer),
                          p2p::Mode::kStandard, mpi::Channel::kCollective, &request);
    return started(s, request);
  }
  void* recv(Buffer to, int peer) noexcept {
    mpi::Request* request = nullptr;
    Status s = p2p::irecv(comm_of(peer), to.data, to.count, *to.type, rank_of(peer), tag_of(peer),
                          mpi::Channel::kCollective, &request);
    return started(s, request);
  }
  bool finish(void* pending) noexcept {
    auto* request = static_cast<mpi::Request*>(pending);
    if (blocking_ && !request->is_complete()) wait(*request);
    if (!request->is_complete()) return false;
    if (request->error != MPI_SUCCESS || p2p::fell_short(*request)) [[unlikely]]
      note_mismatch(*request);
    p2p::destroy(request);
    return true;
  }
  void fail(int error_class) noexcept {
    if (error_ == MPI_SUCCESS) error_ = error_class;
  }
  bool is_broken() const noexcept { return p2p::has_losses(comm_) && has_lost_member(); }
  bool revoke(void* pending) noexcept;

  int error() const noexcept { return error_; }
  // The same with a sentence, where there is one of its own.
  Status status() const noexcept {
    return error_ == MPI_ERR_PROC_ABORTED ? p2p::loss_error(comm_, MPI_ANY_SOURCE) : Status::of_class(error_);
  }
  void restart() noexcept { error_ = MPI_SUCCESS; }

 private:
  mpi::Comm& comm_of(int peer) const noexcept { return peer >= kLocal ? *comm_.local : comm_; }
  // The inner communicator of an intercommunicator counts collectives of its own, below kFirstGroupTag.
  int tag_of(int peer) const noexcept { return peer >= kLocal ? tag_ | static_cast<int>(kFirstGroupTag) : tag_; }
  static int rank_of(int peer) noexcept { return peer >= kLocal ? peer - kLocal : peer; }
  // Every member knows how long each message of a collective is, so a shorter one is as wrong as a longer one.
  [[gnu::cold]] void note_mismatch(const mpi::Request& request) noexcept;
  [[gnu::cold]] bool has_lost_member() const noexcept;
  // Until it is complete, or never will be.
  void wait(mpi::Request& request) const noexcept {
    comm_.vci->domain().wait(
        *request.vci, [&] { return request.is_complete() || is_broken(); }, [&] { p2p::expect(request); });
  }
  mpi::Request* started(Status s, mpi::Request* request) noexcept {
    if (s) return request;
    fail(s.error_class());
    return nullptr;
  }

  mpi::Comm& comm_;
  int tag_;
  bool blocking_;
  int error_ = MPI_SUCCESS;
  std::span<const int> among_;
};

// A nonblocking collective, or a persistent one: that keeps its schedule and its tag for all runs, as ranks may start
// several of them in different orders (MPI 5.0, 6.13). Messages between two ranks arrive in the order of the runs.
struct Operation : mpi::Request, p2p::Task {
  explicit Operation(mpi::Comm& c) noexcept;

  Schedule schedule;
  Progress at;
  Messages messages;
};

// For what intercommunicators cannot do.
Status check_intra(const mpi::Comm& comm);
// Null when memory ran out.
Operation* new_operation(mpi::Comm& comm);
// The schedule is written: begins to run it, or leaves that to MPI_Start. Gives the operation back when that failed.
Status launch(Operation& operation, Form form);
[[gnu::cold]] Status out_of_memory(const mpi::Comm& comm);
// Why it was not to be built: no memory, or a plan that is not right, of which the sentence has been said.
[[gnu::cold]] Status failure(const mpi::Comm& comm, const Schedule& schedule);

// `build` writes the schedule.
template <class Build>
Status carry_out(mpi::Comm& comm, Form form, Build&& build) {
  if (form.kind != Form::kBlocking) {
    Operation* operation = new_operation(comm);
    if (operation == nullptr) return out_of_memory(comm);
    build(operation->schedule);
    operation->schedule.join();
    return launch(*operation, form);
  }
  Schedule schedule(comm.rank, comm.size, comm.is_inter() ? comm.peer_count : 0, &comm.plans);
  build(schedule);
  schedule.join();
  if (schedule.failed()) return failure(comm, schedule);
  Messages messages(comm, true);
  Progress at;
  run(schedule, at, messages);
  return messages.status();
}

}  // namespace heddle::coll
