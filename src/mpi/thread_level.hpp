// The names of the levels of thread support, for info objects (MPI 5.0, 10.2.1 and 11.3.1).
#pragma once

#include <string_view>

namespace heddle::mpi {

const char* thread_level_name(int level) noexcept;
// -1 for a word that names none.
int thread_level_of(std::string_view name) noexcept;

}  // namespace heddle::mpi
