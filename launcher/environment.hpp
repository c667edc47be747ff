// The environment of the ranks.
//
// Method:  that of the process that starts them (on one node: mpiexec's), without what another launcher left there
//          for itself (PMI_*, PMI2_*, PMIX_*), then the user's -genv and -x, then -env, then what the rank needs:
//            PMI_FD PMI_RANK PMI_SIZE        PMI-1 (src/boot/pmi1.hpp)
//            HEDDLE_*                        the node (src/boot/launch_facts.hpp)
//            MPI_LOCALRANKID MPI_LOCALNRANKS the same for scripts written for MPICH
//            GLIBC_TUNABLES                  where ranks outnumber cores: restartable sequences off
//          A job over several hosts adds mpiexec's own HEDDLE_* variables before the user's.
#pragma once

#include <string>
#include <vector>

#include "node_spec.hpp"

namespace heddle::launcher {

class Environment {
 public:
  // What is the same for all ranks of `program` on this node.
  Environment(const NodeSpec& spec, const Program& program, int node_cores);

  // `local`: the rank among those of the node. Valid until the next call.
  const std::vector<std::string>& of_rank(int rank, int local, int pmi_fd);

 private:
  std::string value_of(const std::string& name) const;
  void set(const std::string& name, const std::string& value);

  std::vector<std::string> entries_;
  std::size_t of_rank_begin_ = 0;
};

// What a job over several hosts passes on without being asked: mpiexec's own variables that begin with HEDDLE_.
Variables own_variables();

}  // namespace heddle::launcher
