// What becomes of operations when a process is lost.
//
// Problem: a call that waits for a lost process must return (MPI 5.0, 9.3: MPI_ERR_PROC_ABORTED), and everything else must
//          go on as if nothing had happened.
// Method:  nothing is searched for when a process is lost; whoever waits for a request asks here whether it still can
//          come. A send or receive cannot when its peer is lost, and one from MPI_ANY_SOURCE that nothing matched when any
//          member is. A collective cannot when any member is: its requests are then revoked, whoever their peers are, as
//          those give up, too, and may never answer.
// Threads: as for completing a request: its one waiter.
// Cost:    until a process is lost, one load for each look at a request that is not complete.
#pragma once

#include "mpi/comm.hpp"
#include "p2p/p2p.hpp"
#include "vci/domain.hpp"

namespace heddle::p2p {

// Whether anything is lost at all: before each question below.
inline bool has_losses(const Comm& comm) noexcept { return comm.vci->domain().losses().count() != 0; }

// This rank, or for MPI_ANY_SOURCE any rank, that sends and receives on the communicator may name.
[[gnu::cold]] bool is_lost(const Comm& comm, int peer) noexcept;
// Any member, of either group.
[[gnu::cold]] bool has_lost_member(const Comm& comm) noexcept;
// MPI_ERR_PROC_ABORTED, with what is known of this rank, or of the first lost member.
[[gnu::cold]] Status loss_error(const Comm& comm, int peer) noexcept;

// This rank's peer, if it is one, or a receive's, must send something for which somebody waits (Wire::expect). True: the
// launcher was asked about it.
[[gnu::cold]] bool expect(const Comm& comm, int peer) noexcept;
[[gnu::cold]] bool expect(const Request& request) noexcept;

// Ends a request that cannot come any more, with MPI_ERR_PROC_ABORTED. True: it is complete, by whatever.
[[gnu::cold]] bool give_up(Request& request) noexcept;

// For a send or receive of a collective that is over: true when nothing will ever touch its buffer again, and the caller
// has nothing left to do with it; false: not yet, ask again after progress. What a living peer may still name stays in
// memory.
[[gnu::cold]] bool revoke(Request& request) noexcept;

}  // namespace heddle::p2p
