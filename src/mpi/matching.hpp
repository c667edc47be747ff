// The matching engine of a communicator, and what it counts: for the info key heddle_matching and for MPI_T.
//
// Problem: all communicators on a VCI share one engine, so nobody can say what one of them costs, or give it another.
// Method:  on demand the communicator's user channel gets engines of its own, on each of its VCIs (match/detour.hpp), with
//          what is queued. They go with the communicator.
// Threads: any. Takes the locks of the communicator's VCIs, one after the other: ask when no call on it is under way, or
//          the sums of several VCIs are of several moments.
#pragma once

#include "match/choice.hpp"
#include "match/engine.hpp"
#include "mpi/comm.hpp"

namespace heddle::mpi {

// Gives the communicator an engine of that kind, its own: it stays when the process gets another one. False: no memory.
bool set_matching(Comm& comm, const match::Choice& choice) noexcept;
// Counts for the communicator from now on, until it is freed. An error of MPI_T.
Status watch_matching(Comm& comm) noexcept;

struct CommMatching {
  match::Stats queues;
  std::uint64_t ns = 0;  // while time was taken
};
// Since the communicator has an engine of its own; before that, nothing.
CommMatching matching_of(Comm& comm) noexcept;

}  // namespace heddle::mpi
