// call.hpp, and the lengths of the arrays of neighbourhood collectives.
#pragma once

#include "bindings/call.hpp"
#include "mpi/topology.hpp"

namespace heddle::bindings {

// REQUIRES: mpi::check_topology(comm).
inline int indegree(const mpi::Comm& comm) { return comm.topology->indegree(); }
inline int outdegree(const mpi::Comm& comm) { return comm.topology->outdegree(); }

}  // namespace heddle::bindings
