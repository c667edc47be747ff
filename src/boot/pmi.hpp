// Joining a job over PMI_FD: how Heddle's mpiexec, MPICH's Hydra and Slurm's pmi2 plugin start a program.
//
// Problem: two protocols are spoken over the same socket, and nothing in the environment says which the launcher has.
// Method:  both begin with the same line, in which the program says its version, and the launcher whether it will do.
//          Asked for is PMI-1, which Heddle's mpiexec and Hydra speak well (Hydra's PMI-2 fence waits for nobody); but
//          PMI-2 where the environment has PMI_JOBID and not MPI_LOCALNRANKS, as Slurm's (Slurm's PMI-1 answers nothing
//          inside a barrier).
//          When that is refused, the other.
#pragma once

#include <memory>

#include "boot/pmi_wire.hpp"

namespace heddle::boot {

// Reads PMI_FD, PMI_RANK and PMI_SIZE, greets the launcher and learns the job. Null, and an error in `status`,
// otherwise.
std::unique_ptr<Boot> connect_pmi(const PmiOptions& options, Status& status);

}  // namespace heddle::boot
