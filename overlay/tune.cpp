#include "tune.hpp"

#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/cache_file.hpp"
#include "coll_comm.hpp"
#include "host.hpp"

namespace heddle::overlay {
namespace {

constexpr int kTold = 1;  // a tag

// All at once may be used while it is found out what is to be used.
Profile everything() {
  Profile all;
  all.lines.push_back({CollKind::kBarrier, Way::kBlocking, 2, 0, 0});
  for (const PartWay way : {PartWay::kRma, PartWay::kHost}) all.partitioned.push_back({way, 1, ~std::uint64_t{0}});
  return all;
}

// 2, 4, 8, ... and all of them.
std::vector<int> numbers_of_ranks(int all) {
  std::vector<int> made;
  for (int n = 2; n < all; n *= 2) made.push_back(n);
  made.push_back(all);
  return made;
}

// Waits for those who measure, and leaves them the cores. By a message: where partitioned communication of the host does not end, its
// nonblocking collectives do not either (Open MPI 5.0.11).
void sleep_until_told() {
  int told = 0;
  while (PMPI_Iprobe(0, kTold, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE), !told) {
    const timespec pause{0, 1'000'000};
    nanosleep(&pause, nullptr);
  }
  PMPI_Recv(nullptr, 0, MPI_BYTE, 0, kTold, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

// visit(comm) at the first n ranks of `all`.
template <class Visit>
void among_first(int n, int rank, int all, Visit visit) {
  MPI_Comm some;
  MPI_Comm_split(MPI_COMM_WORLD, rank < n ? 0 : MPI_UNDEFINED, rank, &some);
  if (some == MPI_COMM_NULL) return sleep_until_told();
  visit(some);
  MPI_Comm_free(&some);
  for (int peer = n; rank == 0 && peer < all; ++peer) PMPI_Send(nullptr, 0, MPI_BYTE, peer, kTold, MPI_COMM_WORLD);
}

int store(const Profile& profile, const char* output, bool dry_run) {
  const std::string text = profile.print(), path = output != nullptr ? output : own_profile_path(profile.host);
  if (dry_run) return std::fputs(text.c_str(), stdout), 0;
  if (path.empty()) {
    std::fputs("heddle tune: neither HOME nor XDG_CACHE_HOME is set; say --output FILE\n", stderr);
    return 1;
  }
  if (!store_file(path, text)) {
    std::fprintf(stderr, "heddle tune: the profile %s cannot be written: %s; name another file with --output\n",
                 path.c_str(), std::strerror(errno));
    return 1;
  }
  std::printf("stored in %s\n", path.c_str());
  return 0;
}

}  // namespace
}  // namespace heddle::overlay

using namespace heddle::overlay;

#pragma GCC visibility push(default)
extern "C" {

// Of `heddle tune --host`, in each rank of a job; its exit code. `output`: null for the place where MPI_Init looks.
int heddle_overlay_tune(const char* output, int dry_run, int figures) {
  for (const char* name : {"PARTITIONED", "COLLECTIVES", "SHARED_MEMORY", "PROGRESS", "REPORT"}) {
    unsetenv((std::string("HEDDLE_OVERLAY_") + name).c_str());
  }
  set_own_profile(everything());
  int level = 0, rank = 0, size = 0, result = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size < 2) {
    std::fputs(
        "heddle tune: --host needs the ranks of a job: mpiexec -n 16 heddle tune --host, with the host's mpiexec\n",
        stderr);
    MPI_Finalize();
    return 1;
  }
  if (planned_comm(MPI_COMM_WORLD) == nullptr) {  // a line has said why
    MPI_Finalize();
    return 1;
  }
  Profile made;
  made.host = host_name();
  if (rank == 0) std::printf("host: %s\n", made.host.c_str());
  for (const int n : numbers_of_ranks(size)) {
    among_first(n, rank, size, [&](MPI_Comm comm) { tune_collectives(comm, figures != 0, &made); });
  }
  int ends = 1;
  among_first(2, rank, size, [&](MPI_Comm comm) { ends = tune_partitioned(comm, figures != 0, &made); });
  if (rank == 0) result = store(made, output, dry_run != 0);
  std::fflush(stdout);
  PMPI_Bcast(&ends, 1, MPI_INT, 0, MPI_COMM_WORLD);
  // What the host has left hanging it would wait for.
  if (!ends) _exit(result);
  MPI_Finalize();
  return result;
}

}  // extern "C"
#pragma GCC visibility pop
