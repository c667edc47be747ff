#include "wire/descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>

#include "mpi.h"

namespace heddle::wire {

// The lowest that are free are handed out first; so where the first of the last `wanted` is free, so are the others, but for those that
// somebody has put there.
Status have_descriptors(int some_open, unsigned wanted) noexcept {
  rlimit limit{};
  while (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    const int last =
        limit.rlim_cur <= wanted ? -1 : static_cast<int>(std::min<rlim_t>(limit.rlim_cur - wanted, 1 << 30));
    const int tried = last < 0 ? -1 : fcntl(some_open, F_DUPFD_CLOEXEC, last);
    if (tried >= 0) close(tried);
    if (tried >= 0 && tried == last) return Status::ok();
    if (limit.rlim_cur >= limit.rlim_max) break;
    limit.rlim_cur = std::min(limit.rlim_max, std::max<rlim_t>(2 * limit.rlim_cur, 1024));
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) break;
  }
  return error(
      MPI_ERR_OTHER,
      "the network needs %u more file descriptors, and of the %llu that this process may have (ulimit -n) too few are "
      "left; raise the limit",
      wanted, static_cast<unsigned long long>(limit.rlim_cur));
}

}  // namespace heddle::wire
