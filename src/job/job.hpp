// What a process of a job is, for the layers that communicate: how its domain is set up, and how it ends the job.
//
// Threads: any.
#pragma once

#include "vci/domain.hpp"

namespace heddle::boot {
class Boot;
}

namespace heddle::job {

// What `boot` knows; what the user chooses is left as it is by default. `boot` must outlive the domain.
vci::DomainOptions domain_options(boot::Boot& boot);

// `process` cannot be reached any more: the launcher ends it and tells everyone, where it listens; else this ends the job.
void report_loss(boot::Boot& boot, wire::ProcessId process, const char* why);

// Ends the job with `sentence`, as said by this rank.
[[noreturn]] void end(boot::Boot& boot, const char* sentence);

}  // namespace heddle::job
