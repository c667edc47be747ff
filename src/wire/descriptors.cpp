#include "wire/descriptors.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <mutex>
#include <vector>

#include "mpi.h"

namespace heddle::wire {
namespace {

// Takes them and gives them back. They are the lowest free ones: a high one would make the kernel's table as long as its number.
bool are_left(int some_open, unsigned wanted) noexcept {
  static std::mutex one_at_a_time;  // two would see each other's as taken
  const std::lock_guard guard(one_at_a_time);
  std::vector<int> taken;
  taken.reserve(wanted);
  for (int fd = 0; taken.size() < wanted && (fd = fcntl(some_open, F_DUPFD_CLOEXEC, 0)) >= 0;) taken.push_back(fd);
  for (const int fd : taken) close(fd);
  return taken.size() == wanted;
}

}  // namespace

Status have_descriptors(int some_open, unsigned wanted) noexcept {
  rlimit limit{};
  while (!are_left(some_open, wanted)) {
    getrlimit(RLIMIT_NOFILE, &limit);
    rlimit more = limit;
    more.rlim_cur = limit.rlim_cur > limit.rlim_max / 2
                        ? limit.rlim_max
                        : std::min(limit.rlim_max, std::max<rlim_t>(2 * limit.rlim_cur, 1024));
    if (limit.rlim_cur < limit.rlim_max && setrlimit(RLIMIT_NOFILE, &more) == 0) continue;
    return error(MPI_ERR_OTHER,
                 "the network needs %u more file descriptors, and of the %llu that this process may have (ulimit -n) "
                 "too few are "
                 "left; raise the limit",
                 wanted, static_cast<unsigned long long>(limit.rlim_cur));
  }
  return Status::ok();
}

}  // namespace heddle::wire
