// What this program has counted, and what has happened in it, for MPI_T, which may be asked at any time.
//
// Method:  the first user of the library (comm/life.hpp) names the domain whose VCIs count, the last one takes their last
//          counts. In between a reader keeps the last one waiting for the moment of its reading.
// Threads: any; a lock, and within it the locks of the VCIs, one at a time.
#pragma once

#include <span>
#include <string_view>

#include "base/status.hpp"
#include "vci/counts.hpp"

namespace heddle::vci {
class Domain;
class EventLog;
}  // namespace heddle::vci

namespace heddle::mpi {

class ContextTable;
struct Comm;

void open_counts(vci::Domain& domain, const ContextTable& contexts) noexcept;
void close_counts() noexcept;
// Element i is VCI i. One that is not there has counted nothing, before MPI_Init as any.
void read_counts(std::span<vci::Counts> counts) noexcept;
// Whether this thread may change engines, or read what those of single communicators count: below MPI_THREAD_MULTIPLE,
// where the VCIs' locks are off, only the one that initialised MPI. An error of MPI_T.
Status may_touch_matching() noexcept;
// Gives all VCIs the engine of that name, with what is queued; communicators that asked for one of their own keep it. Nothing
// is done where MPI is not in use. An error of MPI_T; after MPI_T_ERR_MEMORY some VCIs may have it.
Status change_matching(std::string_view engine);
// Of all VCIs together.
match::Stats matching_of_process() noexcept;
// From the first to the last of these the VCIs take the time of their matching, also those of a later MPI_Init.
Status take_matching_time() noexcept;
void leave_matching_time() noexcept;
// Those of MPI_COMM_WORLD and MPI_COMM_SELF included; outside of MPI_Init and MPI_Finalize none.
std::uint64_t contexts_in_use() noexcept;
// Receives of this communicator whose requests still exist. Takes the locks of its VCIs.
std::uint64_t open_receives(Comm& comm) noexcept;

// What happens in this process's domain, for the tool interface. Never destroyed.
vci::EventLog& event_log() noexcept;

}  // namespace heddle::mpi
