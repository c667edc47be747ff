// The hints of a communicator (MPI 5.0, 7.4.4 and 11.4.3): what the program promises, and how messages are matched.
//
// Method:  the info object of a communicator has what the program gave, but for hints that are known here and have a value
//          that means nothing. What it has not given has a default. What makes a communicator spread (mpi/spread.hpp) is
//          agreed when it is made; a hint that is set later is kept, and changes nothing then.
// Threads: any, by the communicator's mutex; one that is being made has one thread.
#pragma once

#include <vector>

#include "mpi/comm.hpp"
#include "mpi/info.hpp"

namespace heddle::comm {

using mpi::Comm;

inline constexpr char kReproducibleHint[] = "heddle_reproducible";  // true or false, as HEDDLE_REPRODUCIBLE for all
inline constexpr char kPlansHint[] = "heddle_plans_at_creation";    // true, as HEDDLE_PLANS_AT_CREATION for all
inline constexpr char kMatchingHint[] = "heddle_matching";          // the words of HEDDLE_MATCHING

// What the program's hints assert, in mpi::Assertion bits; null: nothing.
std::uint16_t assertions(mpi::Info* info);
// The hints of a communicator that was made with some; follow_hints() when it is complete.
void set_info(Comm& made, mpi::Info* info);
// The pairs that may be kept: a program shall not see others as taken.
std::vector<mpi::Info::Pair> known_hints(mpi::Info& info);
// Does what the communicator's hints ask for. What there is no memory for is no hint any more: they may be ignored.
// REQUIRES: they are known_hints().
void follow_hints(Comm& comm);
// All that MPI_Comm_get_info has to tell, the defaults too. REQUIRES: the communicator's mutex is held.
std::vector<mpi::Info::Pair> hints_in_force(Comm& comm);

}  // namespace heddle::comm
