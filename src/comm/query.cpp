// What a communicator tells about itself.
#include <algorithm>
#include <cstring>

#include "comm/api_comm.hpp"
#include "comm/creation.hpp"
#include "comm/hints.hpp"
#include "mpi/handle.hpp"
#include "mpi/topology.hpp"

namespace heddle::api {
namespace {

// A group of its own for the user, so that a handle is stale once it was freed, whatever the communicator's does.
Status copy(const Group& group, MPI_Group* out) {
  return mpi::hand_out(mpi::take_group(group.members, group), out, "a group");
}

Status check_inter(const Comm& comm) {
  return comm.is_inter()
             ? Status::ok()
             : error(MPI_ERR_COMM, "an intracommunicator has no remote group; ask MPI_Comm_test_inter first");
}

// The relation of the groups, with MPI_CONGRUENT for identical ones: the communicators are two.
int relation(const Group& a, const Group& b) {
  const int result = mpi::compare(a, b);
  return result == MPI_IDENT ? MPI_CONGRUENT : result;
}

}  // namespace

Status comm_size(Comm& comm, int* size) {
  *size = comm.size;
  return Status::ok();
}

Status comm_rank(Comm& comm, int* rank) {
  *rank = comm.rank;
  return Status::ok();
}

Status comm_compare(Comm& comm1, Comm& comm2, int* result) {
  HEDDLE_TRY(mpi::check_same_session(*comm1.group, *comm2.group, MPI_ERR_COMM));
  if (&comm1 == &comm2) {
    *result = MPI_IDENT;
  } else if (comm1.is_inter() != comm2.is_inter()) {
    *result = MPI_UNEQUAL;
  } else {
    *result = relation(*comm1.group, *comm2.group);
    // The constants grow from MPI_IDENT to MPI_UNEQUAL: the worse of the two.
    if (comm1.is_inter()) *result = std::max(*result, relation(*comm1.remote_group, *comm2.remote_group));
  }
  return Status::ok();
}

Status comm_group(Comm& comm, MPI_Group* group) { return copy(*comm.group, group); }

Status comm_test_inter(Comm& comm, int* flag) {
  *flag = comm.is_inter();
  return Status::ok();
}

Status comm_remote_size(Comm& comm, int* size) {
  HEDDLE_TRY(check_inter(comm));
  *size = comm.remote_group->size();
  return Status::ok();
}

Status comm_remote_group(Comm& comm, MPI_Group* group) {
  HEDDLE_TRY(check_inter(comm));
  return copy(*comm.remote_group, group);
}

Status comm_get_parent(MPI_Comm* parent) {
  *parent = MPI_COMM_NULL;  // no process of Heddle is spawned
  return Status::ok();
}

Status topo_test(Comm& comm, int* status) {
  *status = comm.topology == nullptr ? MPI_UNDEFINED : comm.topology->kind;
  return Status::ok();
}

Status comm_set_name(Comm& comm, const char* comm_name) {
  std::lock_guard lock(comm.mutex);
  comm.name.assign(comm_name, strnlen(comm_name, MPI_MAX_OBJECT_NAME - 1));
  return Status::ok();
}

Status comm_get_name(Comm& comm, char* comm_name, int* resultlen) {
  std::lock_guard lock(comm.mutex);
  std::memcpy(comm_name, comm.name.c_str(), comm.name.size() + 1);
  *resultlen = static_cast<int>(comm.name.size());
  return Status::ok();
}

Status comm_set_info(Comm& comm, Info* info) {
  if (info == nullptr) return Status::ok();
  const std::vector<Info::Pair> hints = comm::known_hints(*info);
  std::lock_guard lock(comm.mutex);
  if (comm.info == nullptr) comm.info = mpi::take_info();
  if (comm.info == nullptr) return error(MPI_ERR_NO_MEM, "no memory for an info object");
  for (const auto& [key, value] : hints) comm.info->set(key, value);
  comm::follow_hints(comm);
  return Status::ok();
}

Status comm_get_info(Comm& comm, MPI_Info* info_used) {
  std::lock_guard lock(comm.mutex);
  return mpi::hand_out(mpi::take_info(comm::hints_in_force(comm)), info_used, "an info object");
}

}  // namespace heddle::api
