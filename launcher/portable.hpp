// What the standard's portable start-up has beside options of one value (MPI 5.0, 11.5): sets of numbers, files of programs.
#pragma once

#include <string>
#include <vector>

#include "base/status.hpp"

namespace heddle::launcher {

// `text` is a list of N, FIRST:LAST or FIRST:LAST:STEP, by commas: the numbers of ranks that a program can do with.
// Makes `ranks` the largest of them that is no larger. Those that are negative or larger are ignored, as the standard has
// it; an error is a set of which nothing is left.
Status choose_of_soft(const std::string& text, int& ranks);

// The arguments that a file stands for: a line for each program, as between two `:`; `#` begins a line that is none, `\` at the end
// joins the next line, which must be there, blanks separate words unless quoted as in a shell.
Status read_config_file(const std::string& path, std::vector<std::string>& arguments);

}  // namespace heddle::launcher
