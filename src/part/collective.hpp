// Partitioned collectives (mpix.h).
//
// Problem: many threads fill what a rank gives to a collective. Each part is to leave as soon as it is ready, at each rank in an order of its
//          own, and what has come of one part is to be used while others are not ready anywhere.
// Method:  each partition is a collective by itself: steps (coll/schedule.hpp) that are bound when the request is made, and a tag of
//          its own, so no message of one is taken for another's. Its gate opens when MPI_Pready says so; at ranks that give nothing, in
//          MPI_Start. Whoever opens it carries the steps out as far as they go; the rest is a task, which any thread's progress carries
//          on. No partition waits for another, here or elsewhere, so every order of MPI_Pready comes to its end.
// Tags:    the ranks agree about the number of partitions before they take a tag for each: later collectives of the communicator keep theirs.
// Losses:  the steps that run give up by themselves (coll/run.hpp). Partitions that are not ready yet are given up by who waits.
// Threads: MPI_Pready and MPI_Parrived any number; the others one. The steps of a partition run in one thread at a time, with no lock held.
// Order:   a start releases the partition to who opens its gate, its end to who sees it arrived. The end of one is the last that its thread
//          does with the request, unless it is the last of all.
// Cost:    some 1.2 KiB for each partition (an alltoall with many ranks: 96 bytes more for each of them), and scratch as the collective needs. A run allocates nothing beyond its messages.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <optional>

#include "coll/operation.hpp"
#include "mpi/op.hpp"
#include "mpi/request.hpp"
#include "p2p/p2p.hpp"

namespace heddle::part {

extern const mpi::RequestType kCollectiveType;

class Collective : public mpi::Request {
 public:
  // What the request refers to, as long as it lives; null: nothing.
  struct Uses {
    mpi::Datatype *send = nullptr, *recv = nullptr;
    mpi::Op* op = nullptr;
  };

  // `gives`: this rank has something that becomes ready.
  Collective(mpi::Comm& comm, const Uses& uses, bool gives) noexcept;
  ~Collective();

  // One more partition; its steps are for the caller to write. Throws when there is no memory.
  coll::Schedule& add();
  // All are written, and all ranks have as many: they take their tags.
  void settle(std::uint32_t first_tag) noexcept;

  std::uint32_t partitions() const noexcept { return static_cast<std::uint32_t>(parts_.size()); }
  bool gives() const noexcept { return gives_; }
  Status start() noexcept;
  // REQUIRE: partition < partitions().
  Status ready(std::uint32_t partition) noexcept;
  bool has(std::uint32_t partition) const noexcept;
  // Of one that has arrived.
  Status outcome_of(std::uint32_t partition) const noexcept;
  // Ends what cannot come any more, as a member is lost: partitions that are not ready. True: the run is over.
  bool give_up() noexcept;

 private:
  enum State : std::uint32_t { kShut, kOpen, kArrived, kGivenUp };

  struct Part : p2p::Task {
    Part(Collective& owner, mpi::Comm& comm) noexcept;

    Collective& collective;
    std::atomic<std::uint32_t> state{kShut};
    int error = MPI_SUCCESS;  // when it has arrived
    coll::Progress at;
    std::optional<coll::Messages> messages;
    coll::Schedule schedule;
  };

  void open(Part& part) noexcept;
  bool go_on(Part& part) noexcept;
  void note(int error) noexcept;
  void leave() noexcept;

  const Uses uses_;
  const bool gives_;
  std::deque<Part> parts_;
  std::atomic<std::uint32_t> left_{0};  // partitions that are under way or not ready
  std::atomic<int> first_error_{MPI_SUCCESS};
};

}  // namespace heddle::part
