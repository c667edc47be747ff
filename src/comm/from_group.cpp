// MPI_Comm_create_from_group and MPI_Intercomm_create_from_groups.
//
// Method:  as MPI_Comm_create_group, over the library's communicator of all processes. What tells one call from another
//          that is under way is the string; its digest is the tag, and another one goes into the records, so that two
//          strings that happen to share a tag are not taken for each other.
#include <cstring>
#include <vector>

#include "comm/api_session.hpp"
#include "comm/creation.hpp"
#include "comm/hints.hpp"
#include "comm/intercomm.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"

namespace heddle::api {
namespace {

using comm::Creation;

std::uint64_t digest(const char* text) {
  std::uint64_t hash = 14695981039346656037ull;  // FNV-1a
  for (; *text != '\0'; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 1099511628211ull;
  return hash;
}

// Where this is an error, the others are not told: the process has no part in the call.
Status check_member(const Group& group) {
  if (group.rank >= 0) return Status::ok();
  return error(MPI_ERR_GROUP, "this process is not in the group that a communicator is to be made of");
}

Status check(const char* stringtag, const Errhandler& errhandler) {
  if (std::strlen(stringtag) > MPI_MAX_STRINGTAG_LEN) {
    return error(MPI_ERR_ARG, "stringtag has %zu bytes; at most %d (MPI_MAX_STRINGTAG_LEN) are allowed",
                 std::strlen(stringtag), MPI_MAX_STRINGTAG_LEN);
  }
  return mpi::check_target(errhandler, mpi::Kind::kComm);
}

// Of what only the leader knows.
Status check_remote(const Group& local, const Group* remote, int leader) {
  if (remote == nullptr) return error(MPI_ERR_GROUP, "remote_group is no group at the local leader");
  if (leader < 0 || leader >= remote->size()) {
    return error(MPI_ERR_RANK, "remote_leader is %d; the remote group has %d members", leader, remote->size());
  }
  const mpi::RankIndex own(local);
  for (mpi::ProcessId id : remote->members) {
    if (own.contains(id)) return error(MPI_ERR_GROUP, "process %u is in both groups; they must be disjoint", id);
  }
  return Status::ok();
}

Status check_same_tag(const Creation& creation, int mine) {
  for (const comm::Proposal& p : creation.proposals()) {
    if (p.color != mine) return error(MPI_ERR_ARG, "the members of the group brought different strings");
  }
  return Status::ok();
}

Status find_everyone(Comm** everyone) {
  *everyone = mpi::process()->everyone();
  if (*everyone != nullptr) return Status::ok();
  return error(MPI_ERR_NO_MEM, "no memory for a communicator of all processes");
}

// `refusal`: why this process cannot take part.
Status make(Comm& everyone, Group& group, const char* stringtag, Info* info, Status refusal, Comm** out) {
  std::vector<int> ranks;
  HEDDLE_TRY(comm::ranks_in_any(everyone, group, &ranks));
  const std::uint64_t hash = digest(stringtag);
  const int mine = static_cast<int>(hash >> 33);
  Creation creation(everyone);
  creation.refuse(refusal);
  creation.join(comm::assertions(info));
  creation.set(mine, 0);
  HEDDLE_TRY(creation.agree(ranks, static_cast<int>(hash & 0x7FFFFFFF)));
  HEDDLE_TRY(check_same_tag(creation, mine));
  HEDDLE_TRY(creation.make(ranks, out));
  (*out)->group->belong_to(group.session);
  return Status::ok();
}

}  // namespace

Status comm_create_from_group(Group& group, const char* stringtag, Info* info, Errhandler& errhandler,
                              MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  if (group.size() == 0) return Status::ok();
  HEDDLE_TRY(check_member(group));
  Comm *everyone = nullptr, *made = nullptr;
  HEDDLE_TRY(find_everyone(&everyone));
  HEDDLE_TRY(make(*everyone, group, stringtag, info, check(stringtag, errhandler), &made));
  mpi::set_errhandler(*made, errhandler);
  comm::set_info(*made, info);
  comm::follow_hints(*made);
  *newcomm = mpi::to_handle(made);
  return Status::ok();
}

Status intercomm_create_from_groups(Group& local_group, int local_leader, Group* remote_group, int remote_leader,
                                    const char* stringtag, Info* info, Errhandler& errhandler, MPI_Comm* newintercomm) {
  *newintercomm = MPI_COMM_NULL;
  if (local_group.size() == 0 || (remote_group != nullptr && remote_group->size() == 0)) return Status::ok();
  HEDDLE_TRY(check_member(local_group));
  Comm* everyone = nullptr;
  HEDDLE_TRY(find_everyone(&everyone));
  Status refusal = check(stringtag, errhandler);
  comm::Bridge bridge{nullptr, local_leader, -1, comm::group_tag({}, static_cast<int>(digest(stringtag) & 0x7FFFFFFF))};
  if (local_leader < 0 || local_leader >= local_group.size()) {
    refusal =
        error(MPI_ERR_RANK, "local_leader is %d; the local group has %d members", local_leader, local_group.size());
  } else if (local_group.rank == local_leader) {
    const Status reachable = check_remote(local_group, remote_group, remote_leader);
    if (reachable) {
      bridge.comm = everyone;
      bridge.remote = static_cast<int>(remote_group->members[static_cast<std::size_t>(remote_leader)]);
      if (refusal) refusal = mpi::check_same_session(local_group, *remote_group, MPI_ERR_GROUP);
    } else if (refusal) {
      refusal = reachable;
    }
  }
  Comm* local = nullptr;
  if (const Status here = make(*everyone, local_group, stringtag, nullptr, refusal, &local); !here) {
    if (bridge.comm != nullptr) comm::decline(bridge);
    return here;
  }
  Comm* made = nullptr;
  const Status status = comm::join_groups(*local, *local, Status::ok(), bridge, &made);
  mpi::release(*local);
  HEDDLE_TRY(status);
  mpi::set_errhandler(*made, errhandler);
  comm::set_info(*made, info);
  comm::follow_hints(*made);
  *newintercomm = mpi::to_handle(made);
  return Status::ok();
}

}  // namespace heddle::api
