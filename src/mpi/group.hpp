// An ordered set of processes.
//
// Problem: groups are compared, combined and translated into each other's ranks; the naive ways are quadratic.
// Method:  a process is known by its ProcessId, which the domain gives out (vci/domain.hpp); it is not a rank of any
//          communicator. A group is the list of its members; questions between two groups go through an index of one
//          of them, sorted by process. A group without members is always the predefined MPI_GROUP_EMPTY.
// Threads: immutable after creation; the count of references is atomic.
// Cost:    4 bytes a member; an operation on n and m members takes (n + m) log m.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "base/status.hpp"
#include "mpi.h"
#include "mpi/object.hpp"
#include "wire/types.hpp"

namespace heddle::mpi {

using wire::ProcessId;

inline constexpr ProcessId kNoProcess = ~ProcessId{0};

struct Session;

struct Group : Object {
  Group(std::vector<ProcessId> ids, ProcessId s, Session* from)
      : Object(Kind::kGroup), members(std::move(ids)), self(s) {
    auto it = std::find(members.begin(), members.end(), self);
    rank = it == members.end() ? -1 : static_cast<int>(it - members.begin());
    belong_to(from);
  }
  ~Group();
  // Before anyone else knows the group.
  void belong_to(Session* from) noexcept;

  std::vector<ProcessId> members;  // by rank
  ProcessId self;                  // this process; kNoProcess in MPI_GROUP_EMPTY, which belongs to none
  Session* session = nullptr;      // that it was derived from, with a reference; null: none
  int rank;                        // of this process, -1 when it is not a member

  int size() const noexcept { return static_cast<int>(members.size()); }
};

// A group with one reference. MPI_GROUP_EMPTY when `members` is empty; null when memory ran out.
Group* take_group(std::vector<ProcessId> members, ProcessId self, Session* session = nullptr);
// The same for a group derived from `origin`.
Group* take_group(std::vector<ProcessId> members, const Group& origin);
// Lets a reference go; the last one destroys the group. MPI_GROUP_EMPTY stays.
void release(Group& group) noexcept;

// Finds the ranks of processes in one group.
class RankIndex {
 public:
  explicit RankIndex(const Group& group);
  // -1 when the process is not a member.
  int rank_of(ProcessId id) const noexcept;
  bool contains(ProcessId id) const noexcept { return rank_of(id) >= 0; }
  // Some process is a member more than once: an endpoint communicator's group.
  bool has_repeats() const noexcept;

 private:
  struct Entry {
    ProcessId id;
    int rank;
  };
  std::vector<Entry> entries_;  // sorted by id
};

// A group without members goes with any other. Otherwise what was derived from one session goes neither with what was
// derived from another nor with the world's (MPI 5.0, 11.3): `error_class`.
Status check_same_session(const Group& a, const Group& b, int error_class);

// The relation of two groups: MPI_IDENT, MPI_SIMILAR or MPI_UNEQUAL.
int compare(const Group& a, const Group& b);

// The ranks listed in an array of triples (first, last, stride), in order; MPI_ERR_RANK or MPI_ERR_ARG for a triple
// that makes no sense. Ranks outside 0 .. size-1 and repeated ones are errors.
Status expand_ranges(const Group& group, MPI_Count n, const int ranges[][3], std::vector<int>* ranks);
// The members with these ranks, in this order, or all others. `ranks` must be distinct and in the group.
Status include_ranks(const Group& group, std::span<const int> ranks, std::vector<ProcessId>* members);
Status exclude_ranks(const Group& group, std::span<const int> ranks, std::vector<ProcessId>* members);

}  // namespace heddle::mpi
