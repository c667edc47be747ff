#include "boot/pmi.hpp"

#include <cstdlib>

#include "boot/environment.hpp"
#include "boot/pmi1.hpp"
#include "boot/pmi2.hpp"
#include "boot/pmi_channel.hpp"
#include "mpi.h"

namespace heddle::boot {
namespace {

constexpr std::string_view kInit[] = {kPmi1Init, "cmd=init pmi_version=2 pmi_subversion=0\n"};

// True: the launcher speaks `version`. Otherwise `other` says what it would rather.
Status greet(Pmi1Channel& channel, int version, bool& spoken, int& other) {
  Pmi1Line answer;
  HEDDLE_TRY(channel.ask(kInit[version - 1], "response_to_init", answer));
  spoken = !answer.refused();
  const std::string* offered = answer.find("pmi_version");
  if (offered == nullptr || !parse_int(*offered, 1, 2, other)) other = 0;
  return Status::ok();
}

Status agree(Pmi1Channel& channel, int& version) {
  // A Hydra that was started in a step of Slurm's hands on what that has set, but says which rank of the node this is.
  version = std::getenv("PMI_JOBID") != nullptr && std::getenv("MPI_LOCALNRANKS") == nullptr ? 2 : 1;
  for (const int first = version;; version = 3 - version) {
    bool spoken = false;
    int other = 0;
    HEDDLE_TRY(greet(channel, version, spoken, other));
    if (spoken) return Status::ok();
    if (version != first || other != 3 - version) break;
  }
  return error(MPI_ERR_OTHER, "the launcher refuses PMI version %d.%d; start with Heddle's mpiexec", version,
               version == 1 ? 1 : 0);
}

}  // namespace

std::unique_ptr<Boot> connect_pmi(const PmiOptions& options, Status& status) {
  Job job;
  std::unique_ptr<PmiWire> wire;
  status = PmiWire::open(options, job, wire);
  if (!status) return nullptr;
  auto channel = std::make_unique<Pmi1Channel>(std::move(wire));
  int version = 0;
  status = agree(*channel, version);
  if (!status) return nullptr;
  job.facts = read_launch_facts();
  if (version == 1) return Pmi1::join(std::move(job), std::move(channel), status);
  return Pmi2::join(std::move(job), channel->release(), status);
}

}  // namespace heddle::boot
