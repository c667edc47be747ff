// heddle tune --host: what is faster under this host, by the overlay or by the host itself.
//
// Problem: a plan that is faster over one host and on one machine is slower over the next; nobody can tell beforehand.
// Method:  the ranks of a job of that host call each procedure by the host (PMPI_) and by the overlay, in turns, and the slowest rank of each
//          turn counts. What is faster by a margin goes into the profile, all else stays the host's: sizes beyond the longest, and sizes
//          between two of which only one is faster. Communicators have 2, 4, 8 ... ranks, and all; who is in none sleeps meanwhile, as there may
//          be more ranks than cores.
// Threads: the job's initial one; it asks for MPI_THREAD_MULTIPLE, where the overlay and the host both do their most.
#pragma once

#include <vector>

#include "host.hpp"
#include "profile.hpp"

namespace heddle::overlay {

// What a size is done by.
struct SizeChoice {
  std::uint64_t bytes = 0;
  Choice choice;  // bit 0
};

// Less than that of the host's time.
inline constexpr double kMargin = 0.95;

// Into *out the lines of all collectives in this communicator, at all ranks alike. Rank 0 tells about it. Collective.
void tune_collectives(MPI_Comm comm, bool figures, Profile* out);
// Into *out the lines of partitioned operations between rank 0 and 1 of `comm`, which has no other. False: the host's own did not end, nor
// will its MPI_Finalize. Collective.
bool tune_partitioned(MPI_Comm comm, bool figures, Profile* out);

double median(std::vector<double> values);

}  // namespace heddle::overlay
