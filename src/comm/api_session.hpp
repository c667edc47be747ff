// Sessions, their process sets, and communicators made from groups (MPI 5.0, 11.3 and 7.4), for the generated bindings.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/group.hpp"
#include "mpi/info.hpp"
#include "mpi/session.hpp"

namespace heddle::api {

using mpi::Comm;
using mpi::Errhandler;
using mpi::Group;
using mpi::Info;
using mpi::Session;

// Local where mpiexec has brought the node's memory; otherwise the first one of a process that has no world waits for
// the other ranks of the job.
Status session_init(Info* info, Errhandler& errhandler, MPI_Session* session);
Status session_finalize(MPI_Session* session);
Status session_get_info(Session& session, MPI_Info* info_used);

// The process sets are mpi://WORLD and mpi://SELF; an info object says nothing about them.
Status session_get_num_psets(Session& session, Info* info, int* npset_names);
Status session_get_nth_pset(Session& session, Info* info, int n, int* pset_len, char* pset_name);
Status session_get_pset_info(Session& session, const char* pset_name, MPI_Info* info);
Status group_from_session_pset(Session& session, const char* pset_name, MPI_Group* newgroup);

// Collective over the group, or over both.
Status comm_create_from_group(Group& group, const char* stringtag, Info* info, Errhandler& errhandler,
                              MPI_Comm* newcomm);
Status intercomm_create_from_groups(Group& local_group, int local_leader, Group* remote_group, int remote_leader,
                                    const char* stringtag, Info* info, Errhandler& errhandler, MPI_Comm* newintercomm);

}  // namespace heddle::api
