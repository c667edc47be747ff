// Threads of the library's own, beside the program's.
//
// Threads: any.
#pragma once

#include <functional>
#include <thread>

#include "base/status.hpp"

namespace heddle {

// Runs `body` in a thread that gets none of the program's signals. `name`: at most 15 characters, for `top -H` and gdb.
// `purpose` completes "cannot start a thread ...".
Status start_own_thread(std::thread* out, const char* name, const char* purpose, std::function<void()> body);

}  // namespace heddle
