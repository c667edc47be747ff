#include "job/job.hpp"

#include <cstdlib>
#include <string>

#include "base/futex.hpp"
#include "base/status.hpp"
#include "boot/boot.hpp"
#include "mpi.h"

namespace heddle::job {

vci::DomainOptions domain_options(boot::Boot& boot) {
  vci::DomainOptions options;
  options.self = static_cast<wire::ProcessId>(boot.rank());
  options.cores = static_cast<std::uint32_t>(boot.node_cores());
  options.local_ranks = static_cast<std::uint32_t>(boot.local_size());
  options.short_sleeps = !register_heavy_fence();
  options.fatal = [](void* context, const char* sentence) { end(*static_cast<boot::Boot*>(context), sentence); };
  options.fatal_context = &boot;
  return options;
}

void report_loss(boot::Boot& boot, wire::ProcessId process, const char* why) {
  if (boot.report_loss(static_cast<int>(process), why)) return;
  error(MPI_ERR_OTHER, "rank %u, on node %d of the job, is lost: %s", process, boot.node_of_rank()[process], why)
      .ignore();
  end(boot, last_error_detail());
}

void end(boot::Boot& boot, const char* sentence) {
  boot.abort(1, "heddle: rank " + std::to_string(boot.rank()) + ": " + sentence);
  std::abort();  // gcc does not see that a virtual function never returns
}

}  // namespace heddle::job
