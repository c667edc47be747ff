// mpiexec: starts the ranks of an MPI job, here or on the hosts of a list, and stays with them until the end.
//
// The way: options → the nodes → each finds its executables, plans its binding, starts its guard → all start their
// ranks → events until all have ended → the exit code. One process, one thread, and the same on each host of a list,
// where it is called `mpiexec --node`; docs/launcher.md has the user's view, docs/decisions/launcher.md the reasons.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>

#include "executable.hpp"
#include "job.hpp"
#include "node_process.hpp"
#include "options.hpp"

namespace {

// Whatever mpiexec opens must be above 2, also where it was started with a closed standard descriptor.
void occupy_standard_descriptors() {
  int fd;
  do {
    fd = open("/dev/null", O_RDWR);
  } while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0) close(fd);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace heddle::launcher;
  occupy_standard_descriptors();
  if (argc == 2 && std::strcmp(argv[1], "--node") == 0) return NodeProcess().run();
  Options options;
  if (!parse_options({argv + 1, argv + argc}, options)) {
    std::fprintf(stderr, "mpiexec: %s\n", heddle::last_error_detail());
    return kUsage;
  }
  if (options.help) {
    std::fputs(help_text().c_str(), stdout);
    return 0;
  }
  if (options.version) {
    std::puts("mpiexec (Heddle) " HEDDLE_VERSION);
    return 0;
  }
  return Job(options).run();
}
