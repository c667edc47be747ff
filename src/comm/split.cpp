// MPI_Comm_split and MPI_Comm_split_type.
#include <algorithm>
#include <numeric>

#include "boot/boot.hpp"
#include "coll/operation.hpp"
#include "comm/api_comm.hpp"
#include "comm/creation.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"

namespace heddle::api {
namespace {

using comm::Creation;
using comm::Proposal;

constexpr const char* kResourceType = "mpi_hw_resource_type";
constexpr const char* kSharedMemory = "mpi_shared_memory";

// The exchange, and the new communicator of those that have this process's color.
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

int node_of(Comm& comm, int rank) {
  return comm.process->boot().node_of_rank()[comm.group->members[static_cast<std::size_t>(rank)]];
}

bool spans_nodes(Comm& comm) {
  const int first = node_of(comm, 0);
  for (int rank = 1; rank < comm.size; ++rank) {
    if (node_of(comm, rank) != first) return true;
  }
  return false;
}

// MPI_COMM_TYPE_HW_GUIDED and MPI_COMM_TYPE_RESOURCE_GUIDED: the info object names the resource. What is not known
// here gives no communicator (MPI 5.0, 7.4.2).
int guided_color(Comm& comm, int split_type, Info* info) {
  if (info == nullptr) return MPI_UNDEFINED;
  if (const auto resource = info->get(kResourceType)) {
    return *resource == kSharedMemory ? node_of(comm, comm.rank) : MPI_UNDEFINED;
  }
  if (split_type != MPI_COMM_TYPE_RESOURCE_GUIDED) return MPI_UNDEFINED;
  const auto pset = info->get("mpi_pset_name");
  if (pset == "mpi://WORLD") return 0;
  return pset == "mpi://SELF" ? comm.rank : MPI_UNDEFINED;
}

}  // namespace

Status comm_split(Comm& comm, int color, int key, MPI_Comm* newcomm) {
  Status refusal;
  if (color < 0 && color != MPI_UNDEFINED) {
    refusal = error(MPI_ERR_ARG, "color is %d; it must not be negative, or be MPI_UNDEFINED", color);
  }
  return split(comm, refusal, color, key, newcomm);
}

Status comm_split_type(Comm& comm, int split_type, int key, Info* info, MPI_Comm* newcomm) {
  Status refusal;
  int color = MPI_UNDEFINED;
  switch (split_type) {
    case MPI_UNDEFINED:
      break;
    case MPI_COMM_TYPE_SHARED:
      color = node_of(comm, comm.rank);
      break;
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      color = guided_color(comm, split_type, info);
      break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
      // The largest part of the hardware that does not hold them all is a node, or nothing that is known here.
      if (spans_nodes(comm)) color = node_of(comm, comm.rank);
      break;
    default:
      refusal = error(MPI_ERR_ARG, "split_type is %d, which is none of MPI_COMM_TYPE_*", split_type);
  }
  HEDDLE_TRY(split(comm, refusal, color, key, newcomm));
  if (split_type == MPI_COMM_TYPE_HW_UNGUIDED && color != MPI_UNDEFINED && info != nullptr) {
    info->set(kResourceType, kSharedMemory);
  }
  return Status::ok();
}

}  // namespace heddle::api
