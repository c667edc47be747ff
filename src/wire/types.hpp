// Names of the wire layer that the layers above store.
#pragma once

#include <cstdint>

namespace heddle::wire {

// One process of this job, or of another that was connected later. Given out by the domain; dense from 0 within a job.
using ProcessId = std::uint32_t;

}  // namespace heddle::wire
