// MPI_Comm_split_type: by what parts of the hardware the members are confined to (MPI 5.0, 7.4.2).
//
// Method:  a member tells the others, in one exchange before that of MPI_Comm_split, which instance it is confined to of each
//          type in a list that is the same everywhere. Only MPI_COMM_TYPE_HW_UNGUIDED needs that, but who calls with MPI_UNDEFINED
//          does not know what the others ask for.
// Cost:    an allgather of 48 bytes a member, beside that of MPI_Comm_split.
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

// What a member tells the others.
struct Said {
  std::int32_t split_type;
  Colors colors;
};

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

// What this member says, and after the exchange what all do.
Status exchange(Comm& comm, const Said& mine, std::vector<Said>* all) {
  all->resize(static_cast<std::size_t>(comm.size));
  (*all)[static_cast<std::size_t>(comm.rank)] = mine;
  return coll::carry_out(comm, coll::Form(), [&](coll::Schedule& s) {
    coll::Buffer each(all->data(), sizeof(Said), mpi::byte_type());
    coll::build_allgather(s, coll::Buffer(MPI_IN_PLACE, 0, mpi::byte_type()), each);
  });
}

// The first level at which somebody is apart from somebody else; kLevels' length when there is none.
std::size_t unguided_level(const std::vector<Said>& all) {
  for (std::size_t level = 0; level < std::size(kLevels); ++level) {
    for (const Said& one : all) {
      if (one.colors[level] != all.front().colors[level]) return level;
    }
  }
  return std::size(kLevels);
}

// All members ask for the same, but for those that ask for nothing. Whoever finds another says so; as all know of it, all do.
Status check_agreement(const std::vector<Said>& all) {
  const Said* first = nullptr;
  for (const Said& one : all) {
    if (one.split_type == MPI_UNDEFINED) continue;
    if (first == nullptr) first = &one;
    if (one.split_type == first->split_type) continue;
    return error(
        MPI_ERR_ARG, "split_type is %d at rank %d and %d at rank %d; all ranks must pass the same, or MPI_UNDEFINED",
        first->split_type, static_cast<int>(first - all.data()), one.split_type, static_cast<int>(&one - all.data()));
  }
  return Status::ok();
}

// The color of MPI_COMM_TYPE_HW_UNGUIDED, and the name of what it is of.
Status unguided_color(Comm& comm, int split_type, int* color, std::string* type) {
  const bool asked = split_type == MPI_COMM_TYPE_HW_UNGUIDED;
  Said mine{split_type, {}};
  mine.colors.fill(kNone);
  if (asked) {
    const std::vector<mpi::Resource> resources = mpi::resources_of(mpi::own_processors());
    for (std::size_t level = 0; level < std::size(kLevels); ++level) {
      mine.colors[level] = color_of(comm, kLevels[level], resources);
    }
  }
  std::vector<Said> all;
  HEDDLE_TRY(exchange(comm, mine, &all));
  HEDDLE_TRY(check_agreement(all));
  if (!asked) return Status::ok();
  const std::size_t level = unguided_level(all);
  if (level == std::size(kLevels)) return Status::ok();
  *color = mine.colors[level];
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
      break;
    case MPI_COMM_TYPE_HW_UNGUIDED:
      if (comm.is_inter()) {  // whose groups have no exchange in which they could agree on a type
        refusal = error(MPI_ERR_COMM,
                        "MPI_COMM_TYPE_HW_UNGUIDED is not for intercommunicators; name a type with "
                        "MPI_COMM_TYPE_HW_GUIDED, or split MPI_Intercomm_merge's result");
      }
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
  if (!comm.is_inter()) HEDDLE_TRY(unguided_color(comm, split_type, &color, &unguided_type));
  HEDDLE_TRY(split(comm, refusal, color, key, newcomm));
  if (split_type == MPI_COMM_TYPE_HW_UNGUIDED && color != kNone && info != nullptr) {
    info->set(kResourceType, unguided_type);
  }
  return Status::ok();
}

}  // namespace heddle::api
