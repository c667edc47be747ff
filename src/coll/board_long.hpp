// Reductions of a node whose operands are too long for a cell, where a course (course.hpp) does not do: an allreduce that goes through
// the cells piece by piece, and a reduce that may have written over operands when a rank's memory can no longer be read.
//
// Threads: as the collectives.
#pragma once

#include "coll/board.hpp"
#include "coll/round.hpp"

namespace heddle::coll {

// REQUIRE: raw_bytes of the type.
Outcome long_reduce(mpi::Comm& comm, wire::Board& board, Buffer own, void* result, Op& op, int root);
Outcome long_allreduce(mpi::Comm& comm, wire::Board& board, const Round& round);

// Of what a cell has room for, through it.
Status bcast_cell(mpi::Comm& comm, wire::Board& board, Buffer data, int root);
// The same of the items `own` of operands that have `all` bytes.
Status allreduce_cell(mpi::Comm& comm, wire::Board& board, std::size_t all, Buffer own, void* result, const Op& op);

}  // namespace heddle::coll
