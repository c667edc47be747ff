// Intercommunicators: MPI_Intercomm_create, MPI_Intercomm_merge, and their parts.
//
// Method:  each group agrees within itself, as for any communicator; then one member of each tells the other of all in its
//          group over a communicator that both are in (the bridge), and passes on what it heard. Every record has its
//          member's error, so both groups know alike whether it can be made. What bridges a merge or a split is the
//          intercommunicator itself. Duplicates need no bridge (dup.cpp).
#include <algorithm>
#include <string>
#include <vector>

#include "coll/api.hpp"
#include "coll/operation.hpp"
#include "comm/api_comm.hpp"
#include "comm/creation.hpp"
#include "comm/intercomm.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/handle.hpp"
#include "mpi/process.hpp"

namespace heddle::api {
namespace {

using comm::Bridge;
using comm::Creation;
using mpi::Address;
using mpi::ProcessId;

// What one group tells the other of a member.
struct Record {
  ProcessId process;
  comm::Proposal said;
};
static_assert(std::is_trivially_copyable_v<Record>);

// Between the leaders: `bytes` each way.
int swap(const Bridge& bridge, void* mine, MPI_Count my_bytes, void* theirs, MPI_Count their_bytes) {
  coll::Schedule schedule(bridge.comm->rank, bridge.comm->size);
  schedule.recv(coll::Buffer(theirs, their_bytes, mpi::byte_type()), bridge.remote);
  schedule.send(coll::Buffer(mine, my_bytes, mpi::byte_type()), bridge.remote);
  schedule.join();
  coll::Messages messages(*bridge.comm, /*blocking=*/true, bridge.tag, {&bridge.remote, 1});
  coll::Progress at;
  coll::run(schedule, at, messages);
  return messages.error();
}

// By the leader: its group's records for the other's. Returns an error class.
int swap_records(const Bridge& bridge, std::vector<Record> mine, std::vector<Record>* theirs) {
  const auto bytes = [](const std::vector<Record>& r) { return static_cast<MPI_Count>(r.size() * sizeof(Record)); };
  auto here = static_cast<std::int32_t>(mine.size()), there = std::int32_t{0};
  const int failed = swap(bridge, &here, sizeof here, &there, sizeof there);
  if (failed != MPI_SUCCESS) return failed;
  theirs->resize(static_cast<std::size_t>(there));
  return swap(bridge, mine.data(), bytes(mine), theirs->data(), bytes(*theirs));
}

// The records of the other group, at every member of this one. A group that cannot take part has none.
Status exchange(Comm& local, const Bridge& bridge, std::vector<Record> mine, std::vector<Record>* theirs) {
  std::int32_t heard[2] = {MPI_SUCCESS, 0};  // an error class, and how many records
  const bool leads = local.rank == bridge.leader;
  if (leads) {
    heard[0] = swap_records(bridge, std::move(mine), theirs);
    heard[1] = static_cast<std::int32_t>(theirs->size());
  }
  HEDDLE_TRY(bcast(heard, sizeof heard, mpi::byte_type(), bridge.leader, local));
  if (heard[0] != MPI_SUCCESS) {
    return leads ? Status::of_class(heard[0]) : error(heard[0], "the leader could not reach the other group");
  }
  theirs->resize(static_cast<std::size_t>(heard[1]));
  HEDDLE_TRY(bcast(theirs->data(), static_cast<MPI_Count>(theirs->size() * sizeof(Record)), mpi::byte_type(),
                   bridge.leader, local));
  if (theirs->empty()) return error(MPI_ERR_OTHER, "no communicator was made: the other group could not take part");
  for (std::size_t r = 0; r < theirs->size(); ++r) {
    if ((*theirs)[r].said.error != MPI_SUCCESS) {
      return error((*theirs)[r].said.error, "no communicator was made: rank %zu of the other group could not take part",
                   r);
    }
  }
  return Status::ok();
}

std::vector<Record> records_of(Comm& local, const Creation& creation) {
  std::vector<Record> records;
  for (std::size_t r = 0; r < creation.proposals().size(); ++r) {
    records.push_back({local.group->members[r], creation.proposals()[r]});
  }
  return records;
}

// Both sides of an exchange that `creation`, among the members of `local`, takes part in whatever became of it here.
Status agree(Creation& creation, Comm& local, const Bridge& bridge, std::vector<Record>* theirs) {
  const Status here = creation.agree();
  if (here) return exchange(local, bridge, records_of(local, creation), theirs);
  const std::string why = last_error_detail();  // the other group's answer has a sentence, too
  exchange(local, bridge, {}, theirs).ignore();
  return error(here.error_class(), "%s", why.c_str());
}

// Both groups' references move in. Null when memory ran out.
Comm* make_inter(Comm& parent, Comm& local, mpi::Group* remote, Address mine, const Address* addresses) {
  mpi::Group* group = local.group;  // not a copy: of several endpoints of a process it tells which this is
  group->retain();
  Comm* made = parent.process->new_comm(group, mine, addresses, remote);
  if (made == nullptr) return nullptr;
  made->local = &local;
  local.retain();
  comm::inherit(*made, parent);
  return made;
}

Status make_inter(Comm& parent, Comm& local, Creation& creation, const std::vector<Record>& theirs, Comm** out) {
  std::vector<ProcessId> members;
  std::vector<Address> addresses;
  for (const Record& r : theirs) {
    members.push_back(r.process);
    addresses.push_back(r.said.address);
  }
  const mpi::RankIndex own(*local.group);
  for (ProcessId id : members) {
    if (own.rank_of(id) >= 0) {
      return error(MPI_ERR_COMM, "process %u is in both groups; those of an intercommunicator are disjoint", id);
    }
  }
  mpi::Group* remote = mpi::take_group(std::move(members), *local.group);
  if (remote != nullptr) *out = make_inter(parent, local, remote, creation.take_address(), addresses.data());
  return *out != nullptr ? Status::ok() : error(MPI_ERR_NO_MEM, "no memory for an intercommunicator");
}

// A communicator of the same members for the library alone. `refusal`: why this one cannot take part.
Status duplicate_quietly(Comm& comm, Status refusal, Comm** out) {
  Creation creation(comm);
  creation.refuse(refusal);
  creation.join();
  HEDDLE_TRY(creation.agree());
  HEDDLE_TRY(creation.make_early(out));
  return creation.connect(**out);
}

// All members of a group say the same.
Status check_same(const std::vector<Record>& group) {
  for (const Record& r : group) {
    if (r.said.color != group.front().said.color) {
      return error(MPI_ERR_ARG, "the members of a group brought different values of `high`");
    }
  }
  return Status::ok();
}

}  // namespace
}  // namespace heddle::api

