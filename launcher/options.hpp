// What the user asked mpiexec for.
//
// Problem: people bring their habits from MPICH (`-np 4 -genv K V`) and from Open MPI (`--bind-to core -x VAR`), and
//          a typing error must not become a program name or a silent default.
// Method:  one table (options.cpp) is the parser, the text of --help and the source of "did you mean". One dash or
//          two are the same. Everything after the program belongs to the program, up to a lone `:`.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "hosts.hpp"

namespace heddle::launcher {

using Variables = std::vector<std::pair<std::string, std::string>>;

enum class Unit { kNone, kHwThread, kCore, kSocket, kNuma };

struct BindingOptions {
  Unit bind_to = Unit::kNone;
  Unit map_by = Unit::kNone;
  bool oversubscribe = false;
};

// One part between `:`.
struct Program {
  int ranks = 1;
  std::string directory;  // empty: mpiexec's own
  std::string path;       // where to look for it, instead of PATH; directories with `:` between
  std::string soft;       // -soft
  Variables variables;
  std::vector<std::string> argv;
};

struct Options {
  std::vector<Program> programs;
  Variables variables;  // for all programs
  bool tag_output = false;
  BindingOptions binding;
  HostList hosts;              // empty: this node alone
  Placement placement;         // on the hosts
  std::string remote_shell;    // empty: ssh
  std::string remote_mpiexec;  // empty: where this one is
  bool help = false;
  bool version = false;
  std::vector<std::string> notes;  // to tell the user, and go on

  int ranks() const noexcept {
    int sum = 0;
    for (const Program& p : programs) sum += p.ranks;
    return sum;
  }
};

// `arguments` without argv[0].
Status parse_options(const std::vector<std::string>& arguments, Options& options);

std::string help_text();

}  // namespace heddle::launcher
