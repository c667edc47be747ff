// What one node must know of the job to run its ranks.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace heddle::launcher {

struct NodeSpec {
  struct Rank {
    int number = 0;   // in the job
    int program = 0;  // index into `programs`
  };

  std::string job;      // its name, unique among the jobs of its hosts
  std::string secret;   // known to its ranks only
  std::string mapping;  // PMI_process_mapping
  int size = 1;         // of the job
  std::vector<Rank> ranks;
  std::vector<Program> programs;  // all of the job
  Variables variables;            // for all programs
  BindingOptions binding;
  std::string directory;                                  // to start in; empty: where this process is
  bool out_is_terminal = false, err_is_terminal = false;  // mpiexec's own
  int detection_seconds = 10;                             // a peer that is silent for so long is taken for dead
};

}  // namespace heddle::launcher
