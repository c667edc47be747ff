// Persistent collectives by boards: each has one of its own.
//
// Problem: several may be under way at once, be started in different orders, and go on in any call of MPI: they cannot take
//          turns on the communicator's board.
// Method:  where a blocking one would need a single turn (round.hpp), the ranks agree, when the request is made, to have a board
//          for it alone: run k of the request is the board's operation k. What is left to do when MPI_Start returns is a task.
//          MPI_*_init is nonlocal for that: it exchanges a few words with all ranks.
// Threads: one at a time for a request; its task in any.
// Cost:    the request's board: of shared memory, some pages, and the data of each rank twice, four or sixteen times (wire/board.hpp).
//          A run: no allocation.
#pragma once

#include "coll/api.hpp"
#include "coll/board.hpp"
#include "coll/round.hpp"

namespace heddle::coll {

// Makes the request of a persistent collective. `is_short`: it can be one turn. Nothing: by messages, at all ranks. REQUIRES: the
// form is not blocking.
Outcome set_up(mpi::Comm& comm, Form form, const Round& round, bool is_short = true);

}  // namespace heddle::coll
