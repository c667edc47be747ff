// The environment of the ranks.
//
// Method:  mpiexec's own, without what another launcher left there for itself (PMI_*, PMI2_*, PMIX_*), then the
//          user's -genv and -x, then -env, then what the rank needs:
//            PMI_FD PMI_RANK PMI_SIZE        PMI-1 (src/boot/pmi1.hpp)
//            HEDDLE_*                        the node (src/boot/launch_facts.hpp)
//            MPI_LOCALRANKID MPI_LOCALNRANKS the same for scripts written for MPICH
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace heddle::launcher {

class Environment {
 public:
  // What is the same for all ranks of `program`.
  Environment(const Options& options, const Program& program, int size, int node_cores);

  // Valid until the next call.
  const std::vector<std::string>& of_rank(int rank, int pmi_fd);

 private:
  void set(const std::string& name, const std::string& value);

  std::vector<std::string> entries_;
  std::size_t of_rank_begin_ = 0;
};

}  // namespace heddle::launcher
