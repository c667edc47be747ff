// What one node must know of the job to run its ranks, and how it travels to another host.
//
// The environment of a rank on another host is that host's own, as the remote shell gives it, then mpiexec's variables
// that begin with HEDDLE_, then what the user has named. The secret is in no environment, on no command line and in no
// file: it goes through the connection that the remote shell has authenticated, and from there over PMI.
#pragma once

#include <string>
#include <vector>

#include "frame.hpp"
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

// The frame kJob: `spec` with these ranks instead of its own. An error when it is too large for a frame.
Status encode(const NodeSpec& spec, const std::vector<NodeSpec::Rank>& ranks, FrameWriter& frame);
// An error when the frame is not complete, or no job that could be run.
Status decode(const Frame& frame, NodeSpec& spec);

// "rank 3", "ranks 4-7", "ranks 0, 2, 4"
std::string ranks_text(const std::vector<NodeSpec::Rank>& ranks);

}  // namespace heddle::launcher
