// heddle: what a person asks about the installation.
//
// Method:  what it says of the library, it asks the library that lies beside it, so an installation that was put
//          together from parts shows. The list of what is not implemented comes from the same table as the library's
//          functions.
#include <dlfcn.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/profile.hpp"
#include "base/spelling.hpp"
#include "bindings/generated/missing.hpp"
#include "controls.hpp"
#include "fabric.hpp"
#include "mpi.h"
#include "plan.hpp"
#include "tune.hpp"
#include "wire/single_copy.hpp"

namespace {

constexpr std::string_view kCommands[] = {"info", "plan", "tune"};
constexpr std::string_view kInfoOptions[] = {"--missing", "--all", "--fabric", "--help"};

constexpr char kUsage[] =
    "heddle: about this installation of Heddle, an MPI library\n"
    "\n"
    "  heddle info             version, library, how much of MPI is there\n"
    "  heddle info --missing   the procedures that are not implemented, one a line\n"
    "  heddle info --all       that, the limits and the files of the installation, and the control variables\n"
    "  heddle info --fabric    the networks of this host: libfabric's providers, and the one that Heddle would use\n"
    "  heddle plan COLLECTIVE  what each rank does in a collective, step by step (--help)\n"
    "  heddle tune             measures this machine and stores what decides how long messages travel (--help)\n"
    "  heddle --help           this text\n"
    "  heddle --version        Heddle's version\n";

struct Installation {
  std::string prefix;
  std::string library;     // empty: not found
  void* handle = nullptr;  // of the library
  std::string version;     // what it says of itself
  int standard[2] = {0, 0};
  int abi[2] = {0, 0};
};

std::string own_prefix() {
  char path[PATH_MAX];
  ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
  if (length < 0) return {};
  std::string prefix(path, static_cast<std::size_t>(length));
  for (int up = 0; up < 2; ++up) prefix.resize(prefix.rfind('/') == std::string::npos ? 0 : prefix.rfind('/'));
  return prefix;
}

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

Installation look_around() {
  Installation found;
  found.prefix = own_prefix();
  for (const char* folder : {"lib", HEDDLE_LIBDIR}) {
    std::string path = found.prefix + "/" + folder + "/libmpi_abi.so.1";
    if (access(path.c_str(), R_OK) == 0) found.library = path;
  }
  if (found.library.empty()) {
    std::fprintf(stderr, "heddle: there is no libmpi_abi.so.1 in %s/%s; is the installation complete?\n",
                 found.prefix.c_str(), HEDDLE_LIBDIR);
    return found;
  }
  void* library = found.handle = dlopen(found.library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "heddle: the library cannot be loaded: %s\n", dlerror());
    return found;
  }
  // These may be called without MPI_Init.
  char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
  int length = 0;
  if (auto* ask = symbol<decltype(PMPI_Get_library_version)>(library, "PMPI_Get_library_version")) {
    ask(text, &length);
  } else {
    std::fprintf(stderr, "heddle: %s is not Heddle's library: it lacks PMPI_Get_library_version\n",
                 found.library.c_str());
  }
  if (auto* ask = symbol<decltype(PMPI_Get_version)>(library, "PMPI_Get_version")) {
    ask(&found.standard[0], &found.standard[1]);
  }
  if (auto* ask = symbol<decltype(PMPI_Abi_get_version)>(library, "PMPI_Abi_get_version")) {
    ask(&found.abi[0], &found.abi[1]);
  }
  found.version = text;
  return found;
}

void print_missing() {
  for (const char* name : heddle::kMissing) std::puts(name);
}

int info(bool all) {
  Installation found = look_around();
  if (found.version.empty()) return 1;
  int missing = static_cast<int>(heddle::kMissing.size());
  std::printf("library      %s\n", found.version.c_str());
  std::printf("standard     MPI %d.%d, ABI %d.%d\n", found.standard[0], found.standard[1], found.abi[0], found.abi[1]);
  std::printf("file         %s\n", found.library.c_str());
  std::printf("procedures   %d of %d implemented; heddle info --missing lists the others\n",
              heddle::kProcedures - missing, heddle::kProcedures);
  std::printf(
      "extensions   mpix.h: endpoints, partitioned collectives (MPIX_Pallreduce_init and others), MPIX_Pbuf_prepare\n");
  std::printf("wires        shm (shared memory: the processes of one node, and a process to itself)\n");
  std::printf("             ofi (libfabric, between nodes: heddle info --fabric)\n");
  const char* why = "";
  if (heddle::wire::single_copy_works(&why)) {
    std::printf("single copy  works: a process reads long messages from its peer's memory\n");
  } else {
    std::printf("single copy  is refused (%s): long messages need their sender's help\n", why);
  }
  const std::string profile = heddle::profile_path();
  const bool stored = !profile.empty() && access(profile.c_str(), R_OK) == 0;
  std::printf("profile      %s\n", stored ? profile.c_str() : "none; heddle tune makes one (the defaults are good)");
  if (!all) return 0;
  std::printf("compilers    %s/bin/mpicc, %s/bin/mpicxx\n", found.prefix.c_str(), found.prefix.c_str());
  std::printf("launcher     %s/bin/mpiexec\n", found.prefix.c_str());
  std::printf(
      "limits       tag %d, count %lld with the _c procedures, error string %d, object name %d, info key %d, "
      "info value %d\n",
      INT_MAX, LLONG_MAX, MPI_MAX_ERROR_STRING, MPI_MAX_OBJECT_NAME, MPI_MAX_INFO_KEY, MPI_MAX_INFO_VAL);
  heddle::print_controls(found.handle);
  std::printf("missing\n");
  for (const char* name : heddle::kMissing) std::printf("  %s\n", name);
  return 0;
}

int unknown(std::string_view what, std::string_view word, std::span<const std::string_view> known) {
  std::fprintf(stderr, "heddle: unknown %.*s '%.*s'", static_cast<int>(what.size()), what.data(),
               static_cast<int>(word.size()), word.data());
  std::string_view nearest = heddle::nearest_word(word, known);
  if (!nearest.empty())
    std::fprintf(stderr, "; did you mean '%.*s'?", static_cast<int>(nearest.size()), nearest.data());
  std::fputs(" ('heddle --help' lists all)\n", stderr);
  return 2;
}

int run_info(std::span<const std::string_view> options) {
  bool all = false, missing = false;
  for (std::string_view option : options) {
    if (option == "--help") return std::fputs(kUsage, stdout), 0;
    if (option == "--fabric") return heddle::print_fabric();
    if (option == "--all") {
      all = true;
    } else if (option == "--missing") {
      missing = true;
    } else {
      return unknown("option", option, kInfoOptions);
    }
  }
  if (!missing || all) return info(all);
  print_missing();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string_view> words(argv + 1, argv + argc);
  if (words.empty()) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") return std::fputs(kUsage, stdout), 0;
  if (words[0] == "--version" || words[0] == "version") return std::puts("Heddle " HEDDLE_VERSION), 0;
  if (words[0] == "info") return run_info(std::span(words).subspan(1));
  if (words[0] == "plan") return run_plan(std::span(words).subspan(1));
  if (words[0] == "tune") return run_tune(std::span(words).subspan(1));
  return unknown("command", words[0], kCommands);
}
