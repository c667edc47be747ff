// MPI_Comm_create and MPI_Comm_create_group.
#include <algorithm>
#include <vector>

#include "coll/operation.hpp"
#include "comm/api_comm.hpp"
#include "comm/creation.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {
namespace {

using comm::Creation;

bool contains(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

// Tells groups apart: all members of a group have to bring the same one.
int digest(const Group& group) {
  std::uint32_t hash = 2166136261u;  // FNV-1a
  for (mpi::ProcessId id : group.members) hash = (hash ^ id) * 16777619u;
  return static_cast<int>(hash & 0x7FFFFFFF);
}

Status check_same_group(const Creation& creation, const std::vector<int>& callers, int mine) {
  for (int caller : callers) {
    if (creation.proposals()[static_cast<std::size_t>(caller)].color != mine) {
      return error(MPI_ERR_GROUP,
                   "this process and rank %d of the communicator are in one group, but brought different ones", caller);
    }
  }
  return Status::ok();
}

Status finish(Creation& creation, const std::vector<int>& ranks, MPI_Comm* newcomm) {
  Comm* made = nullptr;
  HEDDLE_TRY(creation.make(ranks, &made));
  *newcomm = mpi::to_handle(made);
  return Status::ok();
}

}  // namespace

Status comm_create(Comm& comm, Group& group, MPI_Comm* newcomm) {
  std::vector<int> ranks;
  const Status refusal = comm::ranks_in(comm, group, &ranks);
  const bool member = contains(ranks, comm.rank);
  if (comm.is_inter()) {
    const auto place = std::find(ranks.begin(), ranks.end(), comm.rank) - ranks.begin();
    return split_inter(comm, refusal, member ? 0 : MPI_UNDEFINED, static_cast<int>(place), newcomm);
  }
  Creation creation(comm);
  creation.refuse(refusal);
  const int mine = digest(group);
  creation.set(mine, 0);
  if (member) creation.join();
  HEDDLE_TRY(creation.agree());
  *newcomm = MPI_COMM_NULL;
  if (!member) return Status::ok();
  HEDDLE_TRY(check_same_group(creation, ranks, mine));
  return finish(creation, ranks, newcomm);
}

Status comm_create_group(Comm& comm, Group& group, int tag, MPI_Comm* newcomm) {
  HEDDLE_TRY(coll::check_intra(comm));
  if (tag < 0) return error(MPI_ERR_TAG, "tag is %d; it must not be negative", tag);
  std::vector<int> ranks;
  HEDDLE_TRY(comm::ranks_in(comm, group, &ranks));
  *newcomm = MPI_COMM_NULL;
  if (!contains(ranks, comm.rank)) return Status::ok();
  Creation creation(comm);
  creation.join();
  HEDDLE_TRY(creation.agree(ranks, tag));
  return finish(creation, ranks, newcomm);
}

}  // namespace heddle::api
