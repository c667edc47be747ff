#include "mpi/api_group.hpp"

#include "mpi/handle.hpp"

namespace heddle::api {
namespace {

using mpi::ProcessId;
using mpi::RankIndex;

// MPI_GROUP_EMPTY does not know which process this is; another operand does.
const Group& origin_of(const Group& a, const Group& b) { return a.self != mpi::kNoProcess ? a : b; }

Status make(std::vector<ProcessId> members, const Group& origin, MPI_Group* out) {
  return mpi::hand_out(mpi::take_group(std::move(members), origin), out, "a group");
}

// The members of `group` that are, or are not, in `other`.
std::vector<ProcessId> select(const Group& group, const Group& other, bool wanted) {
  RankIndex index(other);
  std::vector<ProcessId> members;
  for (ProcessId id : group.members) {
    if (index.contains(id) == wanted) members.push_back(id);
  }
  return members;
}

Status check_pair(const Group& a, const Group& b) { return mpi::check_same_session(a, b, MPI_ERR_GROUP); }

std::span<const int> as_span(MPI_Count n, const int ranks[]) { return {ranks, static_cast<std::size_t>(n)}; }

}  // namespace

Status group_size(Group& group, int* size) {
  *size = group.size();
  return Status::ok();
}

Status group_rank(Group& group, int* rank) {
  *rank = group.rank >= 0 ? group.rank : MPI_UNDEFINED;
  return Status::ok();
}

Status group_translate_ranks(Group& group1, MPI_Count n, const int ranks1[], Group& group2, int ranks2[]) {
  HEDDLE_TRY(check_pair(group1, group2));
  RankIndex index(group2);
  for (MPI_Count i = 0; i < n; ++i) {
    const int rank = ranks1[i];
    if (rank == MPI_PROC_NULL) {
      ranks2[i] = MPI_PROC_NULL;
      continue;
    }
    if (rank < 0 || rank >= group1.size()) {
      return error(MPI_ERR_RANK, "ranks1[%lld] is %d, but group1 has %d members", static_cast<long long>(i), rank,
                   group1.size());
    }
    const int found = index.rank_of(group1.members[static_cast<std::size_t>(rank)]);
    ranks2[i] = found >= 0 ? found : MPI_UNDEFINED;
  }
  return Status::ok();
}

Status group_compare(Group& group1, Group& group2, int* result) {
  HEDDLE_TRY(check_pair(group1, group2));
  *result = mpi::compare(group1, group2);
  return Status::ok();
}

Status group_union(Group& group1, Group& group2, MPI_Group* newgroup) {
  HEDDLE_TRY(check_pair(group1, group2));
  std::vector<ProcessId> members = group1.members;
  std::vector<ProcessId> added = select(group2, group1, false);
  members.insert(members.end(), added.begin(), added.end());
  return make(std::move(members), origin_of(group1, group2), newgroup);
}

Status group_intersection(Group& group1, Group& group2, MPI_Group* newgroup) {
  HEDDLE_TRY(check_pair(group1, group2));
  return make(select(group1, group2, true), origin_of(group1, group2), newgroup);
}

Status group_difference(Group& group1, Group& group2, MPI_Group* newgroup) {
  HEDDLE_TRY(check_pair(group1, group2));
  return make(select(group1, group2, false), origin_of(group1, group2), newgroup);
}

Status group_incl(Group& group, MPI_Count n, const int ranks[], MPI_Group* newgroup) {
  std::vector<ProcessId> members;
  HEDDLE_TRY(mpi::include_ranks(group, as_span(n, ranks), &members));
  return make(std::move(members), group, newgroup);
}

Status group_excl(Group& group, MPI_Count n, const int ranks[], MPI_Group* newgroup) {
  std::vector<ProcessId> members;
  HEDDLE_TRY(mpi::exclude_ranks(group, as_span(n, ranks), &members));
  return make(std::move(members), group, newgroup);
}

Status group_range_incl(Group& group, MPI_Count n, const int ranges[][3], MPI_Group* newgroup) {
  std::vector<int> ranks;
  HEDDLE_TRY(mpi::expand_ranges(group, n, ranges, &ranks));
  return group_incl(group, static_cast<MPI_Count>(ranks.size()), ranks.data(), newgroup);
}

Status group_range_excl(Group& group, MPI_Count n, const int ranges[][3], MPI_Group* newgroup) {
  std::vector<int> ranks;
  HEDDLE_TRY(mpi::expand_ranges(group, n, ranges, &ranks));
  return group_excl(group, static_cast<MPI_Count>(ranks.size()), ranks.data(), newgroup);
}

Status group_free(MPI_Group* group) {
  mpi::release(*mpi::from_handle(*group));
  *group = MPI_GROUP_NULL;
  return Status::ok();
}

}  // namespace heddle::api
