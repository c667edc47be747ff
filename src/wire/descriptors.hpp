// Whether a process may open some more file descriptors.
//
// Problem: the TCP providers of libfabric take a descriptor for each peer, also for one that connects by itself, and where there
//          is none they try again for ever, without a word: a job whose ranks talk to more peers than `ulimit -n` hangs.
// Method:  before an endpoint is opened or a peer is met for the first time, see whether descriptors are left; if not, raise the
//          soft limit, as far as the hard one allows. Who still has none is told what to do.
// Threads: any.
// Cost:    two system calls for each descriptor that is wanted, for an endpoint and for each peer.
#pragma once

#include "base/status.hpp"

namespace heddle::wire {

// REQUIRES: `some_open` is an open descriptor.
Status have_descriptors(int some_open, unsigned wanted) noexcept;

}  // namespace heddle::wire
