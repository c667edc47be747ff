// Communicators (MPI 5.0, 7.4), for the generated bindings. What makes one is collective over the parent, or over the
// group in MPI_Comm_create_group; all else is local, except MPI_Comm_disconnect.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/group.hpp"
#include "mpi/info.hpp"

namespace heddle::api {

using mpi::Comm;
using mpi::Group;
using mpi::Info;

Status comm_dup(Comm& comm, MPI_Comm* newcomm);
Status comm_dup_with_info(Comm& comm, Info* info, MPI_Comm* newcomm);
// Not of the standard: include/mpix.h.
Status comm_create_endpoints(Comm& parent, int my_num_ep, Info* info, MPI_Comm out_comm_hdls[]);
Status comm_idup(Comm& comm, MPI_Comm* newcomm, MPI_Request* request);
Status comm_idup_with_info(Comm& comm, Info* info, MPI_Comm* newcomm, MPI_Request* request);
Status comm_create(Comm& comm, Group& group, MPI_Comm* newcomm);
Status comm_create_group(Comm& comm, Group& group, int tag, MPI_Comm* newcomm);
Status comm_split(Comm& comm, int color, int key, MPI_Comm* newcomm);
Status comm_split_type(Comm& comm, int split_type, int key, Info* info, MPI_Comm* newcomm);
// `peer_comm` counts at the local leader; null: it brought none.
Status intercomm_create(Comm& local_comm, int local_leader, Comm* peer_comm, int remote_leader, int tag,
                        MPI_Comm* newintercomm);
Status intercomm_merge(Comm& intercomm, int high, MPI_Comm* newintracomm);
// The exchange of comm_split and comm_split_type, and the new communicator of those that have this process's color.
Status split(Comm& comm, Status refusal, int color, int key, MPI_Comm* newcomm);
// For comm_split and comm_create. `refusal`: why this process cannot take part.
Status split_inter(Comm& intercomm, Status refusal, int color, int key, MPI_Comm* newcomm);
Status comm_free(MPI_Comm* comm);
Status comm_disconnect(MPI_Comm* comm);

Status comm_size(Comm& comm, int* size);
Status comm_rank(Comm& comm, int* rank);
Status comm_compare(Comm& comm1, Comm& comm2, int* result);
Status comm_group(Comm& comm, MPI_Group* group);
Status comm_test_inter(Comm& comm, int* flag);
Status comm_remote_size(Comm& comm, int* size);
Status comm_remote_group(Comm& comm, MPI_Group* group);
Status comm_get_parent(MPI_Comm* parent);

// MPI_UNDEFINED: it has none.
Status topo_test(Comm& comm, int* status);

Status comm_set_name(Comm& comm, const char* comm_name);
Status comm_get_name(Comm& comm, char* comm_name, int* resultlen);
Status comm_set_info(Comm& comm, Info* info);
Status comm_get_info(Comm& comm, MPI_Info* info_used);

}  // namespace heddle::api
