// MPI_Comm_split, and what of it MPI_Comm_split_type needs.
#include <algorithm>

#include "coll/operation.hpp"
#include "comm/api_comm.hpp"
#include "comm/creation.hpp"
#include "mpi/handle.hpp"

namespace heddle::api {

using comm::Creation;
using comm::Proposal;

Status split(Comm& comm, Status refusal, int color, int key, MPI_Comm* newcomm) {
  if (comm.is_inter()) return split_inter(comm, refusal, color, key, newcomm);
  Creation creation(comm);
  creation.refuse(refusal);
  creation.set(color, key);
  if (color != MPI_UNDEFINED) creation.join();
  HEDDLE_TRY(creation.agree());
  *newcomm = MPI_COMM_NULL;
  if (color == MPI_UNDEFINED) return Status::ok();
  const std::vector<Proposal>& all = creation.proposals();
  std::vector<int> ranks;
  for (int rank = 0; rank < comm.size; ++rank) {
    if (all[static_cast<std::size_t>(rank)].color == color) ranks.push_back(rank);
  }
  // Those with equal keys stay in the order of the old ranks.
  std::stable_sort(ranks.begin(), ranks.end(), [&](int a, int b) {
    return all[static_cast<std::size_t>(a)].key < all[static_cast<std::size_t>(b)].key;
  });
  Comm* made = nullptr;
  HEDDLE_TRY(creation.make(ranks, &made));
  *newcomm = mpi::to_handle(made);
  return Status::ok();
}

Status comm_split(Comm& comm, int color, int key, MPI_Comm* newcomm) {
  Status refusal;
  if (color < 0 && color != MPI_UNDEFINED) {
    refusal = error(MPI_ERR_ARG, "color is %d; it must not be negative, or be MPI_UNDEFINED", color);
  }
  return split(comm, refusal, color, key, newcomm);
}

}  // namespace heddle::api
