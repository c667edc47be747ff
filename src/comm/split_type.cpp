// MPI_Comm_split_type: by what parts of the hardware the members are confined to (MPI 5.0, 7.4.2).
//
// Method:  a member tells the others, in one exchange before that of MPI_Comm_split, which instance it is confined to of each
//          type in a list that is the same everywhere. Only MPI_COMM_TYPE_HW_UNGUIDED needs that, but who calls with MPI_UNDEFINED
//          does not know what the others ask for.
// Cost:    an allgather of 44 bytes a member, beside that of MPI_Comm_split.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "boot/boot.hpp"
#include "coll/build.hpp"
#include "coll/operation.hpp"
#include "comm/api_comm.hpp"
#include "mpi/hardware.hpp"
#include "mpi/process.hpp"

namespace heddle::api {
namespace {

constexpr const char* kResourceType = "mpi_hw_resource_type";
constexpr int kNone = MPI_UNDEFINED;  // of this member no color

// What MPI_COMM_TYPE_HW_UNGUIDED tries, the largest first.
constexpr std::string_view kLevels[] = {mpi::kSharedMemory, "Package", "Die",     "NUMANode", "L5Cache", "L4Cache",
                                        "L3Cache",          "L2Cache", "L1Cache", "Core",     "PU"};
using Colors = std::array<std::int32_t, std::size(kLevels)>;

int node_of(Comm& comm, int rank) {
  return comm.process->boot().node_of_rank()[comm.group->members[static_cast<std::size_t>(rank)]];
}

// Instances count on their node. A node has fewer of anything than this.
constexpr int kMostInstances = 1 << 16;
int color_of(Comm& comm, const mpi::Resource& resource) {
  return resource.instance == mpi::kNotConfined ? kNone : node_of(comm, comm.rank) * kMostInstances + resource.instance;
}

int color_of(Comm& comm, std::string_view type, const std::vector<mpi::Resource>& resources) {
  if (type == mpi::kSharedMemory) return node_of(comm, comm.rank);
  const auto found =
      std::find_if(resources.begin(), resources.end(), [&](const mpi::Resource& r) { return r.type == type; });
  return found == resources.end() ? kNone : color_of(comm, *found);
}

// MPI_COMM_TYPE_HW_GUIDED and MPI_COMM_TYPE_RESOURCE_GUIDED: the info object names the resource. What is not known
// here gives no communicator.
int guided_color(Comm& comm, int split_type, Info* info) {
  if (info == nullptr) return kNone;
  if (const auto resource = info->get(kResourceType)) {
    std::string_view type = *resource;
    if (type == mpi::kSharedMemory) return node_of(comm, comm.rank);
    if (type.starts_with(mpi::kHwlocScheme)) type.remove_prefix(mpi::kHwlocScheme.size());
    return color_of(comm, type, mpi::resources_of(mpi::own_processors()));
  }
  if (split_type != MPI_COMM_TYPE_RESOURCE_GUIDED) return kNone;
  const auto pset = info->get("mpi_pset_name");
  if (pset == "mpi://WORLD") return 0;
  return pset == "mpi://SELF" ? comm.rank : kNone;
}

// This member's colors at all levels, and after the exchange those of all.
Status exchange(Comm& comm, const Colors& mine, std::vector<Colors>* all) {
  all->resize(static_cast<std::size_t>(comm.size));
  (*all)[static_cast<std::size_t>(comm.rank)] = mine;
  return coll::carry_out(comm, coll::Form(), [&](coll::Schedule& s) {
    coll::Buffer each(all->data(), sizeof(Colors), mpi::byte_type());
    coll::build_allgather(s, coll::Buffer(MPI_IN_PLACE, 0, mpi::byte_type()), each);
  });
}

// The first level at which somebody is apart from somebody else; kLevels' length when there is none.
std::size_t unguided_level(const std::vector<Colors>& all) {
  for (std::size_t level = 0; level < std::size(kLevels); ++level) {
    for (const Colors& colors : all) {
      if (colors[level] != all.front()[level]) return level;
    }
  }
  return std::size(kLevels);
}

bool spans_nodes(Comm& comm) {
  for (int rank = 1; rank < comm.size; ++rank) {
    if (node_of(comm, rank) != node_of(comm, 0)) return true;
  }
  return false;
}

// The color of MPI_COMM_TYPE_HW_UNGUIDED, and the name of what it is of.
Status unguided_color(Comm& comm, int split_type, int* color, std::string* type) {
  const bool asked = split_type == MPI_COMM_TYPE_HW_UNGUIDED;
  if (comm.is_inter()) {  // its members have no exchange of their own
    if (asked && spans_nodes(comm)) *color = node_of(comm, comm.rank);
    *type = mpi::kSharedMemory;
    return Status::ok();
  }
  Colors mine;
  mine.fill(kNone);
  if (asked) {
    const std::vector<mpi::Resource> resources = mpi::resources_of(mpi::own_processors());
    for (std::size_t level = 0; level < mine.size(); ++level) mine[level] = color_of(comm, kLevels[level], resources);
  }
  std::vector<Colors> all;
  HEDDLE_TRY(exchange(comm, mine, &all));
  if (!asked) return Status::ok();
  const std::size_t level = unguided_level(all);
  if (level == std::size(kLevels)) return Status::ok();
  *color = mine[level];
  *type = (level == 0 ? "" : mpi::kHwlocScheme) + std::string(kLevels[level]);
  return Status::ok();
}

}  // namespace

Status comm_split_type(Comm& comm, int split_type, int key, Info* info, MPI_Comm* newcomm) {
  Status refusal;
  int color = kNone;
  std::string unguided_type;
  switch (split_type) {
    case MPI_UNDEFINED:
    case MPI_COMM_TYPE_HW_UNGUIDED:
      break;
    case MPI_COMM_TYPE_SHARED:
      color = node_of(comm, comm.rank);
      break;
    case MPI_COMM_TYPE_HW_GUIDED:
    case MPI_COMM_TYPE_RESOURCE_GUIDED:
      color = guided_color(comm, split_type, info);
      break;
    default:
      refusal = error(MPI_ERR_ARG, "split_type is %d, which is none of MPI_COMM_TYPE_*", split_type);
  }
  HEDDLE_TRY(unguided_color(comm, split_type, &color, &unguided_type));
  HEDDLE_TRY(split(comm, refusal, color, key, newcomm));
  if (split_type == MPI_COMM_TYPE_HW_UNGUIDED && color != kNone && info != nullptr) {
    info->set(kResourceType, unguided_type);
  }
  return Status::ok();
}

}  // namespace heddle::api
