// Error handlers, classes, codes and strings (MPI 5.0, 9.3 to 9.5), for the generated bindings.
#pragma once

#include "base/status.hpp"
#include "mpi/comm.hpp"
#include "mpi/errhandler.hpp"
#include "mpi/session.hpp"

namespace heddle::api {

using mpi::Comm;
using mpi::Errhandler;
using mpi::Session;

Status comm_create_errhandler(MPI_Comm_errhandler_function* function, MPI_Errhandler* errhandler);
Status comm_set_errhandler(Comm& comm, Errhandler& errhandler);
Status comm_get_errhandler(Comm& comm, MPI_Errhandler* errhandler);
Status comm_call_errhandler(Comm& comm, int errorcode);
Status session_create_errhandler(MPI_Session_errhandler_function* function, MPI_Errhandler* errhandler);
Status session_set_errhandler(Session& session, Errhandler& errhandler);
Status session_get_errhandler(Session& session, MPI_Errhandler* errhandler);
Status session_call_errhandler(Session& session, int errorcode);
Status errhandler_free(MPI_Errhandler* errhandler);

Status error_string(int errorcode, char* string, int* resultlen);
Status error_class(int errorcode, int* errorclass);
Status add_error_class(int* errorclass);
Status add_error_code(int errorclass, int* errorcode);
Status add_error_string(int errorcode, const char* string);
Status remove_error_class(int errorclass);
Status remove_error_code(int errorcode);
Status remove_error_string(int errorcode);

}  // namespace heddle::api
