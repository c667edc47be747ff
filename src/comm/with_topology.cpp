#include "comm/with_topology.hpp"

#include <new>
#include <numeric>

#include "coll/api.hpp"
#include "comm/creation.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"

namespace heddle::comm {
namespace {

// Everybody's neighbours, which those of a distributed graph do not know of each other. Each rank gives how many sources it has, then
// them, then its destinations.
Status learn_neighborhoods(Comm& comm, mpi::Topology& topology) try {
  const plan::Neighbors& own = topology.own();
  std::vector<int> mine{static_cast<int>(own.sources.size())};
  mine.insert(mine.end(), own.sources.begin(), own.sources.end());
  mine.insert(mine.end(), own.destinations.begin(), own.destinations.end());
  const auto ranks = static_cast<std::size_t>(comm.size);
  const auto count = static_cast<MPI_Count>(mine.size());
  std::vector<MPI_Count> counts(ranks), at(ranks);
  mpi::Datatype& byte = mpi::byte_type();
  mpi::Datatype& number = *mpi::from_handle(MPI_INT);
  HEDDLE_TRY(api::allgather(&count, sizeof count, byte, counts.data(), sizeof count, byte, comm));
  std::exclusive_scan(counts.begin(), counts.end(), at.begin(), MPI_Count{0});
  std::vector<int> all(static_cast<std::size_t>(at.back() + counts.back()));
  HEDDLE_TRY(api::allgatherv(mine.data(), count, number, all.data(), mpi::IntArray(counts.data()),
                             mpi::IntArray(at.data()), number, comm));
  std::vector<plan::Neighbors> known(ranks);
  for (std::size_t r = 0; r < ranks; ++r) {
    const auto begin = all.begin() + at[r] + 1, middle = begin + *(begin - 1);
    known[r] = {{begin, middle}, {middle, all.begin() + at[r] + counts[r]}, own.crossed};
  }
  topology.neighborhoods = plan::Neighborhoods(std::move(known));
  return Status::ok();
} catch (const std::bad_alloc&) {
  return error(MPI_ERR_NO_MEM, "no memory for the neighbours of %d ranks", comm.size);
}

}  // namespace

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

Status make_with_topology(Creation& creation, const std::vector<int>& ranks, std::shared_ptr<mpi::Topology> topology,
                          MPI_Comm* newcomm) {
  Comm* made = nullptr;
  HEDDLE_TRY(creation.make(ranks, &made));
  if (made->process->verifies_plans()) {
    if (const Status learnt = learn_neighborhoods(*made, *topology); !learnt) {
      mpi::release(*made);
      return learnt;
    }
  }
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