namespace heddle::comm {

Status join_groups(Comm& parent, Comm& local, Status refusal, const Bridge& bridge, Comm** out) {
  Creation creation(local);
  creation.refuse(refusal);
  creation.join();
  std::vector<api::Record> theirs;
  HEDDLE_TRY(api::agree(creation, local, bridge, &theirs));
  return api::make_inter(parent, local, creation, theirs, out);
}

Comm* make_inter_early(Comm& parent, Comm& local, mpi::Address mine) {
  const std::vector<mpi::Address> unknown(static_cast<std::size_t>(parent.peer_count));
  parent.remote_group->retain();
  return api::make_inter(parent, local, parent.remote_group, mine, unknown.data());
}

void decline(const Bridge& bridge) {
  std::vector<api::Record> theirs;
  api::swap_records(bridge, {}, &theirs);
}

}  // namespace heddle::comm

namespace heddle::api {

Status intercomm_create(Comm& local_comm, int local_leader, Comm* peer_comm, int remote_leader, int tag,
                        MPI_Comm* newintercomm) {
  HEDDLE_TRY(coll::check_intra(local_comm));
  *newintercomm = MPI_COMM_NULL;
  if (!local_comm.has_peer(local_leader)) {
    return error(MPI_ERR_RANK, "local_leader is %d; the local communicator has %d ranks", local_leader,
                 local_comm.size);
  }
  Status refusal;
  const bool leads = local_comm.rank == local_leader;
  const bool reaches = leads && peer_comm != nullptr && peer_comm->has_peer(remote_leader);
  if (reaches) {
    refusal = mpi::check_same_session(*local_comm.group, *peer_comm->group, MPI_ERR_COMM);
  } else if (leads && peer_comm == nullptr) {
    refusal = error(MPI_ERR_COMM, "peer_comm is no communicator at the local leader");
  } else if (leads) {
    refusal = error(MPI_ERR_RANK, "remote_leader is %d; the peer communicator has %d ranks", remote_leader,
                    peer_comm->peer_count);
  }
  const Bridge bridge{peer_comm, local_leader, remote_leader, comm::group_tag({}, tag)};
  Comm* local = nullptr;
  if (const Status here = duplicate_quietly(local_comm, refusal, &local); !here) {
    if (reaches) comm::decline(bridge);
    return here;
  }
  Comm* made = nullptr;
  const Status status = comm::join_groups(local_comm, *local, Status::ok(), bridge, &made);
  mpi::release(*local);
  *newintercomm = mpi::to_handle(made);
  return status;
}

Status intercomm_merge(Comm& intercomm, int high, MPI_Comm* newintracomm) {
  *newintracomm = MPI_COMM_NULL;
  if (!intercomm.is_inter()) return error(MPI_ERR_COMM, "an intracommunicator has no two groups to merge");
  const int tag = coll::next_tag(intercomm);
  Comm& local = *intercomm.local;
  Creation creation(local);
  creation.set(high != 0, 0);
  creation.join();
  std::vector<Record> theirs;
  HEDDLE_TRY(agree(creation, local, {&intercomm, 0, 0, tag}, &theirs));
  std::vector<Record> all = records_of(local, creation);
  HEDDLE_TRY(check_same(all));
  HEDDLE_TRY(check_same(theirs));
  // Where both say the same, the group with the smaller process goes first.
  const bool first =
      all.front().said.color != theirs.front().said.color ? high == 0 : all.front().process < theirs.front().process;
  const int rank = local.rank + (first ? 0 : static_cast<int>(theirs.size()));
  all.insert(first ? all.end() : all.begin(), theirs.begin(), theirs.end());
  std::vector<ProcessId> members;
  std::vector<Address> addresses;
  for (const Record& r : all) {
    members.push_back(r.process);
    addresses.push_back(r.said.address);
  }
  Comm* made = nullptr;
  HEDDLE_TRY(comm::make_comm(intercomm, std::move(members), rank, creation.take_address(), addresses, &made));
  *newintracomm = mpi::to_handle(made);
  return Status::ok();
}

// The local parts are split as any communicator; what remains is to find the other group's part of the same color.
Status split_inter(Comm& intercomm, Status refusal, int color, int key, MPI_Comm* newcomm) {
  *newcomm = MPI_COMM_NULL;
  const int tag = coll::next_tag(intercomm);
  Comm& local = *intercomm.local;
  MPI_Comm part = MPI_COMM_NULL;
  const Status parted = comm_split(local, refusal ? color : MPI_UNDEFINED, key, &part);
  Creation creation(local);
  creation.refuse(refusal);
  creation.refuse(parted);
  creation.set(color, key);
  if (color != MPI_UNDEFINED) creation.join();
  std::vector<Record> theirs;
  Status status = agree(creation, local, {&intercomm, 0, 0, tag}, &theirs);
  std::erase_if(theirs, [&](const Record& r) { return r.said.color != color; });
  std::stable_sort(theirs.begin(), theirs.end(),
                   [](const Record& a, const Record& b) { return a.said.key < b.said.key; });
  if (part == MPI_COMM_NULL) return status;
  Comm* made = nullptr;
  Comm& mine = *mpi::from_handle(part);
  if (status && !theirs.empty()) status = make_inter(intercomm, mine, creation, theirs, &made);
  mpi::release(mine);
  *newcomm = mpi::to_handle(made);
  return status;
}

}  // namespace heddle::api
