// What the ways to make an intercommunicator share.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"

namespace heddle::comm {

using mpi::Comm;

// How two groups reach each other.
struct Bridge {
  Comm* comm;  // significant at the leader
  int leader;  // of the local group, in the local communicator
  int remote;  // the other group's, in `comm`
  int tag;     // on the collective channel
};

// The intercommunicator of two groups, to be called by all members of both. `local` is of this process's group and for
// the library alone; the intercommunicator gets a reference of its own. It has the parent's error handler. `refusal`: why
// this process cannot take part.
Status join_groups(Comm& parent, Comm& local, Status refusal, const Bridge& bridge, Comm** out);
// An intercommunicator like `parent`, before the addresses of the remote group are known; mpi::connect fills them in.
// Takes `mine` over. Null when memory ran out.
Comm* make_inter_early(Comm& parent, Comm& local, mpi::Address mine);
// The leader's word instead, when the group could not get as far: the other one need not wait.
void decline(const Bridge& bridge);

}  // namespace heddle::comm
