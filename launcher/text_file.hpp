// Files that a person names on the command line: lists of hosts, programs.
#pragma once

#include <string>

#include "base/status.hpp"

namespace heddle::launcher {

// The whole file. `kind`, such as "host file", is what errors call it. There is a bound: who names /dev/zero gets an
// answer, too.
Status read_text_file(const char* kind, const std::string& path, std::string& text);

}  // namespace heddle::launcher
