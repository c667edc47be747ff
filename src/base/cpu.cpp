#include "base/cpu.hpp"

#include <sched.h>

namespace heddle {

void yield_core() noexcept { sched_yield(); }

}  // namespace heddle
