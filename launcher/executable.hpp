// Finds the programs before any rank is started.
#pragma once

#include <string>

#include "base/status.hpp"
#include "options.hpp"

namespace heddle::launcher {

// mpiexec's own exit codes, as shells have them.
inline constexpr int kFailed = 1, kUsage = 2, kCannotExecute = 126, kNotFound = 127;

// The path to execute for program.argv[0]: as written when it has a slash (relative to the program's directory), else
// found in the directories of -path and nowhere else; without that in PATH, else, as MPICH and Open MPI do, in the program's directory. `code` is mpiexec's exit code when there
// is none.
Status find_executable(const Program& program, std::string& path, int& code);

}  // namespace heddle::launcher
