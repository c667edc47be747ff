// The hints of a window (MPI 5.0, 12.2.1 to 12.2.3): what the program promises about how it will use it.
//
// Problem: MPI_Win_get_info has to give the value in force of every hint that is known, whether the user set it or not,
//          and none of what is unknown or has a value that means nothing.
// Method:  one table: each hint with its default and the test of a value. What the user gave at creation lies in
//          Win::info as it is, and is judged when it is read.
// Threads: any.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mpi/info.hpp"
#include "mpi/win.hpp"

namespace heddle::mpi {

// Takes up the hints that are known and have a legal value, but not what was decided when the window was made: how its
// memory lies, and how its accumulates are done.
Status change_hints(Win& win, Info& info);

// The value in force: the user's, or the default. REQUIRES: `key` is a known hint.
std::string hint(Win& win, std::string_view key);
// All hints that the window knows, in the order of the table.
std::vector<Info::Pair> hints_in_force(Win& win);

}  // namespace heddle::mpi
