// Nonblocking and persistent collectives by boards.
//
// Problem: several may be under way at once and go on in any call of MPI; persistent ones are started in different orders.
// Method:  a course (course.hpp), of which each call of MPI looks how far it can go; what is left to do when the start returns
//          is a task. Nonblocking ones begin in one order on all ranks, with the blocking ones: they are operations apart of the
//          communicator's board. The ranks agree, when a persistent request is made, to have a board for it alone, and its runs
//          follow each other there. MPI_*_init is nonlocal for that: it exchanges a few words with all ranks.
// Threads: one at a time for a request; its task in any.
// Cost:    nonblocking: an object from a slab. Persistent: the request's board, of shared memory: some pages, and the data of each rank
//          twice, four or sixteen times (wire/board.hpp); of data that are read where they lie the pages only. A run: no allocation.
#pragma once

#include "coll/api.hpp"
#include "coll/board.hpp"
#include "coll/course.hpp"
#include "coll/steps.hpp"

namespace heddle::coll {

struct Start {
  Form form;  // not blocking
  Steps steps;
};

// Begins a nonblocking collective, or makes the request of a persistent one; `course` without its way. Nothing: by messages, at all
// ranks.
Outcome set_up(mpi::Comm& comm, const Start& start, Course course, Does does, std::size_t block);

}  // namespace heddle::coll
