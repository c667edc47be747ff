#include "comm/with_topology.hpp"

#include <numeric>

#include "mpi/handle.hpp"

namespace heddle::comm {

Status agree(Comm& parent, Creation& creation, Status judged, const Digest& digest, bool member) {
  creation.refuse(judged);
  creation.set(digest.value(), 0);
  if (judged && member) creation.join();
  HEDDLE_TRY(creation.agree());
  for (const Proposal& proposal : creation.proposals()) {
    if (proposal.color == digest.value()) continue;
    return error(MPI_ERR_ARG,
                 "rank %d of the communicator describes another topology than this process (rank %d); all ranks must "
                 "pass the same",
                 static_cast<int>(&proposal - creation.proposals().data()), parent.rank);
  }
  return Status::ok();
}

Status refuse(Comm& parent, Status refusal) {
  if (parent.is_inter()) return refusal;  // each rank is told what is wrong with that
  Creation creation(parent);
  creation.refuse(refusal);
  return creation.agree();
}

Status make_with_topology(Creation& creation, const std::vector<int>& ranks,
                          std::shared_ptr<const mpi::Topology> topology, MPI_Comm* newcomm) {
  Comm* made = nullptr;
  HEDDLE_TRY(creation.make(ranks, &made));
  made->topology = std::move(topology);
  *newcomm = mpi::to_handle(made);
  return Status::ok();
}

std::vector<int> first_ranks(int n) {
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

}  // namespace heddle::comm
