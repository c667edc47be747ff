// The measuring is the overlay's own (overlay/tune.hpp), which is built for the host's ABI; this program knows of none.
//
// The overlay has to be in front of the host's library where names are looked for, as LD_PRELOAD has it. One that was built by
// the host's mpicxx brings that library along. For the standard ABI it is looked for: the launcher that started this rank lies beside it.
#include "tune_host.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace {

constexpr char kUsage[] =
    "heddle tune --host: measures, under another MPI, what is faster by Heddle's overlay, and stores that for the "
    "overlay\n"
    "\n"
    "  mpiexec -n 16 heddle tune --host     with that MPI's mpiexec, and as many ranks as your jobs have\n"
    "\n"
    "  --overlay FILE   the overlay that was built for that MPI; else the one of this installation, for the standard "
    "ABI\n"
    "  --mpi FILE       its libmpi_abi.so; else ../lib/libmpi_abi.so.1 beside the launcher, or what the loader finds\n"
    "  --output FILE    into FILE; use it with HEDDLE_OVERLAY_PROFILE=FILE. Else where the overlay looks: \n"
    "                   heddle/overlay-<MPI>-<host> in $XDG_CACHE_HOME or ~/.cache\n"
    "  --dry-run        only shows it\n"
    "  --figures        shows each measurement\n"
    "\n"
    "Run it while nothing else does; two ranks take some seconds, 16 ranks on few cores half a minute.\n";

std::string folder_of(const std::string& link, int up) {
  char path[PATH_MAX];
  const ssize_t length = readlink(link.c_str(), path, sizeof path - 1);
  std::string folder(path, length < 0 ? 0 : static_cast<std::size_t>(length));
  for (; up > 0; --up) folder.resize(folder.rfind('/') == folder.npos ? 0 : folder.rfind('/'));
  return folder;
}

struct HostWish {
  std::string overlay, mpi, output;
  bool dry_run = false, figures = false;
};

// The overlay, with the MPI behind it; null with a line.
void* load(const HostWish& wish) {
  std::string path = wish.overlay;
  for (const char* lib : {"/lib", "/" HEDDLE_LIBDIR}) {
    const std::string own = folder_of("/proc/self/exe", 2) + lib + "/libheddle_overlay.so";
    if (path.empty() && access(own.c_str(), R_OK) == 0) path = own;
  }
  if (path.empty()) path = "libheddle_overlay.so";
  void* overlay = dlopen(path.c_str(), RTLD_LAZY | RTLD_GLOBAL);
  if (overlay == nullptr) {
    std::fprintf(stderr, "heddle tune: the overlay cannot be loaded: %s; --overlay names it\n", dlerror());
    return nullptr;
  }
  if (dlsym(RTLD_DEFAULT, "PMPI_Init") != nullptr) return overlay;
  const std::string beside = folder_of("/proc/" + std::to_string(getppid()) + "/exe", 2) + "/lib/libmpi_abi.so.1";
  const std::string mpi = !wish.mpi.empty() ? wish.mpi : access(beside.c_str(), R_OK) == 0 ? beside : "libmpi_abi.so.1";
  if (dlopen(mpi.c_str(), RTLD_LAZY | RTLD_GLOBAL) != nullptr && dlsym(RTLD_DEFAULT, "PMPI_Init") != nullptr)
    return overlay;
  const char* why = dlerror();
  std::fprintf(
      stderr,
      "heddle tune: there is no MPI of the standard ABI: %s; --mpi names its library. For another ABI --overlay "
      "names the overlay that was built for it\n",
      why != nullptr ? why : mpi.c_str());
  return nullptr;
}

}  // namespace

int run_tune_host(std::span<const std::string_view> options) {
  HostWish wish;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const std::string_view option = options[i];
    const bool has_more = i + 1 < options.size();
    if (option == "--help") return std::fputs(kUsage, stdout), 0;
    if (option == "--dry-run") {
      wish.dry_run = true;
    } else if (option == "--figures") {
      wish.figures = true;
    } else if (option == "--overlay" && has_more) {
      wish.overlay = options[++i];
    } else if (option == "--mpi" && has_more) {
      wish.mpi = options[++i];
    } else if (option == "--output" && has_more) {
      wish.output = options[++i];
    } else {
      std::fprintf(stderr, "heddle tune: '%.*s' is not understood ('heddle tune --host --help')\n",
                   static_cast<int>(option.size()), option.data());
      return 2;
    }
  }
  void* overlay = load(wish);
  if (overlay == nullptr) return 1;
  using Tune = int(const char*, int, int);
  auto* tune = reinterpret_cast<Tune*>(dlsym(overlay, "heddle_overlay_tune"));
  if (tune == nullptr) return std::fprintf(stderr, "heddle tune: this overlay cannot measure: %s\n", dlerror()), 1;
  return tune(wish.output.empty() ? nullptr : wish.output.c_str(), wish.dry_run, wish.figures);
}
