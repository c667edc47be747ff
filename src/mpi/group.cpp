#include "mpi/group.hpp"

#include "base/slab.hpp"
#include "mpi/handle.hpp"
#include "mpi/session.hpp"

namespace heddle::mpi {
namespace {

SharedSlab<Group>& groups() {
  static auto* slab = new SharedSlab<Group>;
  return *slab;
}

Group& empty_group() {
  static Group* empty = [] {
    auto* group = new Group({}, kNoProcess, nullptr);
    group->fortran_index = static_cast<int>(handle_value(MPI_GROUP_EMPTY));
    return group;
  }();
  return *empty;
}

Status check_ranks(const Group& group, std::span<const int> ranks) {
  std::vector<bool> seen(group.members.size(), false);
  for (int rank : ranks) {
    if (rank < 0 || rank >= group.size()) {
      return error(MPI_ERR_RANK, "rank %d is not in the group, which has %d members", rank, group.size());
    }
    if (seen[static_cast<std::size_t>(rank)]) {
      return error(MPI_ERR_RANK, "rank %d is listed twice; a process is in a group once", rank);
    }
    seen[static_cast<std::size_t>(rank)] = true;
  }
  return Status::ok();
}

}  // namespace

Group* predefined_group(std::uintptr_t value) noexcept {
  return value == handle_value(MPI_GROUP_EMPTY) ? &empty_group() : nullptr;
}

Group::~Group() {
  if (session != nullptr) mpi::release(*session);
}

void Group::belong_to(Session* from) noexcept {
  session = from;
  if (session != nullptr) session->retain();
}

Group* take_group(std::vector<ProcessId> members, const Group& origin) {
  return take_group(std::move(members), origin.self, origin.session);
}

Group* take_group(std::vector<ProcessId> members, ProcessId self, Session* session) {
  if (!members.empty()) return groups().take(std::move(members), self, session);
  empty_group().retain();
  return &empty_group();
}

void release(Group& group) noexcept {
  if (&group == &empty_group()) return;
  if (group.release()) groups().give_back(&group);
}

RankIndex::RankIndex(const Group& group) {
  entries_.reserve(group.members.size());
  for (int rank = 0; rank < group.size(); ++rank)
    entries_.push_back({group.members[static_cast<std::size_t>(rank)], rank});
  auto by_id = [](const Entry& a, const Entry& b) { return a.id < b.id; };
  if (!std::is_sorted(entries_.begin(), entries_.end(), by_id)) std::sort(entries_.begin(), entries_.end(), by_id);
}

bool RankIndex::has_repeats() const noexcept {
  return std::adjacent_find(entries_.begin(), entries_.end(),
                            [](const Entry& a, const Entry& b) { return a.id == b.id; }) != entries_.end();
}

int RankIndex::rank_of(ProcessId id) const noexcept {
  auto it =
      std::lower_bound(entries_.begin(), entries_.end(), id, [](const Entry& e, ProcessId i) { return e.id < i; });
  return it != entries_.end() && it->id == id ? it->rank : -1;
}

Status check_same_session(const Group& a, const Group& b, int error_class) {
  if (a.session == b.session || a.size() == 0 || b.size() == 0) return Status::ok();
  const bool two = a.session != nullptr && b.session != nullptr;
  return error(error_class, "one was derived from a session, the other from %s; a call takes both from one",
               two ? "another session" : "MPI_COMM_WORLD or MPI_COMM_SELF");
}

int compare(const Group& a, const Group& b) {
  if (a.members == b.members) return MPI_IDENT;
  if (a.size() != b.size()) return MPI_UNEQUAL;
  RankIndex in_b(b);
  bool same = std::all_of(a.members.begin(), a.members.end(), [&](ProcessId id) { return in_b.contains(id); });
  return same ? MPI_SIMILAR : MPI_UNEQUAL;
}

Status expand_ranges(const Group& group, MPI_Count n, const int ranges[][3], std::vector<int>* ranks) {
  ranks->clear();
  for (MPI_Count i = 0; i < n; ++i) {
    const long long first = ranges[i][0], last = ranges[i][1], stride = ranges[i][2];
    if (stride == 0 || (last > first && stride < 0) || (last < first && stride > 0)) {
      return error(MPI_ERR_ARG, "ranges[%lld] goes from %lld to %lld in steps of %lld, which never arrives",
                   static_cast<long long>(i), first, last, stride);
    }
    const long long end = first + (last - first) / stride * stride;  // `last` itself need not be reached
    if (first < 0 || first >= group.size() || end < 0 || end >= group.size()) {
      return error(MPI_ERR_RANK, "ranges[%lld] goes from rank %lld to %lld, but the group has %d members",
                   static_cast<long long>(i), first, end, group.size());
    }
    for (long long rank = first; rank != end + stride; rank += stride) ranks->push_back(static_cast<int>(rank));
  }
  return check_ranks(group, *ranks);
}

Status include_ranks(const Group& group, std::span<const int> ranks, std::vector<ProcessId>* members) {
  HEDDLE_TRY(check_ranks(group, ranks));
  members->clear();
  for (int rank : ranks) members->push_back(group.members[static_cast<std::size_t>(rank)]);
  return Status::ok();
}

Status exclude_ranks(const Group& group, std::span<const int> ranks, std::vector<ProcessId>* members) {
  HEDDLE_TRY(check_ranks(group, ranks));
  std::vector<bool> excluded(group.members.size(), false);
  for (int rank : ranks) excluded[static_cast<std::size_t>(rank)] = true;
  members->clear();
  for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
    if (!excluded[rank]) members->push_back(group.members[rank]);
  }
  return Status::ok();
}

}  // namespace heddle::mpi
